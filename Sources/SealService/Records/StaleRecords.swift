import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Records of a scope that are still sealed under an epoch before the one in force there.
///
/// No record says so in a column of its own: roster entries and statements share the places of one feed, and the server
/// takes no statement of an older epoch, so a record is under an older one exactly if it comes before the entry that
/// opened the epoch. One that came from another scope with its key is stale as well (`key_known`): who read it there
/// may still have that key.
package enum StaleRecords {
    package static func query(of share: Int64) -> String {
        """
        SELECT \(StoredRecord.columns) FROM record
        WHERE owner = $1 AND zone = $2 AND \(isIn(share)) AND position > $4 AND position < $5 AND deleted = 0
        UNION ALL SELECT \(StoredRecord.columns) FROM record
        WHERE owner = $1 AND zone = $2 AND share = $3 AND position > $4 AND position >= $5 AND deleted = 0 AND key_known = 1
        ORDER BY position LIMIT $6
        """
    }

    /// Which index serves it has to be in the text.
    private static func isIn(_ share: Int64) -> String { "share = $3 AND share \(share == 0 ? "= 0" : "> 0")" }

    /// Where a page begins: after the record with this place.
    /// - Throws: `invalidArguments`.
    package static func place(_ message: Sealkit_V1_StaleRecordsRequest) throws(ServerError) -> Int64 {
        guard let place = Int64(exactly: message.after) else {
            throw ServerError(
                .invalidArguments, "There is no such place in a feed.",
                remedy: "Send the position of a record of the answer before.")
        }
        return place
    }

    /// A serialized `StaleRecordsResponse`.
    /// - Parameters:
    ///   - roster: the scope's.
    package static func page(
        of scope: ScopeRow, _ roster: Roster, after place: Int64, limit: Int, desired: Set<String>?, counting: Bool,
        in connection: any SQLConnection
    ) throws -> [UInt8] {
        let opened = try RosterLog.position(of: roster.currentEpoch.openedAt, in: scope, connection)
        var writer = WireWriter(capacity: 64 * 1024)
        var count = 0
        let query = query(of: scope.number)
        try connection.stream(query, scope.key + [.integer(place), .integer(opened), .integer(Int64(limit))]) { row in
            let bytes = try StoredRecord(row).serialized(desired: desired, in: scope.zone, connection)
            guard count == 0 || writer.bytes.count + bytes.count <= RecordFeed.pageBytes else { return false }
            writer.blob(1, bytes)
            count += 1
            return true
        }
        if counting { writer.number(2, UInt64(try self.count(of: scope, before: opened, in: connection))) }
        writer.blob(3, try scope.scopeHead.serializedBytes())
        return writer.bytes
    }

    /// The epoch of the record that was written longest ago, of those before a place in the feed; nil where there is
    /// none, or where only deletions are among the first so many.
    package static func oldestEpoch(
        of scope: ScopeRow, before opened: Int64, atMost limit: Int, in connection: any SQLConnection
    ) throws -> UInt32? {
        var oldest: UInt32?
        try connection.stream(
            """
            SELECT statement, deleted FROM record WHERE owner = $1 AND zone = $2 AND \(isIn(scope.number))
                AND position > 0 AND position < $4 ORDER BY position LIMIT $5
            """, scope.key + [.integer(opened), .integer(Int64(limit))]
        ) { row in
            guard try !row.bool("deleted") else { return true }
            let bytes = try row.bytes("statement")
            oldest = try ServerError.checking("A stored record") { () throws(SealError) in
                try Statement(canonicalBytes: bytes).epoch
            }
            return false
        }
        return oldest
    }

    private static func count(of scope: ScopeRow, before opened: Int64, in connection: any SQLConnection) throws
        -> Int64
    {
        try connection.first(
            """
            SELECT (SELECT COUNT(*) FROM record
                WHERE owner = $1 AND zone = $2 AND \(isIn(scope.number)) AND position < $4 AND deleted = 0)
            + (SELECT COUNT(*) FROM record
                WHERE owner = $1 AND zone = $2 AND share = $3 AND position >= $4 AND deleted = 0 AND key_known = 1) AS count
            """, scope.key + [.integer(opened)]
        ) { try $0.int64("count") } ?? 0
    }
}
