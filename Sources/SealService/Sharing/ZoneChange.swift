import SealCoding
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// Makes and deletes zones: each an entry of the zone's roster. Every check of an item comes before its first write, so
/// that an item that is refused leaves nothing behind.
package struct ZoneChange {
    package let caller: Caller
    package let path: DatabasePath
    package let rosters: RosterCache
    package let quotas: Quotas
    package let now: Int64
    package let connection: any SQLConnection

    package init(
        caller: Caller,
        path: DatabasePath,
        rosters: RosterCache,
        quotas: Quotas,
        now: Int64,
        connection: any SQLConnection
    ) {
        self.caller = caller
        self.path = path
        self.rosters = rosters
        self.quotas = quotas
        self.now = now
        self.connection = connection
    }

    /// Opens a zone; one that is open is returned as it is.
    /// - Throws: also `zoneBusy`, which is the whole request's.
    package func save(_ save: Sealkit_V1_ZoneSave) throws -> ZoneRow {
        try checkID(save.zoneID)
        let name = save.zoneID.zoneName
        let entry = SignedRosterEntry(save.open)
        let scope = Scope(
            container: path.container, environment: path.environment, owner: caller.userID, zoneName: name)
        let known = try Zones.own(name, of: caller, path.environment, in: connection)
        if known?.isClosed ?? true { try quotas.checkZones(of: caller.id, in: connection) }
        var before: Roster?
        let roster: Roster
        if let known {
            guard known.isClosed else { return known }
            try ZoneRemains.checkGone(known, in: connection)
            var kept = try rosters.roster(of: ScopeRow(known), in: connection)
            before = kept
            try ServerError.checking("The roster entry") { () throws(SealError) in try kept.append(entry) }
            roster = kept
        } else {
            roster = try ServerError.checking("The roster entry") { () throws(SealError) in
                try Roster(opening: entry, scope: scope)
            }
        }
        let grants = try StoredGrants.check(
            save.hasGrant ? [save.grant] : [], required: roster.currentEpoch.grantHashes,
            epoch: roster.currentEpoch.number)
        try RosterRoom.check(entry: roster.sequence, quotas)
        let grown = entry.bytes.count + entry.signature.count + grants.reduce(0) { $0 + $1.sealed.count }
        try StorageUsage.checkRoom(
            for: Int64(grown) + Int64(grants.count + 2) * Billing.rowOverhead, on: .init(account: caller.accountID),
            quotas: quotas,
            connection)
        var appending = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
        return try appending.append(
            NextEntry(
                entry, before: before, after: roster, enclosures: .init(grants: grants), reason: .deleted,
                news: .withEntry,
                roots: .withEntry),
            to: ScopeRow(try known ?? Self.insert(roster, scope, owner: caller.id, in: connection))
        ).zone
    }

    /// Closes a zone and removes all that it held; its roster stays for ever.
    /// - Parameter room: how much of it the request removes by itself.
    package func delete(_ delete: Sealkit_V1_ZoneDelete, _ room: inout ZoneRemains.Room) throws {
        try checkID(delete.zoneID)
        guard let reason = DatabaseFeed.Gone(rawValue: Int64(max(delete.reason, 1))), reason != .notShared else {
            throw ServerError(
                .invalidArguments, "A zone is not deleted for this reason.",
                remedy: "Send 1 for deleted, 2 for purged, 3 for encryptedDataReset.")
        }
        guard let zone = try Zones.own(delete.zoneID.zoneName, of: caller, path.environment, in: connection),
            !zone.isClosed
        else { throw Zones.notFound }
        let before = try rosters.roster(of: ScopeRow(zone), in: connection)
        var roster = before
        let entry = SignedRosterEntry(delete.close)
        try ServerError.checking("The roster entry") { () throws(SealError) in try roster.append(entry) }
        guard roster.isClosed else {
            throw ServerError(
                .invalidArguments, "The entry does not close the zone.",
                remedy: "Send an entry whose one change is close.")
        }
        for ending in try endings(of: zone, delete) {
            try ending.store(in: zone, by: caller, now: now, connection)
        }
        var appending = Rosters(by: caller, room: room, now: now, in: connection)
        _ = try appending.append(
            NextEntry(
                entry, before: before, after: roster, enclosures: .init(grants: []), reason: reason, news: .withEntry,
                roots: .withEntry),
            to: ScopeRow(zone))
        room = appending.room
    }

    /// With a zone its hierarchical shares end: each by an entry of its own roster.
    private func endings(of zone: ZoneRow, _ delete: Sealkit_V1_ZoneDelete) throws -> [ShareEnding] {
        let names = delete.shares.map(\.shareRecordName)
        guard Set(names).count == names.count else { throw Shares.twice }
        // Another device may have made one meanwhile.
        guard try Set(Shares.open(in: zone, connection).compactMap { $0.share?.recordName }) == Set(names) else {
            throw ServerError(
                .rosterChanged, "The zone's shares are others than those that would end with it.",
                remedy: "Look the zone's shares up, and send an entry that closes each.")
        }
        return try delete.shares.map {
            try ShareEnding($0.close, of: $0.shareRecordName, in: zone, rosters, connection)
        }
    }

    private func checkID(_ id: Sealkit_V1_ZoneID) throws(ServerError) {
        guard Names.isCustomZone(id.zoneName) || id.zoneName == Names.defaultZone else {
            throw ServerError(
                .invalidArguments, "The zone's name is not allowed.",
                remedy: "Use 1 to 255 printable ASCII characters, not beginning with an underscore.")
        }
        guard id.ownerName.isEmpty || id.ownerName == caller.userID.recordName else { throw Zones.notFound }
    }

    /// A new row, with the zone's number within its owner.
    package static func insert(
        _ roster: Roster, _ scope: Scope, owner: Int64, in connection: any SQLConnection
    ) throws -> ZoneRow {
        let zone = try connection.first(
            """
            INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence, head,
                participants, closed)
            SELECT $1, COALESCE(MAX(zone), 0) + 1, $2, $3, $4, $5, 0, $6, 0, $7, 0, 0 FROM zone WHERE owner = $1
            RETURNING owner, zone, container, environment, owner_name, name, position, incarnation, sequence, head,
                participants, closed, watched, shares, run
            """,
            [
                .integer(owner), .text(scope.container), .integer(Int64(scope.environment.rawValue)),
                .text(scope.owner.recordName), .text(scope.zoneName), .integer(Int64(roster.incarnations.zone)),
                .blob(roster.head.bytes),
            ], ZoneRow.init)
        guard let zone else { throw StorageError.failed(code: 0, message: "the zone's row was not made") }
        return zone
    }
}
