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

    /// An object: it goes through all stages, and every copy of its statement would cost.
    final class Content: Sendable {
        let statement: Statement
        let statementBytes: [UInt8]
        let hash: Digest
        /// The tag that the client saw; empty for a new record.
        let changeTag: String
        /// A serialized `StatementProof`.
        let proof: [UInt8]
        let fields: RecordFields
        /// What the schema needs for this record; empty where it fits as it is.
        let additions: SchemaAdditions

        init(
            _ statement: Statement, _ statementBytes: [UInt8], hash: Digest, changeTag: String, proof: [UInt8],
            fields: RecordFields, additions: SchemaAdditions = SchemaAdditions()
        ) {
            (self.statement, self.statementBytes, self.hash) = (statement, statementBytes, hash)
            (self.changeTag, self.proof, self.fields, self.additions) = (changeTag, proof, fields, additions)
        }

        /// The same, under another schema.
        func adding(_ additions: SchemaAdditions) -> Content {
            Content(
                statement, statementBytes, hash: hash, changeTag: changeTag, proof: proof, fields: fields,
                additions: additions)
        }
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
    init(_ message: SaveMessage, _ basis: SaveBasis) throws {
        let (caller, judge, head) = (basis.caller, basis.judge, message.head)
        var names: Set<String> = []
        for record in message.records {
            guard names.insert(record.recordName).inserted else {
                throw ServerError(
                    .invalidArguments, "A record comes twice in one request.", remedy: "Send each record once.")
            }
        }
        try judge.checkRights(of: caller)
        let proofs = try BatchProofs(message)
        var items: [Item] = []
        items.reserveCapacity(message.records.count)
        var signer: VerificationKey?
        for (index, record) in message.records.enumerated() {
            do {
                let (content, key) = try Self.content(
                    record, proofs, index, caller: caller, judge: judge,
                    predecessor: basis.predecessors[record.recordName])
                guard signer == nil || signer == key else { throw BatchProofs.unsigned }
                signer = key
                items.append(Item(name: record.recordName, outcome: .success(content)))
            } catch let error as ServerError where error.code != .staleEpoch && error.code != .rotationDue {
                items.append(Item(name: record.recordName, outcome: .failure(error)))
            }
        }
        if let signer { try proofs.check(signer) }
        self.items = items
        self.judge = judge
        isRekeying = head.rekeying
        isRestoring = head.restoring
        schemaVersion = basis.schema.version
        fit(basis.schema)
    }

    private static func content(
        _ record: SentRecord, _ proofs: BatchProofs, _ index: Int, caller: Caller, judge: SaveJudge,
        predecessor: StoredRecord?
    ) throws -> (Content, VerificationKey) {
        let statement = try ServerError.checking("The statement") { () throws(SealError) in
            try Statement(canonicalBytes: record.statement)
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
            statement, record.statement, hash: proofs.hashes[index], changeTag: record.changeTag,
            proof: proofs.proof(of: index), fields: fields)
        return (content, key)
    }
}
