import Foundation
import SealCoding
import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// What `rosters/fetch` says so that devices notice a restored server and a fork.
extension RosterRestore {
    /// Where the log ends for the caller, and what follows its own head in a branch that the owner has given up.
    package static func describe(
        _ tail: inout Sealkit_V1_RosterTail, _ wanted: Sealkit_V1_RosterRequest, endingAt last: UInt64,
        of scope: ScopeRow,
        _ page: inout RosterPage, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws {
        tail.headSequence = last
        if last == scope.sequence {
            tail.head = .init(scope.head.bytes)
        } else {
            let roster = try rosters.roster(of: scope, in: connection)
            if last < roster.nextSequence { tail.head = .init(roster.hashes[Int(last)].bytes) }
        }
        guard wanted.head.count == Digest.byteCount else { return }
        // What there is no room for comes when the device asks with its new head.
        try connection.stream(
            """
            SELECT e.entry, e.signature FROM abandoned_entry k JOIN abandoned_entry e ON e.owner = k.owner AND e.zone = k.zone
                AND e.share = k.share AND e.branch = k.branch AND e.sequence > k.sequence
            WHERE k.owner = $1 AND k.zone = $2 AND k.share = $3 AND k.hash = $4 ORDER BY e.branch, e.sequence
            """, scope.key + [.data(wanted.head)]
        ) { row in
            let entry = SignedRosterEntry(bytes: try row.bytes("entry"), signature: try row.bytes("signature"))
            guard page.takes(entry) else { return false }
            tail.abandoned.append(entry.wire)
            return true
        }
    }

    /// The last entry that a former member reads: the one that ended it; where it is on a branch that the owner has
    /// given up since, the opening that gives that up, and of a share the close after it; where it has read so far
    /// already, that.
    /// - Parameter head: the one that it has, as it says.
    static func end(
        for head: Data, of scope: ScopeRow, goneSince: UInt64, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws -> UInt64 {
        guard head.count == Digest.byteCount else { return goneSince }
        let roster = try rosters.roster(of: scope, in: connection)
        let hash = [UInt8](head)
        if let known = roster.hashes.lastIndex(where: { $0.bytes == hash }) { return max(goneSince, UInt64(known)) }
        let branch =
            try connection.first(
                "SELECT branch FROM abandoned_entry WHERE owner = $1 AND zone = $2 AND share = $3 AND hash = $4",
                scope.key + [.blob(hash)]
            ) { try $0.bytes("branch") } ?? hash
        guard let given = roster.abandonments.last(where: { $0.head.hash.bytes == branch }),
            let opened = roster.epochs.first(where: { $0.context.incarnations == given.incarnations })?.openedAt
        else { return goneSince }
        return max(goneSince, opened + (scope.share == nil ? 0 : 1))
    }

    /// Whether an administrator's device has to open a new epoch, for want of grants that were lost with a roster's
    /// tail.
    package static func lacksGrants(
        _ scope: ScopeRow, for caller: Caller, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws -> Bool {
        guard
            try connection.exists(
                "SELECT 1 FROM restored_scope WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
        else { return false }
        let roster = try rosters.roster(of: scope, in: connection)
        guard !roster.isClosed, roster.members[caller.userID]?.mayAdminister == true else { return false }
        let granted =
            try connection.first(
                "SELECT COUNT(*) AS count FROM epoch_grant WHERE owner = $1 AND zone = $2 AND share = $3 AND epoch = $4",
                scope.key + [.integer(Int64(roster.currentEpoch.number))]
            ) { try $0.int64("count") } ?? 0
        return granted < roster.subjects.count
    }

    /// Keeps the branch that an opening gives up, for whoever has a part of it only: it has to come up to its end
    /// before it can go over to this one.
    func storeAbandoned(_ roster: Roster, _ scope: ScopeRow, _ connection: any SQLConnection) throws {
        guard let last = abandoned.last, let first = abandoned.first else { return }
        let hashes = abandoned.map { RosterEntry.hash($0.signed.bytes) }
        let head = RosterChange.AbandonedHead(sequence: last.entry.sequence, hash: hashes[hashes.count - 1])
        let isChained = zip(abandoned.dropFirst(), hashes).allSatisfy { $0.entry.previous == $1 }
        guard isChained, roster.abandonments.contains(where: { $0.head == head }), first.entry.sequence > 0,
            first.entry.sequence <= roster.sequence,
            roster.hashes[Int(first.entry.sequence) - 1] == first.entry.previous
        else {
            throw ServerError(
                .invalidArguments, "The entries beside it are not the branch that the opening gives up.",
                remedy: "Send that branch from where it parts up to the head that is named.")
        }
        for (one, hash) in zip(abandoned, hashes) {
            try connection.execute(
                """
                INSERT INTO abandoned_entry (owner, zone, share, branch, sequence, hash, entry, signature)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
                """,
                scope.key + [
                    .blob(head.hash.bytes), .integer(Int64(bitPattern: one.entry.sequence)), .blob(hash.bytes),
                    .blob(one.signed.bytes), .blob(one.signed.signature),
                ])
        }
    }
}
