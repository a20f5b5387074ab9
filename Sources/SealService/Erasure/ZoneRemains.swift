package import SealStorage
import SealWire

/// What the life of a zone that has ended held, on its way out: from the zone's end on nobody reaches it. What a small
/// zone held goes with its end, the rest of a large one in steps beside the requests, so that nobody waits for as long
/// as it was large. Until nothing is left the zone does not begin again.
package enum ZoneRemains {
    /// How much goes at once.
    package struct Room {
        package var rows: Int
        /// Of records and documents: a page each has to be given back for.
        package var bytes: Int

        /// With one request, whatever it ends.
        package static let ofRequest = Room(rows: 2_000, bytes: 4 << 20)
        static let ofStep = Room(rows: 500, bytes: 1 << 20)

        var isSpent: Bool { rows <= 0 || bytes <= 0 }
    }

    static let stillThere = ServerError(
        .zoneBusy, "What the zone held before it was deleted is still being removed.", remedy: "Try again.",
        retryAfter: 1)

    /// What the life of a zone holds.
    private static let held: [(table: Table, removal: Removal)] = Tables.erased.compactMap { table in
        if case .withZone(let removal) = table.erased { (table, removal) } else { nil }
    }

    /// Removes what there is room for, and notes the zone where that is not all.
    package static func leave(_ zone: ZoneRow, _ room: inout Room, in connection: any SQLConnection) throws {
        guard try !remove(zone.key, &room, in: connection) else { return }
        try connection.execute(
            "INSERT INTO zone_remains (owner, zone) VALUES ($1, $2) ON CONFLICT (owner, zone) DO NOTHING", zone.key)
    }

    /// - Throws: `zoneBusy`.
    static func checkGone(_ zone: ZoneRow, in connection: any SQLConnection) throws {
        guard try !isThere(of: zone, in: connection) else { throw stillThere }
    }

    package static func isThere(of zone: ZoneRow, in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM zone_remains WHERE owner = $1 AND zone = $2", zone.key)
    }

    /// Removes all of it, where an opening gives up a life that did not end: its records are in sight up to then, and
    /// no step may leave a part of them.
    package static func removeAll(of zone: ZoneRow, in connection: any SQLConnection) throws {
        var isGone = false
        while !isGone {
            var room = Room.ofStep
            isGone = try remove(zone.key, &room, in: connection)
        }
        try forget(zone.key, in: connection)
    }

    /// Whether something is left of any zone.
    package static func areThere(in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM zone_remains r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone LIMIT 1")
    }

    /// Goes on with all zones of which something is left.
    package static func run(_ turn: JobTurn) async throws {
        while let (zone, bill) = try await turn.read({ connection in
            try first(in: connection).map { ($0, try StorageUsage.account(of: $0, in: connection)) }
        }) {
            try await turn.step(at: .zone(owner: zone.owner, zone: zone.number), beside: [.bill(bill)]) {
                try step(of: zone, in: $0)
            }
        }
    }

    static func first(in connection: any SQLConnection) throws -> ZoneRow? {
        try connection.first(
            """
            SELECT \(ZoneRow.columns) FROM zone_remains r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone
            ORDER BY r.owner, r.zone LIMIT 1
            """, [], ZoneRow.init)
    }

    static func step(of zone: ZoneRow, in connection: any SQLConnection) throws {
        // Somebody else may have removed the rest, and begun the zone again since it was read.
        guard try isThere(of: zone, in: connection) else { return }
        var room = Room.ofStep
        if try remove(zone.key, &room, in: connection) { try forget(zone.key, in: connection) }
    }

    private static func forget(_ zone: [SQLValue], in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM zone_remains WHERE owner = $1 AND zone = $2", zone)
    }

    /// - Returns: whether nothing is left.
    private static func remove(_ zone: [SQLValue], _ room: inout Room, in connection: any SQLConnection) throws -> Bool
    {
        for (table, removal) in held {
            guard !room.isSpent else { return false }
            switch removal {
            case .byKey:
                room.rows -= try connection.execute(
                    """
                    DELETE FROM \(table.name) WHERE (\(table.key)) IN
                        (SELECT \(table.key) FROM \(table.name) WHERE owner = $1 AND zone = $2 LIMIT $3)
                    """, zone + [.integer(Int64(room.rows))])
            case .bySize(let large, let name):
                try remove(zone, from: table, large, by: name, &room, in: connection)
            case .withWords:
                try SearchIndex.remove(from: zone, rows: &room.rows, bytes: &room.bytes, in: connection)
            case .withFiles: room.rows -= try Blobs.discard(room.rows, of: zone, in: connection)
            }
        }
        return !room.isSpent
    }

    /// From the first name on, as far as there is room.
    private static func remove(
        _ zone: [SQLValue], from table: Table, _ large: String, by name: String, _ room: inout Room,
        in connection: any SQLConnection
    ) throws {
        let most = zone + [.integer(Int64(room.rows))]
        var last: String?
        try connection.run(
            """
            SELECT \(name) AS name, LENGTH(\(large)) AS bytes FROM \(table.name) WHERE owner = $1 AND zone = $2
            ORDER BY \(name) LIMIT $3
            """, most
        ) { row in
            last = try row.text("name")
            room.rows -= 1
            room.bytes -= Int(try row.int64("bytes"))
            return !room.isSpent
        }
        guard let last else { return }
        try connection.execute(
            "DELETE FROM \(table.name) WHERE owner = $1 AND zone = $2 AND \(name) <= $3", zone + [.text(last)])
    }
}
