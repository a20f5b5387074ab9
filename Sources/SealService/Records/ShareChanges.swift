import SealCoding
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// The hierarchical shares that one save opens and closes, their entries checked against the rules. They are stored in
/// the save's transaction, or with it nothing is.
package struct ShareChanges: Sendable {
    package struct Opening: Sendable {
        package let entry: SignedRosterEntry
        /// With the roster as the entry leaves it.
        package let scope: ZoneRosters.Scope
        package let grant: Sealkit_V1_Grant
        /// The entry after it, with the share's URL and its first invitations.
        package let following: RosterAppend?
        /// The roster of a share that was there before.
        package let before: Roster?

        package init(
            entry: SignedRosterEntry,
            scope: ZoneRosters.Scope,
            grant: Sealkit_V1_Grant,
            following: RosterAppend?,
            before: Roster?
        ) {
            self.entry = entry
            self.scope = scope
            self.grant = grant
            self.following = following
            self.before = before
        }

        package var share: ZoneShare { scope.share ?? ZoneShare(number: 0, recordName: "", root: "") }
    }

    package struct Closing: Sendable {
        package let entry: SignedRosterEntry
        package let share: ZoneShare
        package let before: Roster
        package let after: Roster
    }

    /// Of one request: each is held against the hierarchies of all others in the zone, in the transaction.
    package static let most = 50

    package private(set) var openings: [Opening] = []
    package private(set) var closings: [Closing] = []

    package var isEmpty: Bool { openings.isEmpty && closings.isEmpty }

    /// None.
    package init() {}

    /// - Throws: `permissionFailure` to anybody but the owner; `alreadyShared`; `unknownItem`; `invalidArguments` and
    ///   others for entries that the rules refuse.
    package init(
        _ message: Sealkit_V1_ModifyRecordsRequest, _ zone: ZoneRow, _ caller: Caller, _ path: DatabasePath,
        _ rosters: RosterCache, _ quotas: Quotas, _ hasher: AddressHasher, _ connection: any SQLConnection
    ) throws {
        guard !message.openings.isEmpty || !message.closings.isEmpty else { return }
        guard path.database == .private, caller.id == zone.owner else {
            throw ServerError(
                .permissionFailure, "Only the zone's owner shares hierarchies in it, or ends that.",
                remedy: "Ask the owner to share the record.")
        }
        guard message.openings.count + message.closings.count <= Self.most else {
            throw ServerError(
                .limitExceeded, "A request opens and ends at most \(Self.most) shares.", remedy: "Send fewer at once.")
        }
        let names = message.openings.map(\.shareRecordName) + message.closings.map(\.shareRecordName)
        guard Set(names).count == names.count else {
            throw ServerError(.invalidArguments, "A share comes twice in one request.", remedy: "Send each share once.")
        }
        if !message.openings.isEmpty {
            try Self.checkMayShareRecords(try rosters.roster(of: zone, in: connection))
            try Self.checkNotShared(zone, connection)
        }
        for (index, opening) in message.openings.enumerated() {
            openings.append(try Self.opening(opening, at: index, in: zone, rosters, hasher, connection))
            try RosterRoom.check(entry: openings[index].scope.roster.sequence, quotas)
        }
        for closing in message.closings {
            closings.append(
                try Self.closing(closing.close, of: closing.shareRecordName, in: zone, rosters, connection))
        }
    }

    private static func checkMayShareRecords(_ roster: Roster) throws(ServerError) {
        guard roster.encryptionScope == .perRecord else {
            throw ServerError(
                .invalidArguments, "The zone is encrypted per zone: no record in it is shared by itself.",
                remedy: "Share the zone as a whole, or put the records into a zone that is encrypted per record.")
        }
    }

    /// A zone is shared as a whole, or some hierarchies in it are.
    private static func checkNotShared(_ zone: ZoneRow, _ connection: any SQLConnection) throws {
        let hasShare =
            try zone.participants > 0
            || connection.exists(
                "SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
                zone.key + [.text(Names.zoneWideShare)])
        guard !hasShare else {
            throw ServerError(
                .alreadyShared, "The zone is shared as a whole, so no hierarchy in it is shared by itself.",
                remedy: "Delete the zone's share first, or put the records into another zone.")
        }
    }

    private static func opening(
        _ opening: Sealkit_V1_ShareOpening, at index: Int, in zone: ZoneRow, _ rosters: RosterCache,
        _ hasher: AddressHasher,
        _ connection: any SQLConnection
    ) throws -> Opening {
        let name = opening.shareRecordName
        guard Names.isPlain(name), name != Names.zoneWideShare else {
            throw ServerError(
                .invalidArguments, "A share's record has another kind of name.",
                remedy: "Use 1 to \(Limits.nameBytes) printable ASCII characters, and not the name of zones' shares.")
        }
        let entry = SignedRosterEntry(opening.open)
        let known = try zone.shares > 0 ? Shares.find(name, in: zone, connection) : nil
        guard known?.isClosed ?? true else { throw alreadyShared }
        var before: Roster?
        let roster: Roster
        if let known {
            var kept = try rosters.roster(of: known, in: connection)
            before = kept
            try ServerError.checking("The share's opening") { () throws(SealError) in try kept.append(entry) }
            roster = kept
            try checkSettled(known, connection)
        } else {
            let scope = Scope(
                container: zone.container, environment: zone.environment, owner: zone.ownerName, zoneName: zone.name,
                shareRecordName: name)
            roster = try ServerError.checking("The share's opening") { () throws(SealError) in
                try Roster(opening: entry, scope: scope)
            }
        }
        guard !roster.isClosed, let root = roster.rootRecordName, root != name,
            roster.incarnations.zone == zone.incarnation
        else {
            throw ServerError(
                .invalidArguments, "The entry opens no share in this life of the zone.",
                remedy: "Open the share's scope with its root and the zone's incarnation.")
        }
        let epoch = roster.currentEpoch
        _ = try StoredGrants.check(
            opening.hasGrant ? [opening.grant] : [], required: epoch.grantHashes, epoch: epoch.number)
        let number = known?.share?.number ?? zone.shares + 1 + Int64(index)
        return Opening(
            entry: entry,
            scope: .init(share: ZoneShare(number: number, recordName: name, root: root), roster: roster, isNew: true),
            grant: opening.grant,
            following: try opening.hasFollowing ? following(opening.following, in: zone, hasher) : nil, before: before)
    }

    /// The records of the request are of the epoch that the opening begins with.
    private static func following(
        _ message: Sealkit_V1_AppendRosterRequest, in zone: ZoneRow, _ hasher: AddressHasher
    ) throws -> RosterAppend {
        let append = try RosterAppend(message, container: zone.container, hasher: hasher)
        guard append.entry.epoch == nil else {
            throw ServerError(
                .invalidArguments, "The entry after a share's opening opens another epoch.",
                remedy: "Send settings and invitations with the opening, and whatever takes a right away afterwards.")
        }
        return append
    }

    /// Nothing of an earlier life may be left when the next one begins.
    private static func checkSettled(_ share: ZoneRow, _ connection: any SQLConnection) throws {
        guard try !UnsettledRecords.isLeft(in: share, connection) else {
            throw ServerError(
                .zoneBusy, "Records of the share as it was before have not been moved yet.",
                remedy: "Move what shares/unsettled lists, then share again; or share under another record name.")
        }
    }

    /// Also of a zone that is deleted with its shares.
    package static func closing(
        _ entry: Sealkit_V1_SignedEntry, of name: String, in zone: ZoneRow, _ rosters: RosterCache,
        _ connection: any SQLConnection
    ) throws -> Closing {
        let row = try Shares.visible(name, in: zone, connection)
        guard let share = row.share else { throw Shares.unknown }
        let before = try rosters.roster(of: row, in: connection)
        let signed = SignedRosterEntry(entry)
        var after = before
        try ServerError.checking("The share's closing") { () throws(SealError) in try after.append(signed) }
        guard after.isClosed else {
            throw ServerError(
                .invalidArguments, "The entry does not end the share.",
                remedy: "Send an entry whose one change is close.")
        }
        return Closing(entry: signed, share: share, before: before, after: after)
    }

    package static let alreadyShared = ServerError(
        .alreadyShared, "The record, one above it or one below it is shared already.",
        remedy: "Add participants to that share, or delete it first.")

    // MARK: In the save's transaction

    /// The rosters are as they were judged.
    package func recheck(in zone: ZoneRow, _ connection: any SQLConnection) throws {
        for opening in openings {
            let now = try Shares.find(opening.share.recordName, in: zone, connection)
            guard now?.head == opening.before?.head else { throw ServerError.rosterChanged }
            guard now != nil || opening.share.number > zone.shares else { throw ServerError.rosterChanged }
        }
        for closing in closings {
            let now = try Shares.find(closing.share.recordName, in: zone, connection)
            guard now?.head == closing.before.head else { throw ServerError.rosterChanged }
        }
        if !openings.isEmpty { try Self.checkNotShared(zone, connection) }
    }

    /// Before the save's records, which are in these scopes.
    func storeOpenings(
        in zone: ZoneRow, by caller: Caller, _ rosters: RosterCache, _ quotas: Quotas, now: Int64,
        _ connection: any SQLConnection
    ) throws {
        for opening in openings {
            let row = try row(for: opening, in: zone, connection)
            // What it tells and whose roots it moves, it does with the save's records.
            var appending = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
            let stored = try appending.append(
                NextEntry(
                    opening.entry, before: opening.before, after: opening.scope.roster,
                    enclosures: .init(grants: [(.member(zone.ownerName), opening.grant.sealed)]), reason: .deleted,
                    news: .withRequest, roots: .withRequest),
                to: row)
            _ = try opening.following?.run(
                on: stored, by: caller, rosters: rosters, quotas: quotas, now: now, in: connection)
        }
    }

    private func row(for opening: Opening, in zone: ZoneRow, _ connection: any SQLConnection) throws -> ZoneRow {
        if let known = try Shares.find(opening.share.recordName, in: zone, connection) { return known }
        return try Self.insert(opening.share, opening.scope.roster, in: zone, connection)
    }

    /// A new row, which no entry is stored for yet: until then the share is closed.
    package static func insert(
        _ share: ZoneShare, _ roster: Roster, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> ZoneRow {
        try connection.execute(
            """
            INSERT INTO share (owner, zone, share, record_name, scope_id, root, sequence, head, participants, closed)
            VALUES ($1, $2, $3, $4, $5, $6, 0, $7, 0, 1)
            """,
            zone.key + [
                .integer(share.number), .text(share.recordName), .blob(roster.scopeID.bytes), .text(share.root),
                .blob(roster.head.bytes),
            ])
        try connection.execute(
            "UPDATE zone SET shares = $3 WHERE owner = $1 AND zone = $2 AND shares < $3",
            zone.key + [.integer(share.number)])
        var row = zone
        row.share = share
        row.shares = max(zone.shares, share.number)
        return row
    }

    /// After the save's records: the deletion of the share's record cites the roster as it was.
    func storeClosings(in zone: ZoneRow, by caller: Caller, now: Int64, _ connection: any SQLConnection) throws {
        for closing in closings { try Self.store(closing, in: zone, by: caller, now: now, connection) }
    }

    /// Participants lose sight of the share. The owner keeps its grants: records that were in it are still to be moved.
    package static func store(
        _ closing: Closing, in zone: ZoneRow, by caller: Caller, now: Int64, _ connection: any SQLConnection
    ) throws {
        guard let row = try Shares.find(closing.share.recordName, in: zone, connection) else { throw Shares.unknown }
        // Its root is moved with the save's records, or goes with its zone.
        var appending = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
        _ = try appending.append(
            NextEntry(
                closing.entry, before: closing.before, after: closing.after, enclosures: .init(grants: []),
                reason: .deleted, news: .withEntry, roots: .withRequest),
            to: row)
    }
}
