import SealStatements
import SealWire
import SwiftProtobuf

/// Records that are not where they belong: after their parent came into another scope, or their share ended. They are
/// withheld from participants of where they come into, and the owner, who alone can sign that, is given them to move.
enum UnsettledRecords {
    /// An answer has at most this many bytes; a larger record goes alone.
    private static let answerBytes = RecordFeed.pageBytes

    /// Whether there may be any.
    static func exist(in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        guard zone.shares > 0 else { return false }
        return try connection.exists("SELECT 1 FROM unsettled_parent WHERE owner = $1 AND zone = $2 LIMIT 1", zone.key)
            || !ended(in: zone, limit: 1, connection).isEmpty
    }

    /// The next ones, parents before their children. Parents whose children are all in place are forgotten.
    static func next(in zone: ZoneRow, limit: Int, _ connection: any SQLConnection) throws -> [StoredRecord] {
        var found: [StoredRecord] = []
        let parents = try connection.rows(
            "SELECT name FROM unsettled_parent WHERE owner = $1 AND zone = $2 ORDER BY name LIMIT $3",
            zone.key + [.integer(Int64(limit))]
        ) { try $0.text(0) }
        for parent in parents where found.count < limit {
            let children = try connection.rows(
                """
                SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND deleted = 0
                    AND share <> (SELECT p.share FROM record p WHERE p.owner = $1 AND p.zone = $2 AND p.name = $3)
                    AND name NOT IN (SELECT s.root FROM share s WHERE s.owner = $1 AND s.zone = $2 AND s.closed = 0)
                ORDER BY name LIMIT $4
                """, zone.key + [.text(parent), .integer(Int64(limit - found.count))], StoredRecord.init)
            if children.isEmpty {
                try connection.execute(
                    "DELETE FROM unsettled_parent WHERE owner = $1 AND zone = $2 AND name = $3", zone.key + [.text(parent)])
            }
            found += children
        }
        // Those of an ended share whose parents are gone, or follow: they come into the zone's scope once nothing is before them.
        return found.isEmpty ? try ended(in: zone, limit: limit, connection) : found
    }

    private static func ended(
        in zone: ZoneRow, limit: Int, _ connection: any SQLConnection
    ) throws -> [StoredRecord] {
        try connection.rows(
            """
            SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND share > 0 AND deleted = 0
                AND share IN (SELECT s.share FROM share s WHERE s.owner = $1 AND s.zone = $2 AND s.closed = 1)
            ORDER BY position LIMIT $3
            """, zone.key + [.integer(Int64(limit))], StoredRecord.init)
    }

    /// A serialized `UnsettledRecordsResponse`.
    static func answer(in zone: ZoneRow, limit: Int, _ connection: any SQLConnection) throws -> [UInt8] {
        var writer = WireWriter(capacity: 64 * 1024)
        var cited: Set<Int64> = []
        var count = 0
        let records = try next(in: zone, limit: limit, connection)
        for record in records {
            let message = try Sealkit_V1_UnsettledRecord.with {
                // Its values stay as they are: digests will do.
                $0.record = try Sealkit_V1_Record(serializedBytes: try record.serialized(desired: []))
                let statement = try Statement(canonicalBytes: record.statement)
                if let name = statement.parent, let parent = try StoredRecord.find(name, in: zone, connection) {
                    $0.parent = try Sealkit_V1_Record(serializedBytes: try parent.serialized(desired: [], in: zone, connection))
                    cited.insert(parent.share)
                }
            }
            let bytes: [UInt8] = try message.serializedBytes()
            guard count == 0 || writer.bytes.count + bytes.count <= answerBytes else { break }
            writer.blob(1, bytes)
            cited.insert(record.share)
            count += 1
        }
        for head in try zone.scopeHeads(citing: cited, connection) { writer.blob(2, try head.serializedBytes()) }
        writer.number(3, try count < records.count || exist(in: zone, connection) ? 1 : 0)
        return writer.bytes
    }
}
