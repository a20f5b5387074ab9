public import SealPrimitives

/// What a reader remembers of a record's newest statement, by zone incarnation and record name: enough to hold the next
/// one against.
public struct SeenStatement: Sendable, Hashable {
    public let kind: Statement.Kind
    public let recordType: String
    public let creator: UserID
    public let revision: UInt64
    /// Of the statement's bytes.
    public let hash: Digest
    /// The scope, and its life, that the record was in.
    public let place: Statement.FormerScope
    /// Of the head that the statement cites in that scope's roster.
    public let rosterSequence: UInt64

    public init(
        kind: Statement.Kind, recordType: String, creator: UserID, revision: UInt64, hash: Digest,
        place: Statement.FormerScope,
        rosterSequence: UInt64
    ) {
        self.kind = kind
        self.recordType = recordType
        self.creator = creator
        self.revision = revision
        self.hash = hash
        self.place = place
        self.rosterSequence = rosterSequence
    }

    public init(_ statement: Statement, hash: Digest) {
        self.init(
            kind: statement.kind, recordType: statement.recordType, creator: statement.creator,
            revision: statement.revision,
            hash: hash, place: statement.place, rosterSequence: statement.rosterSequence)
    }
}
