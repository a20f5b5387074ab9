import SealPrimitives
import SealStatements
import SealWire

/// How the one signature of a request reaches each of its statements.
struct BatchProofs {
    /// Of the statements, in their order.
    let hashes: [Digest]
    /// Nil for no statements.
    private let tree: StatementTree?
    private let signature: [UInt8]

    init(_ message: SaveMessage) throws(ServerError) {
        let hashes = message.records.map { Statement.hash($0.statement) }
        tree =
            hashes.isEmpty
            ? nil
            : try ServerError.checking("The request") { () throws(SealError) in try StatementTree(leaves: hashes) }
        self.hashes = hashes
        signature = [UInt8](message.head.signature)
    }

    /// - Throws: `integrityFailure` unless it is this key's.
    func check(_ signer: VerificationKey) throws(ServerError) {
        guard let tree else { return }
        do {
            try signer.verify(signature, over: StatementTree.signedBytes(root: tree.root, leafCount: tree.leafCount))
        } catch {
            throw Self.unsigned
        }
    }

    static let unsigned = ServerError(
        .integrityFailure, "The signature does not cover these statements in this order.",
        remedy: "Sign the root of the tree over all statements of the request, in their order.")

    /// `StatementProof { signature = 1, leaf_count = 2, index = 3, path = 4 }`, serialized.
    func proof(of index: Int) -> [UInt8] {
        guard let tree else { return [] }
        let path = tree.path(to: index)
        var writer = WireWriter(capacity: signature.count + path.count * Digest.byteCount + 24)
        writer.blob(1, signature)
        writer.number(2, UInt64(tree.leafCount))
        writer.number(3, UInt64(index))
        writer.digests(4, path)
        return writer.bytes
    }
}
