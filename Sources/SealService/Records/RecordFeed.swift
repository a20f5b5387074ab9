package import SealStorage
import SealWire
import SwiftProtobuf

/// A zone's records in the order of their last statements, tombstones included, each once.
package enum RecordFeed {
    /// An answer ends once it is this large; a larger record goes alone.
    package static let pageBytes = 2 * 1024 * 1024

    /// What a page costs depends on what is in it: it is one range of an index.
    package static let query = """
        SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND position > $3
        ORDER BY position LIMIT $4
        """

    private static let queryOfOwnScope = """
        SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND position > $3 AND share = 0
        ORDER BY position LIMIT $4
        """

    /// As the zone's viewer has it.
    private static func query(for zone: ZoneRow) -> String {
        if case .ownScope = zone.sight { return queryOfOwnScope }
        return zone.visibleShares.map { query(of: $0) } ?? query
    }

    /// A serialized `RecordChangesResponse`.
    /// - Parameters:
    ///   - name: the zone's, for the reader.
    ///   - room: what the answer has left, in bytes. With a whole page left, one record comes however large it is.
    package static func page(
        of zone: ZoneRow, name: [UInt8], after place: ChangeToken.ZonePlace, limit: Int, desired: Set<String>?, room: Int = pageBytes,
        in connection: any SQLConnection
    ) throws -> [UInt8] {
        var writer = WireWriter(capacity: min(max(room, 0), 1024 * 1024) + 512)
        var last = place.position
        var count = 0
        var moreComing = false
        let visible = zone.visibleShares
        var cited: Set<Int64> = []
        try connection.run(query(for: zone), zone.key + [.integer(place.position), .integer(Int64(limit + 1))]) { row in
            guard count < limit else {
                moreComing = true
                return false
            }
            let isDeparture = try visible != nil && row.bool(StoredRecord.columnCount)
            let record = try isDeparture ? StoredRecord.departed(from: row) : StoredRecord(row)
            let bytes = try record.serialized(desired: desired, in: zone, connection)
            guard (count == 0 && room >= pageBytes) || writer.bytes.count + bytes.count <= room else {
                moreComing = true
                return false
            }
            writer.blob(1, bytes)
            cited.insert(record.share)
            last = record.position
            count += 1
            return true
        }
        // At the end, the token stands where the feed does, roster entries included.
        let reached = ChangeToken.ZonePlace(
            position: moreComing ? last : zone.position, horizon: place.horizon, began: place.began, run: place.run)
        writer.blob(2, [UInt8](ChangeToken.zone(name: name, incarnation: zone.incarnation, reached).data))
        writer.number(3, moreComing ? 1 : 0)
        for head in try zone.scopeHeads(citing: cited, connection) { writer.blob(4, try head.serializedBytes()) }
        if visible == nil, try UnsettledRecords.exist(in: zone, connection) { writer.number(100, 1) }
        return writer.bytes
    }
}
