package import SealStorage
import SealWire
import SwiftProtobuf

/// A zone's records in the order of their last statements, tombstones included, each once.
package enum RecordFeed {
    /// An answer ends once it is this large; a larger record goes alone.
    package static let pageBytes = 2 * 1024 * 1024

    /// The zone's own scope. What a page costs depends on what is in it: it is one range of an index.
    package static let query = """
        SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND position > $3 AND share = 0
        ORDER BY position LIMIT $4
        """

    /// With what lies in hierarchical shares: a range of two indexes.
    package static let queryOfEverything = """
        SELECT \(StoredRecord.columns) FROM record
        WHERE owner = $1 AND zone = $2 AND position > $3 AND share = 0
        UNION ALL SELECT \(StoredRecord.columns) FROM record
        WHERE owner = $1 AND zone = $2 AND position > $3 AND share > 0
        ORDER BY position LIMIT $4
        """

    /// Hands over the rows of a page as the zone's viewer has it, until one is not taken.
    /// - Parameter limit: how many it has at most.
    private static func rows(
        of zone: ZoneRow, after place: Int64, limit: Int, _ connection: any SQLConnection,
        _ take: (any SQLRow) throws -> Bool
    ) throws {
        let query: String
        var place = place
        switch zone.sight {
        case .ownScope: query = Self.query
        case .everything: query = zone.shares == 0 ? Self.query : queryOfEverything
        case .shares(let rows, _):
            let shares = rows.compactMap(\.share)
            guard !shares.isEmpty else { return }
            guard shares.count == 1 else {
                // Several are read one by one: in the order of places their records lie among those of all others.
                for place in try places(in: shares, of: zone, after: place, limit: limit, connection) {
                    var goesOn = false
                    let values: [SQLValue] = [.integer(place.share), .integer(place.position)]
                    try connection.stream(place.query, zone.key + values) { row in
                        goesOn = try take(row)
                        return goesOn
                    }
                    guard goesOn else { return }
                }
                return
            }
            query = Self.query(of: shares[0])
            place = max(place, shares[0].began)
        }
        try connection.stream(query, zone.key + [.integer(place), .integer(Int64(limit))], eachRow: take)
    }

    /// A serialized `RecordChangesResponse`.
    /// - Parameters:
    ///   - name: the zone's, for the reader.
    ///   - room: what the answer has left, in bytes. With a whole page left, one record comes however large it is.
    package static func page(
        of zone: ZoneRow, name: [UInt8], after place: ChangeToken.ZonePlace, limit: Int, desired: Set<String>?,
        room: Int = pageBytes,
        in connection: any SQLConnection
    ) throws -> [UInt8] {
        var writer = WireWriter(capacity: min(max(room, 0), 1024 * 1024) + 512)
        var last = place.position
        var count = 0
        var moreComing = false
        let visible = zone.visibleShares
        var cited: Set<Int64> = []
        try rows(of: zone, after: place.position, limit: limit + 1, connection) { row in
            guard count < limit else {
                moreComing = true
                return false
            }
            let isDeparture = try visible != nil && row.bool("is_departure")
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
