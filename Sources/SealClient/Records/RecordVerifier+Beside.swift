public import SealPrimitives
public import SealStatements

/// What a server shows beside a record's own statement.
extension RecordVerifier {
    /// A notice that a record went with the target of its `deleteSelf` reference, of two statements that were verified
    /// here. In the public database, where no roster says who might have deleted what, references dangle.
    /// - Throws: `wrongContext` for a scope that is not at hand; `invalidNotice` and others for a notice that does not
    ///   hold.
    public func check(_ notice: DerivedDeletion) throws(SealError) -> VerifiedStatement {
        guard isOfZone else { throw .invalidNotice }
        guard let scope = scope(of: notice.record.statement) else { throw .wrongContext }
        return try notice.verify(in: scope)
    }

    /// What brought a record into its scope, where others have changed it there since: to who knows it from another
    /// scope that says that it is the same record still.
    /// - Parameter record: as it is shown, verified here.
    /// - Throws: as `verify`; `notSuccessor` for what brought no record there, or another one.
    public mutating func verifyOrigin(
        _ bytes: [UInt8], proof: StatementProof, of record: VerifiedStatement
    ) throws(SealError) -> VerifiedStatement {
        let moved = try verify(bytes, proof: proof, recordName: record.statement.recordName)
        let statement = moved.statement
        guard statement.author == statement.owner, statement.formerScope != nil,
            statement.place == record.statement.place
        else { throw .notSuccessor }
        try record.statement.check(after: statement, hash: moved.hash)
        return moved
    }
}
