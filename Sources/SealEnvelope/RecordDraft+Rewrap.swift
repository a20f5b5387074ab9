public import SealPrimitives
public import SealStatements

extension RecordDraft {
    /// A record as it is, carried over into another scope or epoch: the same fields under the same record key, which
    /// alone is wrapped anew. For sharing, re-parenting and migration; the statement says so (`isKeyCarried`), and
    /// whoever seals something there next makes a fresh record key.
    ///
    /// - Parameters:
    ///   - record: the record's newest statement, verified.
    ///   - fields: the digests of all its fields, ascending by name.
    ///   - recordKey: as `RecordOpener` unwrapped it.
    ///   - roster: of the scope that the record comes into.
    ///   - author: the owner, where the scope is another one.
    /// - Throws: `fieldMismatch` when the digests are not those of the record; `missingKey` for a deletion.
    public init(
        rewrapping record: VerifiedStatement, fields: [FieldDigest], recordKey: SecretBytes, into roster: Roster,
        by author: UserID, clientTime: Int64
    ) throws(SealError) {
        guard record.statement.kind == .save else { throw .missingKey }
        try record.check(fields)
        var statement = record.statement
        let former = statement.place
        statement.author = author
        statement.clientTime = clientTime
        statement.revision += 1
        statement.previous = record.hash
        statement.scopeID = roster.scopeID
        statement.scopeIncarnation = roster.incarnations.scope
        statement.epoch = roster.currentEpoch.number
        statement.formerScope = former == statement.place ? nil : former
        if former != statement.place || record.statement.epoch != statement.epoch { statement.isKeyCarried = true }
        statement.rosterSequence = roster.sequence
        statement.rosterHead = roster.head
        statement.checkpoint = Checkpoint.none
        self.init(
            statement: statement, recordKey: recordKey,
            fields: fields.map { (name: $0.name, field: .carried($0.digest)) })
    }
}
