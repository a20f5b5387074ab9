import Foundation
import SealCoding
import SealPrimitives
package import SealStatements
package import SealStorage
import SealWire

/// The entries of a scope's roster, append-only for ever, in the caller's transaction.
package enum RosterLog {
    /// Entries with sequences in a range, oldest first.
    package static func entries(
        of zone: ZoneRow, from first: UInt64, through last: UInt64, in connection: any SQLConnection
    ) throws -> [(entry: SignedRosterEntry, position: UInt64)] {
        var entries: [(entry: SignedRosterEntry, position: UInt64)] = []
        try each(of: zone, from: first, through: last, in: connection) { entry, position in
            entries.append((entry, position))
            return true
        }
        return entries
    }

    /// The same one by one, until `body` returns false.
    static func each(
        of zone: ZoneRow, from first: UInt64, through last: UInt64, in connection: any SQLConnection,
        _ body: (SignedRosterEntry, _ position: UInt64) throws -> Bool
    ) throws {
        guard first <= last, let lower = Int64(exactly: first) else { return }
        try connection.run(
            """
            SELECT entry, signature, position FROM roster_entry
            WHERE owner = $1 AND zone = $2 AND share = $3 AND sequence >= $4 AND sequence <= $5 ORDER BY sequence
            """,
            zone.scopeKey + [.integer(lower), .integer(Int64(clamping: last))]
        ) { row in
            try body(
                SignedRosterEntry(bytes: try row.bytes("entry"), signature: try row.bytes("signature")),
                UInt64(bitPattern: try row.int64("position")))
        }
    }

    /// An entry's place in the zone's feed.
    package static func position(
        of sequence: UInt64, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> Int64 {
        let position = try connection.first(
            "SELECT position FROM roster_entry WHERE owner = $1 AND zone = $2 AND share = $3 AND sequence = $4",
            zone.scopeKey + [.integer(Int64(clamping: sequence))]
        ) { try $0.int64("position") }
        guard let position else { throw StorageError.failed(code: 0, message: "an entry of a roster is gone") }
        return position
    }

    /// Stores an entry that `roster`, which ends with it, has accepted, and moves the scope's row along.
    /// - Returns: the zone as it is now; its position is the entry's.
    static func store(
        _ entry: SignedRosterEntry, endOf roster: Roster, zone: ZoneRow, in connection: any SQLConnection
    ) throws -> ZoneRow {
        let wasClosed = zone.isClosed
        var zone = zone
        zone.position = try Zones.takePositions(1, of: zone, in: connection)
        zone.sequence = roster.sequence
        zone.head = roster.head
        zone.isClosed = roster.isClosed
        zone.participants = max(0, roster.members.count - 1) + roster.invitations.count
        try connection.execute(
            """
            INSERT INTO roster_entry (owner, zone, share, sequence, position, entry, signature)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            zone.scopeKey + [
                .integer(Int64(bitPattern: zone.sequence)), .integer(zone.position), .blob(entry.bytes),
                .blob(entry.signature),
            ])
        if zone.share != nil {
            try connection.execute(
                """
                UPDATE share SET sequence = $4, head = $5, participants = $6, closed = $7, root = $8, began = COALESCE($9, began)
                WHERE owner = $1 AND zone = $2 AND share = $3
                """,
                zone.scopeKey + [
                    .integer(Int64(bitPattern: zone.sequence)), .blob(zone.head.bytes),
                    .integer(Int64(zone.participants)),
                    .bool(zone.isClosed), .text(roster.rootRecordName ?? ""),
                    wasClosed && !zone.isClosed ? .integer(zone.position) : .null,
                ])
            if zone.isClosed != wasClosed { try UnsettledRecords.noteEnd(of: zone, connection) }
            return zone
        }
        zone.incarnation = roster.incarnations.zone
        try connection.execute(
            """
            UPDATE zone SET incarnation = $3, sequence = $4, head = $5, participants = $6, closed = $7
            WHERE owner = $1 AND zone = $2
            """,
            zone.key + [
                .integer(Int64(zone.incarnation)), .integer(Int64(bitPattern: zone.sequence)), .blob(zone.head.bytes),
                .integer(Int64(zone.participants)), .bool(zone.isClosed),
            ])
        return zone
    }
}
