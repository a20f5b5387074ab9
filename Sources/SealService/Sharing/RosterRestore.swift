import Foundation
import SealCoding
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// Entries that a restored server has lost and a member's device gives back, or the owner's opening that ends a fork.
/// They are signed already, and the rules judge them as they did the first time; what follows from them follows again.
///
/// What the server checks beside the rules when entries are made (addresses that are proven, grants for everybody) it
/// has checked once; of quotas there is twice as much for them. Only who takes a seat that waits for an address is not
/// taken from just anybody's word: see `checkSeat`.
package struct RosterRestore: Sendable {
    /// Of one request.
    package static let most = 500
    static let mostGrants = 100

    package typealias Entry = (signed: SignedRosterEntry, entry: RosterEntry)

    private let place: (zone: Sealkit_V1_ZoneID, share: String)
    private let entries: [Entry]
    package let abandoned: [Entry]
    private let grants: [(subject: GrantSubject, epoch: UInt32, sealed: Data)]

    /// - Throws: `invalidArguments`, `limitExceeded`.
    package init(_ message: Sealkit_V1_RestoreRosterRequest, container: String) throws(ServerError) {
        guard message.entries.count + message.abandoned.count <= Self.most, message.grants.count <= Self.mostGrants
        else {
            throw ServerError(
                .limitExceeded, "A request gives back at most \(Self.most) entries and \(Self.mostGrants) grants.",
                remedy: "Send the oldest first, then the others.")
        }
        guard !message.entries.isEmpty else {
            throw ServerError(
                .invalidArguments, "There is nothing to give back.", remedy: "Send the entries that are missing.")
        }
        place = (message.zone, message.shareRecordName)
        entries = try Self.decode(message.entries, container)
        abandoned = try Self.decode(message.abandoned, container)
        var grants: [(subject: GrantSubject, epoch: UInt32, sealed: Data)] = []
        for grant in message.grants {
            guard let subject = try? grant.grantSubject(), (1...Limits.grantBytes).contains(grant.sealed.count) else {
                throw ServerError(
                    .invalidArguments, "A grant is not well formed.",
                    remedy: "Name a member by 16 bytes; seal at most \(Limits.grantBytes) bytes.")
            }
            grants.append((subject, grant.epoch, grant.sealed))
        }
        self.grants = grants
    }

    private static func decode(
        _ entries: [Sealkit_V1_SignedEntry], _ container: String
    ) throws(ServerError) -> [Entry] {
        var decoded: [Entry] = []
        decoded.reserveCapacity(entries.count)
        for wire in entries {
            let signed = SignedRosterEntry(wire)
            decoded.append(
                (
                    signed,
                    try ServerError.checking("The roster entry") { () throws(SealError) in
                        try RosterEntry(canonicalBytes: signed.bytes, container: container)
                    }
                ))
        }
        for (one, next) in zip(decoded, decoded.dropFirst()) where next.entry.sequence != one.entry.sequence &+ 1 {
            throw ServerError(
                .invalidArguments, "An entry is left out.", remedy: "Send entries in their order, without a gap.")
        }
        return decoded
    }

    /// In the caller's transaction; whatever is thrown takes all of it back.
    /// - Returns: the scope as it is now: with the entries up to one that begins a life anew for which a large one
    ///   before it has to go.
    /// - Throws: `zoneBusy` where that is the first of them; `zoneNotFound`, `unknownItem`, alike for what does not
    ///   exist and whatever strangers send; to those whom the roster knows, or knows by these entries, `rosterChanged`
    ///   where the log goes on otherwise than the entries say, and what the rules refuse; `requestRateLimited`,
    ///   `limitExceeded` for too many epochs.
    package func run(
        by caller: Caller, _ path: DatabasePath, _ rosters: RosterCache, _ counts: RosterCounts, now: Int64,
        in connection: any SQLConnection
    ) throws -> ScopeRow {
        let found = try find(by: caller, path, connection)
        let start = try found.scope.map { try rosters.roster(of: $0, in: connection) }
        let isKnown = found.id.owner == caller.userID || start?.members[caller.userID] != nil
        let given: Given
        do {
            given = try append(to: start, found, by: caller, counts.quotas, now: now, connection)
            guard isKnown || given.roster.members[caller.userID] != nil else { throw found.unknown }
        } catch is ServerError where !isKnown {
            throw found.unknown
        }
        let row = given.scope
        try countEpochs(given, by: caller, counts, now: now, connection)
        try RosterRoom.count(given.entries.count, endingAt: row, counts, now: now)
        try storeGrants(by: caller, given.roster, row, connection)
        guard !given.entries.isEmpty else { return row }
        if given.areAll { try storeAbandoned(given.roster, row, connection) }
        // What was lost was billed before, and may be what an owner over its quota removes somebody with.
        try StorageUsage.checkRoom(
            for: 0, on: StorageUsage.Bill(row.zone, caller: caller, in: connection), quotas: counts.quotas.doubled,
            connection)
        try connection.execute(
            "INSERT INTO restored_scope (owner, zone, share) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", row.key)
        try Rosters(by: caller, room: .ofRequest, now: now, in: connection)
            .tell(of: row, comesOrGoes: given.comesOrGoes)
        return row
    }

    /// What the scope is with the entries.
    struct Given {
        let scope: ScopeRow
        let roster: Roster
        /// Those that were new.
        let entries: [Entry]
        /// Otherwise a life that begins waits until what the one before it held is gone.
        let areAll: Bool
        /// Somebody becomes a member by one of them, or is none any more.
        let comesOrGoes: Bool
    }

    private func append(
        to start: Roster?, _ found: Found, by caller: Caller, _ quotas: Quotas, now: Int64,
        _ connection: any SQLConnection
    ) throws -> Given {
        var (row, roster) = (found.scope, start)
        let missing = try missing(from: start)
        var taken: [Entry] = []
        var comesOrGoes = false
        var hasTold = false
        for (signed, entry) in missing {
            let before = roster
            let after = try Self.following(before, signed, found.id)
            if let row, row.share == nil, before?.isClosed == true, !after.isClosed,
                try ZoneRemains.isThere(of: row.zone, in: connection)
            {
                // What came before it is taken, so that the rest of a large zone goes beside the requests, and the next
                // one goes on here.
                guard !taken.isEmpty else { throw ZoneRemains.stillThere }
                break
            }
            try checkSeat(entry, before: before, by: caller, now: now)
            if before.map({ !RosterRoom.isAlwaysTaken(entry, after: $0) }) ?? true {
                try RosterRoom.check(entry: entry.sequence, quotas)
            }
            let target = try row ?? insert(after, found, by: caller, quotas, connection)
            let next = try next(signed, before: before, after: after, in: target, connection)
            var appending = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
            // Whoever loses the scope by these entries hears of it as by any others: before it does, and once, unless
            // somebody came in between.
            if next.hides, !hasTold {
                try appending.tell(of: target, comesOrGoes: true)
                hasTold = true
            }
            row = try appending.append(next, to: target)
            if next.shows { hasTold = false }
            comesOrGoes = comesOrGoes || next.comesOrGoes
            roster = after
            taken.append((signed, entry))
        }
        guard let row, let roster else { throw found.unknown }
        return Given(
            scope: row, roster: roster, entries: taken, areAll: taken.count == missing.count, comesOrGoes: comesOrGoes)
    }

    // MARK: Where

    private struct Found {
        let id: Scope
        /// The zone, also where the entries are of a share in it.
        let zone: ZoneRow?
        let scope: ScopeRow?
        /// What is told of a scope that there is not, and to strangers of one that there is.
        let unknown: ServerError
    }

    /// The scope, whether or not the server knows the caller in it: that may be what was lost.
    private func find(by caller: Caller, _ path: DatabasePath, _ connection: any SQLConnection) throws -> Found {
        let (id, share) = place
        let isOwn = id.ownerName.isEmpty || id.ownerName == caller.userID.recordName
        guard Names.isPlain(id.zoneName), share.isEmpty || Names.isPlain(share), isOwn != path.isShared,
            let owner = isOwn ? caller.userID : try? UserID(recordName: id.ownerName)
        else { throw Zones.notFound }
        let zone = try connection.first(
            """
            SELECT \(ZoneRow.columns) FROM zone z JOIN identity i ON i.id = z.owner
            WHERE i.container = $1 AND i.user_name = $2 AND z.environment = $3 AND z.name = $4
            """,
            [
                .text(path.container), .text(owner.recordName), .integer(Int64(path.environment.rawValue)),
                .text(id.zoneName),
            ], ZoneRow.init)
        // Whoever does not see the zone is not told that it is there, whichever share of it is asked for.
        let unknown =
            try !share.isEmpty && zone.map { try isOwn || Self.sees($0, caller, connection) } ?? false
            ? Shares.unknown : Zones.notFound
        guard zone != nil || (isOwn && share.isEmpty) else { throw unknown }
        let scope = Scope(
            container: path.container, environment: path.environment, owner: owner, zoneName: id.zoneName,
            shareRecordName: share)
        let row =
            try share.isEmpty ? zone.map { ScopeRow($0) } : zone.flatMap { try Shares.find(share, in: $0, connection) }
        guard row != nil || isOwn else { throw unknown }
        return Found(id: scope, zone: zone, scope: row, unknown: unknown)
    }

    private static func sees(_ zone: ZoneRow, _ caller: Caller, _ connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM zone_view WHERE viewer = $3 AND owner = $1 AND zone = $2 AND gone = 0",
            zone.key + [.integer(caller.id)])
    }

    /// The entries that the server does not have; those that it has are these.
    private func missing(from roster: Roster?) throws(ServerError) -> [Entry] {
        let next = roster?.nextSequence ?? 0
        guard let first = entries.first, first.entry.sequence <= next else { throw ServerError.rosterChanged }
        for (signed, entry) in entries where entry.sequence < next {
            guard roster?.hashes[Int(entry.sequence)] == RosterEntry.hash(signed.bytes) else {
                throw ServerError.rosterChanged
            }
        }
        return Array(entries.drop { $0.entry.sequence < next })
    }

    private static func following(_ roster: Roster?, _ signed: SignedRosterEntry, _ scope: Scope) throws(ServerError)
        -> Roster
    {
        try ServerError.checking("The roster entry") { () throws(SealError) in
            guard var next = roster else { return try Roster(opening: signed, scope: scope) }
            try next.append(signed)
            return next
        }
    }

    /// That an address was proven, and that an invitation had not expired, the server alone can say. What it does not
    /// remember it takes from those who could have let the same person in.
    private func checkSeat(_ entry: RosterEntry, before: Roster?, by caller: Caller, now: Int64) throws(ServerError) {
        guard case .accept(let acceptance)? = entry.changes.first, let before,
            let invitation = before.invitations[acceptance.invitationID],
            before.members[caller.userID]?.mayAdminister != true
        else { return }
        guard invitation.invitee != nil, invitation.isOpen(at: now) else {
            throw ServerError(
                .permissionFailure,
                "Somebody has taken a seat in these entries, and the server cannot tell any more whether it was theirs.",
                remedy: "The owner or an administrator gives them back.")
        }
    }

    // MARK: What follows

    private func insert(
        _ roster: Roster, _ found: Found, by caller: Caller, _ quotas: Quotas, _ connection: any SQLConnection
    ) throws -> ScopeRow {
        guard !found.id.shareRecordName.isEmpty else {
            guard Names.isCustomZone(found.id.zoneName) || found.id.zoneName == Names.defaultZone else {
                throw Zones.notFound
            }
            try quotas.checkZones(of: caller.id, in: connection)
            return ScopeRow(try ZoneChange.insert(roster, found.id, owner: caller.id, in: connection))
        }
        guard let zone = found.zone, !zone.isClosed, let root = roster.rootRecordName,
            roster.incarnations.zone == zone.incarnation
        else {
            throw ServerError(
                .rosterChanged, "The share is of another life of the zone than the server knows.",
                remedy: "Give the zone's own entries back first.")
        }
        return try Shares.insert(
            ZoneShare(number: zone.shares + 1, recordName: found.id.shareRecordName, root: root), roster, in: zone,
            connection)
    }

    private func next(
        _ signed: SignedRosterEntry, before: Roster?, after: Roster, in scope: ScopeRow, _ connection: any SQLConnection
    ) throws -> NextEntry {
        let next = NextEntry(
            signed, before: before, after: after, enclosures: .init(grants: []), reason: .deleted, news: .withRequest,
            roots: .withEntry)
        // A life of a zone that an entry ends, or that an opening gives up, takes its records along.
        if scope.share == nil, next.ends, try Shares.hasOpen(in: scope.zone, connection) {
            throw ServerError(
                .rosterChanged, "With the zone its shares end.", remedy: "Give the entries back first that end them.")
        }
        return next
    }

    /// Those that the roster commits to, whoever brings them, and the caller's own: of the present life, for seats that
    /// are taken or open.
    private func storeGrants(
        by caller: Caller, _ roster: Roster, _ row: ScopeRow, _ connection: any SQLConnection
    ) throws {
        guard !roster.isClosed else { return }
        let subjects = Set(roster.subjects)
        for grant in grants where subjects.contains(grant.subject) {
            guard let epoch = roster.epoch(grant.epoch, incarnations: roster.incarnations) else { continue }
            let committed = epoch.grantHashes[grant.subject]
            guard
                committed == GrantHash.of([UInt8](grant.sealed))
                    || (committed == nil && grant.subject == .member(caller.userID))
            else {
                throw ServerError(
                    .integrityFailure, "A grant is not one that the roster commits to.",
                    remedy: "Send your own, and those whose hashes the roster has.")
            }
            try StoredGrants.store(grant.sealed, for: grant.subject, epoch: grant.epoch, scope: row, in: connection)
        }
    }
}
