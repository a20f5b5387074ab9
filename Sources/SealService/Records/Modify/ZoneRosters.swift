import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// The rosters that the statements of one save cite, by the ids of their scopes: the zone's own, and those of
/// hierarchical shares in it.
package struct ZoneRosters: Sendable {
    struct Scope: Sendable {
        /// Nil for the zone's own.
        let share: ZoneShare?
        let roster: Roster
        /// The save opens it: there is nothing of it yet.
        var isNew = false
    }

    private(set) var scopes: [Digest: Scope] = [:]
    /// Whether any of them is a share's: with the zone's own alone, nothing has to be asked about which it is.
    private(set) var hasShares = false
    /// A participant of shares writes what is in their hierarchies, and nothing else.
    let isPartial: Bool

    /// The zone's own alone: all that there is in most zones.
    init(_ own: Roster) {
        isPartial = false
        scopes[own.scopeID] = Scope(share: nil, roster: own)
    }

    /// - Parameter cited: the ids of scopes that statements name.
    init(
        citedBy cited: Set<Digest>, in zone: ZoneRow, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws {
        if case .shares(let shares, _) = zone.sight {
            isPartial = true
            for row in shares { add(Scope(share: row.share, roster: try rosters.roster(of: row, in: connection))) }
            return
        }
        isPartial = false
        add(Scope(share: nil, roster: try rosters.roster(of: ScopeRow(zone), in: connection)))
        for row in try Shares.identified(by: cited, in: zone, connection) {
            add(Scope(share: row.share, roster: try rosters.roster(of: row, in: connection)))
        }
    }

    mutating func add(_ scope: Scope) {
        if scope.share != nil { hasShares = true }
        scopes[scope.roster.scopeID] = scope
    }

    /// May this caller write now, in any of the scopes?
    func checkRights(of caller: Caller) throws(ServerError) {
        guard scopes.count == 1, let only = scopes.values.first else {
            guard scopes.values.contains(where: { $0.roster.permission(of: caller.userID) == .readWrite }) else {
                throw Self.mayOnlyRead
            }
            return
        }
        try Self.check(only.roster, caller.userID)
    }

    private static func check(_ roster: Roster, _ user: UserID) throws(ServerError) {
        guard roster.permission(of: user) == .readWrite else { throw mayOnlyRead }
        guard !roster.rotationDue else { throw ServerError.rotationDue }
    }

    package static let mayOnlyRead = ServerError(
        .permissionFailure, "The caller may read this zone, not write to it.",
        remedy: "Ask the zone's owner for the permission to write.")

    /// The key that must have signed a statement, which is about this place and time.
    func authorKey(of statement: Statement, recordName: String) throws(ServerError) -> VerificationKey {
        guard let scope = scopes[statement.scopeID] else {
            // A statement of no scope that there is here; or of a share that the caller does not see.
            throw isPartial
                ? ServerError(
                    .permissionFailure, "The record is not in a share that the caller takes part in.",
                    remedy: "Set its parent to a record of the share.")
                : ServerError(.wrongContext, in: "The statement")
        }
        let roster = scope.roster
        // To the zone's owner, whose device has not seen its end yet: nobody else sees a share that has ended.
        guard !roster.isClosed else { throw ServerError.rosterChanged }
        try Self.check(roster, statement.author)
        let key = try ServerError.checking("The statement") { () throws(SealError) in
            try StatementVerifier.authorKey(of: statement, recordName: recordName, roster: roster)
        }
        let epoch = roster.currentEpoch.context
        guard statement.epoch == epoch.epoch, statement.incarnations == epoch.incarnations else {
            throw ServerError.staleEpoch
        }
        guard
            statement.share == nil
                || (statement.recordName == roster.rootRecordName && statement.share == scope.share?.recordName)
        else {
            throw ServerError(
                .invalidArguments, "The record names a share that it is not the root of.",
                remedy: "Only a share's root names it, in the share's scope.")
        }
        guard
            statement.recordType != Names.shareType || statement.kind == .delete
                || scope.share?.recordName == recordName
                || (scope.share == nil && recordName == Names.zoneWideShare)
        else {
            throw ServerError(
                .invalidArguments, "A share's record is saved without its root.",
                remedy: "Save share and root together, with the opening of the share's roster.")
        }
        return key
    }

    /// Things may have moved on since a save was judged: asked again in its transaction.
    func recheck(
        _ caller: Caller, _ zone: ZoneRow, _ rosters: RosterCache, in connection: any SQLConnection
    ) throws {
        for (id, judged) in scopes where !judged.isNew {
            let now: ScopeRow
            if judged.share == nil {
                now = ScopeRow(zone)
            } else {
                guard let found = try Shares.identified(by: [id], in: zone, connection).first else {
                    throw ServerError.rosterChanged
                }
                now = found
            }
            guard now.head != judged.roster.head else { continue }
            let roster = try rosters.roster(of: now, in: connection)
            // A roster that the save does not write under may move on as it likes.
            guard roster.permission(of: caller.userID) == .readWrite else {
                guard scopes.count > 1 else { throw Self.mayOnlyRead }
                throw ServerError.rosterChanged
            }
            guard !roster.rotationDue else { throw ServerError.rotationDue }
            guard roster.currentEpoch.context == judged.roster.currentEpoch.context else {
                throw ServerError.staleEpoch
            }
        }
    }
}
