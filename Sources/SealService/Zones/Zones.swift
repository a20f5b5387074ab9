import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Finding zones and moving their counters, in the caller's transaction.
package enum Zones {
    package static let notFound = ServerError(
        .zoneNotFound, "There is no such zone, or it is not shared with the caller.",
        remedy: "Fetch the database's changes; save the zone first if it is to be made.")

    private static let reset = {
        var error = ServerError(
            .zoneNotFound, "The zone's keys were given up, and its content with them.",
            remedy: "Save the zone again, and upload what you have.")
        error.userDidResetEncryptedData = true
        return error
    }()

    /// The caller's own zone, closed ones included.
    package static func own(
        _ name: String, of caller: Caller, _ environment: Environment, in connection: any SQLConnection
    ) throws -> ZoneRow? {
        try connection.first(
            ownByName, [.integer(caller.id), .integer(Int64(environment.rawValue)), .text(name)], ZoneRow.init)
    }

    private static let ownByName =
        "SELECT \(ZoneRow.columns) FROM zone z WHERE z.owner = $1 AND z.environment = $2 AND z.name = $3"

    /// An open zone that the caller sees in this database.
    /// - Throws: `zoneNotFound`, alike for a zone that does not exist and for one of strangers.
    package static func visible(
        _ id: Sealkit_V1_ZoneID, to caller: Caller, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> ZoneRow {
        guard let found = try seen(id, by: caller, path, in: connection), found.goneSince == nil else { throw notFound }
        guard found.zone.isClosed else { return found.zone }
        throw try DatabaseFeed.reason(of: found.zone, toOwner: caller, in: connection) == .encryptedDataReset
            ? reset : notFound
    }

    /// An open zone to write to.
    /// - Throws: as `visible`; `userDeletedZone` to the owner of a zone that was purged.
    package static func writable(
        _ id: Sealkit_V1_ZoneID, by caller: Caller, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> ZoneRow {
        guard let found = try seen(id, by: caller, path, in: connection), found.goneSince == nil else { throw notFound }
        guard found.zone.isClosed else { return found.zone }
        switch try DatabaseFeed.reason(of: found.zone, toOwner: caller, in: connection) {
        case .purged:
            throw ServerError(
                .userDeletedZone, "The zone's user has purged it.",
                remedy: "Delete your copies; make the zone again only if the user asks for it.")
        case .encryptedDataReset: throw reset
        case .no, .deleted, .notShared, nil: throw notFound
        }
    }

    /// A zone that the caller sees or saw once; for one that it does not see any more, the roster entry that ended it.
    package static func seen(
        _ id: Sealkit_V1_ZoneID, by caller: Caller, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> (zone: ZoneRow, goneSince: UInt64?)? {
        if path.database == .public {
            try PublicZone.check(id)
            return (try PublicZone.find(path, in: connection), nil)
        }
        guard Names.isPlain(id.zoneName), id.ownerName.isEmpty || Names.isPlain(id.ownerName) else {
            throw ServerError(
                .invalidArguments, "A zone's or owner's name has 1 to \(Limits.nameBytes) printable ASCII characters.",
                remedy: "Send the names as the server gave them.")
        }
        guard path.isShared else {
            guard id.ownerName.isEmpty || id.ownerName == caller.userID.recordName else { return nil }
            return try own(id.zoneName, of: caller, path.environment, in: connection).map { ($0, nil) }
        }
        guard !id.ownerName.isEmpty, id.ownerName != caller.userID.recordName else { return nil }
        let found = try connection.first(
            sharedByName,
            [
                .integer(caller.id), .integer(Int64(path.environment.rawValue)), .text(id.ownerName),
                .text(id.zoneName),
            ]
        ) { row in
            (
                try unsighted(row),
                try row.bool("gone") ? UInt64(bitPattern: try row.int64("until_sequence")) : nil
            )
        }
        guard let (zone, goneSince) = found else { return nil }
        return (try sighted(zone, by: caller, connection), goneSince)
    }

    private static let sharedByName = """
        SELECT \(ZoneRow.columns), \(viewColumns), v.gone, v.until_sequence FROM zone_view v
        JOIN zone z ON z.owner = v.owner AND z.zone = v.zone
        WHERE v.viewer = $1 AND v.environment = $2 AND v.shared = 1 AND z.owner_name = $3 AND z.name = $4
        """

    /// Beside a zone's columns: how its viewer `v` sees it.
    static let viewColumns = "v.partial, v.since"

    /// A zone with `viewColumns`, before its shares are read.
    static func unsighted(_ row: any SQLRow) throws -> ZoneRow {
        var zone = try ZoneRow(row)
        let since = try row.int64("since")
        zone.sight = try row.bool("partial") ? .shares([], since: since) : .ownScope(since: since)
        return zone
    }

    /// With the shares that limit what the caller sees.
    static func sighted(_ zone: ZoneRow, by caller: Caller, _ connection: any SQLConnection) throws -> ZoneRow {
        var sighted = zone
        guard case .shares(_, let since) = zone.sight else {
            if zone.shares == 0 || caller.id == zone.owner { sighted.sight = .everything }
            return sighted
        }
        sighted.sight = .shares(try Shares.seen(by: caller.id, in: zone, connection), since: since)
        return sighted
    }

    /// Everything open that the caller sees in this database.
    package static func all(
        of caller: Caller, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> [ZoneRow] {
        try connection.rows(
            """
            SELECT \(ZoneRow.columns), \(viewColumns) FROM zone_view v JOIN zone z ON z.owner = v.owner AND z.zone = v.zone
            WHERE v.viewer = $1 AND v.environment = $2 AND v.shared = $3 AND v.gone = 0 ORDER BY z.owner_name, z.name
            """,
            [.integer(caller.id), .integer(Int64(path.environment.rawValue)), .bool(path.isShared)], unsighted
        ).map { try sighted($0, by: caller, connection) }
    }

    /// Takes the next `count` places in the zone's feed; returns the first of them.
    static func takePositions(_ count: Int, of zone: ZoneRow, in connection: any SQLConnection) throws -> Int64 {
        let moved = try connection.first(
            """
            UPDATE zone SET position = position + $3, run = \(ServerRuns.newest) WHERE owner = $1 AND zone = $2
            RETURNING position, run
            """, zone.key + [.integer(Int64(count))]
        ) { (last: try $0.int64("position"), run: try $0.int64("run")) }
        guard let moved else { throw StorageError.failed(code: 0, message: "the zone's row is gone") }
        let before = moved.last - Int64(count)
        if moved.run != zone.run { try ServerRuns.keep(zone, at: before, before: moved.run, in: connection) }
        return before + 1
    }
}
