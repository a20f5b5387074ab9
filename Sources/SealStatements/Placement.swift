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
        var place: Statement.FormerScope?
        if let parent = parent?.statement, parent.recordName == record.statement.parent, parent.kind == .save {
            place = parent.place
        }
        self.init(of: record.statement, roster: roster, parentPlace: place)
    }

    /// - Parameters:
    ///   - record: verified.
    ///   - roster: of the scope that the statement names.
    ///   - parentPlace: where the parent's newest verified statement has it; nil where that is not at hand, or says
    ///     that it is gone.
    public init(of record: Statement, roster: Roster, parentPlace: Statement.FormerScope?) {
        self = Placement.isInPlace(record, roster: roster, parentPlace: parentPlace) ? .inPlace : .heldBack
    }

    private static func isInPlace(
        _ record: Statement, roster: Roster, parentPlace: Statement.FormerScope?
    ) -> Bool {
        guard record.scopeID == roster.scopeID, record.incarnations == roster.incarnations else { return false }
        if let root = roster.rootRecordName {
            // A hierarchical share holds its root, its own record, and what descends from the root.
            if record.recordName == root { return record.share == roster.scope.shareRecordName }
            if record.recordName == roster.scope.shareRecordName { return record.recordType == Names.shareType }
            if record.parent == nil { return false }
        }
        return record.parent == nil || parentPlace == record.place
    }
}
