import Foundation
import SealCoding
import SealPrimitives
import SealSchema
import SealStatements
import SealWire

/// A save's records, checked as far as that is possible without the database: encodings, names, rights, epoch, digests,
/// and the one signature. What is left for the transaction is comparing with what is stored.
struct RecordBatch: Sendable {
    /// One record, or why it is refused.
    struct Item: Sendable {
        let name: String
        var outcome: Result<Content, ServerError>
    }

    struct Content: Sendable {
        let statement: Statement
        let statementBytes: Data
        let hash: Digest
        /// The tag that the client saw; empty for a new record.
        let changeTag: String
        var proof: [UInt8]
        let fields: [UInt8]
        let assets: [AssetClaim]
        let deleteReferences: [DeleteReference]
        /// `RecordFields.words`.
        let words: [String: Set<String>]
        /// A field was to be carried over from a predecessor that the server did not have when it looked.
        let lacksPredecessor: Bool
        let shape: RecordShape
        /// What the schema needs for this record; empty where it fits as it is.
        var additions = SchemaAdditions()
    }

    var items: [Item]
    /// Of the schema that the items were held against.
    var schemaVersion: Int64
    let judge: SaveJudge
    /// Its author says that it holds the same values under a newer key.
    let isRekeying: Bool
    /// Its author says that the server has lost statements that these follow.
    let isRestoring: Bool

    /// - Throws: `invalidArguments` for a record named twice; `permissionFailure`, `rotationDue`, `staleEpoch`;
    ///   `integrityFailure` when the signature does not cover these statements in this order.
    init(_ message: Sealkit_V1_ModifyRecordsRequest, _ basis: SaveBasis) throws {
        let (caller, judge) = (basis.caller, basis.judge)
        var names: Set<String> = []
        for record in message.records {
            guard names.insert(record.recordName).inserted else {
                throw ServerError(
                    .invalidArguments, "A record comes twice in one request.", remedy: "Send each record once.")
            }
        }
        try judge.checkRights(of: caller)
        var leaves: [Digest] = []
        leaves.reserveCapacity(message.records.count)
        var items: [Item] = []
        items.reserveCapacity(message.records.count)
        var signer: VerificationKey?
        for record in message.records {
            let bytes = [UInt8](record.statement)
            let hash = Statement.hash(bytes)
            leaves.append(hash)
            do {
                let (content, key) = try Self.content(
                    record, bytes, hash, caller: caller, judge: judge,
                    predecessor: basis.predecessors[record.recordName])
                guard signer == nil || signer == key else { throw Self.unsigned }
                signer = key
                items.append(Item(name: record.recordName, outcome: .success(content)))
            } catch let error as ServerError where error.code != .staleEpoch && error.code != .rotationDue {
                items.append(Item(name: record.recordName, outcome: .failure(error)))
            }
        }
        if let signer {
            let tree = try ServerError.checking("The request") { () throws(SealError) in
                try StatementTree(leaves: leaves)
            }
            let signature = [UInt8](message.signature)
            do {
                try signer.verify(
                    signature, over: StatementTree.signedBytes(root: tree.root, leafCount: tree.leafCount))
            } catch {
                throw Self.unsigned
            }
            items = items.enumerated().map { index, item in
                item.with(proof: Self.proof(signature, tree, index: index))
            }
        }
        self.items = items
        self.judge = judge
        isRekeying = message.rekeying
        isRestoring = message.restoring
        schemaVersion = basis.schema.version
        fit(basis.schema)
    }

    private static let unsigned = ServerError(
        .integrityFailure, "The signature does not cover these statements in this order.",
        remedy: "Sign the root of the tree over all statements of the request, in their order.")

    /// `StatementProof { signature = 1, leaf_count = 2, index = 3, path = 4 }`.
    private static func proof(_ signature: [UInt8], _ tree: StatementTree, index: Int) -> [UInt8] {
        var writer = WireWriter(capacity: 400)
        writer.blob(1, signature)
        writer.number(2, UInt64(tree.leafCount))
        writer.number(3, UInt64(index))
        var path: [UInt8] = []
        path.reserveCapacity(288)
        for node in tree.path(to: index) { node.append(to: &path) }
        writer.blob(4, path)
        return writer.bytes
    }

    private static func content(
        _ record: Sealkit_V1_Record, _ bytes: [UInt8], _ hash: Digest, caller: Caller, judge: SaveJudge,
        predecessor: StoredRecord?
    ) throws -> (Content, VerificationKey) {
        let statement = try ServerError.checking("The statement") { () throws(SealError) in
            try Statement(canonicalBytes: bytes)
        }
        guard statement.author == caller.userID else {
            throw ServerError(
                .permissionFailure, "The statement's author is somebody else.",
                remedy: "Send only statements that you signed.")
        }
        let key = try judge.authorKey(of: statement, recordName: record.recordName)
        guard statement.recordType == record.recordType else {
            throw ServerError(
                .invalidArguments, "The record's type differs from its statement's.",
                remedy: "Sign the type that is sent.")
        }
        let previous = predecessor.flatMap { $0.hash == statement.previous && !$0.isDeleted ? $0 : nil }
        let fields = try RecordFields(record, predecessor: previous, judge: judge)
        guard statement.kind == .save || fields.isEmpty else {
            throw ServerError(.invalidArguments, "A deletion has no fields.", remedy: "Sign and send it without any.")
        }
        // What a deletion covers is compared with what goes along with it, in the transaction.
        guard statement.kind == .delete || fields.digest == statement.fieldsDigest else {
            throw ServerError(
                .integrityFailure, "The record's fields are not those that its statement covers.",
                remedy: "Send every field, or its digest where it stays as it is.")
        }
        let content = Content(
            statement: statement, statementBytes: record.statement, hash: hash, changeTag: record.changeTag, proof: [],
            fields: fields.bytes, assets: fields.assets, deleteReferences: fields.deleteReferences,
            words: fields.words,
            lacksPredecessor: fields.lacksPredecessor, shape: fields.shape)
        return (content, key)
    }
}

extension RecordBatch.Item {
    fileprivate func with(proof: [UInt8]) -> Self {
        RecordBatch.Item(
            name: name,
            outcome: outcome.map { content in
                var content = content
                content.proof = proof
                return content
            })
    }
}
