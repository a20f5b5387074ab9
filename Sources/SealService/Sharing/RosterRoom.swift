import SealStatements
import SealWire

/// How long a roster may become. Everybody who reads it checks every entry of it once, and the server keeps it for
/// ever: so what gives something ends at a number of entries, and what takes something away has room beyond it, as fast
/// as a rate allows.
package enum RosterRoom {
    /// - Parameter sequence: the entry's place in the log.
    /// - Throws: `limitExceeded` for an entry that gives something.
    package static func check(entry sequence: UInt64, _ quotas: Quotas) throws(ServerError) {
        guard sequence >= quotas.rosterEntries else { return }
        throw ServerError(
            .limitExceeded,
            "The roster has \(quotas.rosterEntries) entries: whoever is in it can go or be removed, and nobody is added.",
            remedy: "Begin another zone or share, and move the records there.")
    }

    /// Whether an entry does nothing but take rights away, give new keys, or end something: neither quota nor number
    /// refuses it, or whoever fills an account could keep its owner from removing somebody.
    /// - Parameter before: the roster that it follows.
    static func isAlwaysTaken(_ entry: RosterEntry, after before: Roster) -> Bool {
        entry.changes.allSatisfy { change in
            switch change {
            // An entry without changes opens an epoch.
            case .revoke, .remove, .leave, .block, .identity, .close: true
            case .open(let opening): opening.abandoned != nil
            case .invite, .accept, .unblock: false
            case .setPermission(let user, let permission):
                before.members[user].map { permission < $0.permission } ?? false
            case .setRole(_, let role): role != .administrator
            // A new URL in place of one that somebody knows, as the rules ask for where a person is put out.
            case .settings(let settings):
                before.isShared
                    && (settings.publicSeat?.permission.rawValue ?? 0) <= (before.publicSeat?.permission.rawValue ?? 0)
            }
        }
    }

    /// Counts what goes beyond the number, whoever sends it and whether the server had it before.
    /// - Parameter scope: as it is with the entries.
    /// - Throws: `requestRateLimited`.
    package static func count(
        _ entries: Int, endingAt scope: ScopeRow, _ counts: RosterCounts, now: Int64
    ) throws {
        let most = counts.quotas.rosterEntries
        guard scope.sequence >= most else { return }
        let beyond = min(entries, Int(clamping: scope.sequence - most + 1))
        try counts.counting.count(
            .rosterEntry, .author(owner: scope.zone.owner, zone: scope.zone.number, caller: scope.number),
            amount: beyond,
            rule: counts.limits.rosterEntriesBeyond, now: now)
    }
}
