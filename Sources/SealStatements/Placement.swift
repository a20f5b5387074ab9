import SealPrimitives

/// Whether a record is where its parent says that it belongs (PROTOCOL.md, "Placement").
///
/// A record's scope is the one of its newest verified statement. One that is out of place is held back until the
/// owner's devices have moved it; that is no integrity error.
public enum Placement: Sendable, Hashable {
    case inPlace
    case heldBack

    /// - Parameters:
    ///   - roster: of the scope that the statement names.
    ///   - parent: the parent's newest verified statement; nil where it is not at hand, or there is no parent.
    public init(of record: VerifiedStatement, roster: Roster, parent: VerifiedStatement?) {
        self = Placement.isInPlace(record.statement, roster: roster, parent: parent?.statement) ? .inPlace : .heldBack
    }

    private static func isInPlace(_ record: Statement, roster: Roster, parent: Statement?) -> Bool {
        guard record.scopeID == roster.scopeID, record.incarnations == roster.incarnations else { return false }
        if let root = roster.rootRecordName {
            // A hierarchical share holds its root, its own record, and what descends from the root.
            if record.recordName == root { return record.share == roster.scope.shareRecordName }
            if record.recordName == roster.scope.shareRecordName { return record.recordType == Names.shareType }
            if record.parent == nil { return false }
        }
        guard let name = record.parent else { return true }
        guard let parent, parent.recordName == name, parent.kind == .save else { return false }
        return parent.place == record.place
    }
}
