import SealWire
import SwiftProtobuf

/// A zone's records in the order of their last statements, tombstones included, each once.
enum RecordFeed {
    /// An answer ends once it is this large; a larger record goes alone.
    static let pageBytes = 2 * 1024 * 1024

    /// A serialized `RecordChangesResponse`.
    static func page(
        of zone: ZoneRow, after position: Int64, limit: Int, desired: Set<String>?, in connection: any SQLConnection
    ) throws -> [UInt8] {
        var writer = WireWriter(capacity: 1024 * 1024)
        var last = position
        var count = 0
        var moreComing = false
        try connection.run(
            """
            SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND position > $3
            ORDER BY position LIMIT $4
            """, zone.key + [.integer(position), .integer(Int64(limit + 1))]
        ) { row in
            guard count < limit else {
                moreComing = true
                return false
            }
            let record = try StoredRecord(row)
            let bytes = try record.serialized(desired: desired)
            guard count == 0 || writer.bytes.count + bytes.count <= pageBytes else {
                moreComing = true
                return false
            }
            writer.blob(1, bytes)
            last = record.position
            count += 1
            return true
        }
        // At the end, the token stands where the feed does, roster entries included.
        let reached = moreComing ? last : zone.position
        writer.blob(
            2,
            [UInt8](ChangeToken.zone(owner: zone.owner, zone: zone.zone, incarnation: zone.incarnation, position: reached).data))
        writer.number(3, moreComing ? 1 : 0)
        writer.blob(4, try zone.scopeHead.serializedBytes())
        return writer.bytes
    }
}
