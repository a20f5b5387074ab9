import SealStatements
import SealStorage
import SealWire

/// Records in another scope of a zone than a target's that refer to it with `deleteSelf`.
///
/// Not everybody who reads them could check a notice that they went with it: the roster by which the target's deletion
/// counts may be hidden from them. Whoever deletes the target, and may write where they are, signs their deletions too;
/// without those the server does not take the target's. Elsewhere the reference dangles, and nothing is said of it.
struct Dependents {
    let zone: ZoneRow
    let user: UserID
    let rosters: RosterCache
    let connection: any SQLConnection
    private var rights: [Int64: Right] = [:]

    private struct Right {
        let mayWrite: Bool
        let scope: CascadeScope
    }

    /// - Parameter user: who deletes.
    init(zone: ZoneRow, user: UserID, rosters: RosterCache, connection: any SQLConnection) {
        (self.zone, self.user, self.rosters, self.connection) = (zone, user, rosters, connection)
    }

    static let missing = ServerError(
        .referenceViolation,
        "Records in other scopes of the zone refer to this one, or to what goes with it, with deleteSelf.",
        remedy: "Delete them in the same request; the answer names them.")

    /// Whether the caller is to delete this one too.
    mutating func include(_ record: StoredRecord) throws -> Bool {
        let right = try rights[record.share] ?? right(in: record.share)
        rights[record.share] = right
        return right.mayWrite && right.scope.mayTake(record.name)
    }

    private func right(in share: Int64) throws -> Right {
        let row: ScopeRow?
        if share == 0 {
            // Participants of shares know nothing of the zone beside them.
            row = zone.visibleShares == nil ? ScopeRow(zone) : nil
        } else {
            row = try Shares.numbered([share], in: zone, connection).first
        }
        guard let row, !row.isClosed else { return Right(mayWrite: false, scope: CascadeScope(nil)) }
        let roster = try rosters.roster(of: row, in: connection)
        return Right(mayWrite: roster.permission(of: user) == .readWrite, scope: CascadeScope(row.share))
    }
}
