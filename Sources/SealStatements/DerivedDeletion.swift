public import SealPrimitives

/// A notice that a record went with the target of its `deleteSelf` reference, as the server gives it: nobody signed a
/// deletion of the record itself, but whoever deleted the target signed that this very statement goes along.
public struct DerivedDeletion: Sendable {
    /// The newest statement of the record that is gone.
    public let record: VerifiedStatement
    /// The target's deletion.
    public let tombstone: VerifiedStatement
    /// How many records the deletion takes along.
    public let count: Int
    /// The record's place among them.
    public let index: Int
    /// The siblings from the record's leaf up.
    public let path: [Digest]

    public init(record: VerifiedStatement, tombstone: VerifiedStatement, count: Int, index: Int, path: [Digest]) {
        self.record = record
        self.tombstone = tombstone
        self.count = count
        self.index = index
        self.path = path
    }

    /// The record that is gone, as far as the notice holds.
    ///
    /// That its references lead to the target is not asked again: who deleted the target could write where the record
    /// is, and so might have deleted it by itself.
    /// - Parameter scope: which both statements were verified in.
    /// - Throws: `invalidNotice`; `invalidProof` for a path that such a tree has not; `fieldMismatch` for one that does
    ///   not lead to what the deletion's author signed.
    public func verify(in scope: Scope) throws(SealError) -> VerifiedStatement {
        let (gone, deletion) = (record.statement, tombstone.statement)
        guard deletion.kind == .delete, gone.kind == .save, gone.isOfLife(of: deletion), gone.scopeID == scope.id,
            gone.recordName != deletion.recordName, !gone.isShareRecord, gone.recordName != scope.shareRecordName
        else { throw .invalidNotice }
        // A deletion that is older than what it is said to take along takes nothing.
        guard deletion.rosterSequence >= gone.rosterSequence else { throw .invalidNotice }
        let root = try StatementTree.root(
            from: record.hash, at: index, of: count, by: path, atMost: Limits.takenRecords)
        guard TakenRecords.digest(root: root, count: count) == deletion.fieldsDigest else { throw .fieldMismatch }
        return record
    }
}
