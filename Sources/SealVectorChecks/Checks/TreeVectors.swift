import SealPrimitives
import SealStatements

package enum TreeVectors {
    static func check(_ test: Fields, shared: Fields) throws(VectorError) {
        let leaves = try shared.digests("leaves")
        let (index, path) = (try test.int("index"), try test.digests("path"))
        let proof = StatementProof(
            signature: try shared.bytes("signature"), leafCount: try test.int("leafCount"), index: index, path: path)
        let root = try core(proof.root(from: leaves.indices.contains(index) ? leaves[index] : .zero))
        let key = try shared.verificationKey("publicKey")
        try core(
            key.verify(proof.signature, over: StatementTree.signedBytes(root: root, leafCount: proof.leafCount)))
        let tree = try core(StatementTree(leaves: leaves))
        try shared.expect("root", .hex(tree.root))
        guard root == tree.root, tree.path(to: index) == path else { throw .differs("path") }
    }
}
