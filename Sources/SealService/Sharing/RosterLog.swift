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
        of scope: ScopeRow, from first: UInt64, through last: UInt64, in connection: any SQLConnection
    ) throws -> [(entry: SignedRosterEntry, position: UInt64)] {
        var entries: [(entry: SignedRosterEntry, position: UInt64)] = []
        try each(of: scope, from: first, through: last, in: connection) { entry, position in
            entries.append((entry, position))
            return true
        }
        return entries
    }

    /// The same one by one, until `body` returns false.
    static func each(
        of scope: ScopeRow, from first: UInt64, through last: UInt64, in connection: any SQLConnection,
        _ body: (SignedRosterEntry, _ position: UInt64) throws -> Bool
    ) throws {
        guard first <= last, let lower = Int64(exactly: first) else { return }
        try connection.stream(
            """
            SELECT entry, signature, position FROM roster_entry
            WHERE owner = $1 AND zone = $2 AND share = $3 AND sequence >= $4 AND sequence <= $5 ORDER BY sequence
            """,
            scope.key + [.integer(lower), .integer(Int64(clamping: last))]
        ) { row in
            try body(
                SignedRosterEntry(bytes: try row.bytes("entry"), signature: try row.bytes("signature")),
                UInt64(bitPattern: try row.int64("position")))
        }
    }

    /// The newest entries, so many at most and newest first, until `body` returns false.
    package static func newest(
        _ limit: Int, of scope: ScopeRow, in connection: any SQLConnection,
        _ body: (RosterEntry, _ position: Int64) throws -> Bool
    ) throws {
        try connection.stream(
            """
            SELECT entry, position FROM roster_entry WHERE owner = $1 AND zone = $2 AND share = $3
            ORDER BY sequence DESC LIMIT $4
            """, scope.key + [.integer(Int64(limit))]
        ) { row in
            let bytes = try row.bytes("entry")
            let entry = try ServerError.checking("A stored entry") { () throws(SealError) in
                try RosterEntry(canonicalBytes: bytes, container: scope.zone.container)
            }
            return try body(entry, try row.int64("position"))
        }
    }

    /// An entry's place in the zone's feed.
    package static func position(
        of sequence: UInt64, in scope: ScopeRow, _ connection: any SQLConnection
    ) throws -> Int64 {
        let position = try connection.first(
            "SELECT position FROM roster_entry WHERE owner = $1 AND zone = $2 AND share = $3 AND sequence = $4",
            scope.key + [.integer(Int64(clamping: sequence))]
        ) { try $0.int64("position") }
        guard let position else { throw StorageError.failed(code: 0, message: "an entry of a roster is gone") }
        return position
    }

    /// Stores an entry that `roster`, which ends with it, has accepted, and moves the scope's row along.
    /// - Returns: the scope as it is now; its zone's position is the entry's.
    static func store(
        _ entry: SignedRosterEntry, endOf roster: Roster, scope: ScopeRow, in connection: any SQLConnection
    ) throws -> ScopeRow {
        let wasClosed = scope.isClosed
        var scope = scope
        scope.zone.position = try Zones.takePositions(1, of: scope.zone, in: connection)
        scope.state = ScopeRow.State(
            sequence: roster.sequence, head: roster.head,
            participants: max(0, roster.members.count - 1) + roster.invitations.count, isClosed: roster.isClosed)
        let position = SQLValue.integer(scope.zone.position)
        let state: [SQLValue] = [
            .integer(Int64(bitPattern: scope.state.sequence)), .blob(scope.state.head.bytes),
            .integer(Int64(scope.state.participants)), .bool(scope.state.isClosed),
        ]
        try connection.execute(
            """
            INSERT INTO roster_entry (owner, zone, share, sequence, position, entry, signature)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            scope.key + [state[0], position, .blob(entry.bytes), .blob(entry.signature)])
        guard scope.share == nil else {
            try connection.execute(
                """
                UPDATE share SET sequence = $4, head = $5, participants = $6, closed = $7, root = $8, began = COALESCE($9, began)
                WHERE owner = $1 AND zone = $2 AND share = $3
                """,
                scope.key + state + [
                    .text(roster.rootRecordName ?? ""), wasClosed && !scope.isClosed ? position : .null,
                ])
            if scope.isClosed != wasClosed { try UnsettledShares.note(scope, connection) }
            return scope
        }
        scope.zone.incarnation = roster.incarnations.zone
        try connection.execute(
            """
            UPDATE zone SET sequence = $3, head = $4, participants = $5, closed = $6, incarnation = $7
            WHERE owner = $1 AND zone = $2
            """,
            scope.zone.key + state + [.integer(Int64(scope.zone.incarnation))])
        return scope
    }
}
