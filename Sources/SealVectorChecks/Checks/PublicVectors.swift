import SealEnvelope
package import SealPrimitives
import SealStatements

package enum PublicVectors {
    package static func leaves(count: Int, byte: UInt8) -> [Digest] {
        stride(from: 0, to: max(count, 1), by: Limits.assetChunkBytes).map { start in
            AssetTree.leaf([UInt8](repeating: byte, count: min(Limits.assetChunkBytes, count - start)))
        }
    }

    static func check(_ test: Fields, type: String) throws(VectorError) {
        switch type {
        case "Asset":
            let count: UInt32 = try test.small("count")
            let leaves = leaves(count: Int(count), byte: try test.small("byte"))
            let asset = PublicAsset(size: UInt64(count), root: try core(AssetTree.root(leaves)))
            try test.expect("root", .hex(asset.root))
            try test.expect("digest", .hex(asset.digest(name: try test.string("name"))))
        case "Sign":
            let drafts = try test.objects("drafts").map { draft throws(VectorError) in
                PublicRecords.Draft(
                    statement: try draft.statement("statement"), fields: try draft.fieldDigests("fields"))
            }
            let signer = try test.signingKey(container: try test.string("container"))
            var random = ReplayedRandom(try test.bytes("random"))
            let (statements, signature) = try core(
                PublicRecords.sign(drafts, signingKey: signer, random: &random))
            try test.expect("statements", .array(statements.map { .hex($0) }))
            try test.expect("signature", .hex(signature))
        default:
            let (container, environment) = (try test.string("container"), try test.environment())
            let (bytes, proof) = (try test.bytes("encoded"), try test.proof())
            let (author, name) = (try test.chain("chain", container: container), try test.string("recordName"))
            _ = try core(
                PublicStatements.verify(
                    bytes, proof: proof, author: author, container: container, environment: environment,
                    recordName: name))
        }
    }
}
