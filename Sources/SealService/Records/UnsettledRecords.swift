import SealStatements
package import SealStorage
import SealWire
import SwiftProtobuf

/// Records that are not where they belong: after their parent came into another scope, or their share ended. They are
/// withheld from participants of where they come into, and the owner, who alone can sign that, is given them to move.
package enum UnsettledRecords {
    /// An answer has at most this many bytes; a larger record goes alone.
    private static let answerBytes = RecordFeed.pageBytes

    /// What one request may look at: where it comes to an end, the next one goes on.
    struct Budget {
        var rows = 4_000
        /// Of the records that it takes; one may be larger.
        var bytes = 2 * RecordFeed.pageBytes

        var isSpent: Bool { rows <= 0 || bytes <= 0 }
    }

    /// Whether there may be any.
    static func exist(in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        guard zone.shares > 0 else { return false }
        return try UnsettledParents.areThere(in: zone, connection) || UnsettledShares.areThere(in: zone, connection)
    }

    /// The next ones, parents before their children. What is found to be in place is not looked at again.
    private static func next(in zone: ZoneRow, limit: Int, _ connection: any SQLConnection) throws -> [StoredRecord] {
        var budget = Budget()
        let found = try belowParents(in: zone, limit: limit, &budget, connection)
        // Those of an ended share whose parents are gone, or follow: they come into the zone's scope once nothing is
        // before them.
        return found.isEmpty && !budget.isSpent ? try ended(in: zone, limit: limit, &budget, connection) : found
    }

    private static func belowParents(
        in zone: ZoneRow, limit: Int, _ budget: inout Budget, _ connection: any SQLConnection
    ) throws -> [StoredRecord] {
        var found: [StoredRecord] = []
        for parent in try UnsettledParents.first(budget.rows, in: zone, connection) {
            guard found.count < limit, !budget.isSpent else { break }
            budget.rows -= 1
            let place = try connection.first(
                "SELECT share FROM record WHERE owner = $1 AND zone = $2 AND name = $3",
                zone.key + [.text(parent.name)]
            ) { try $0.int64("share") }
            let children = try connection.rows(
                """
                SELECT name, share FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND name > $4 AND deleted = 0
                ORDER BY name LIMIT $5
                """, zone.key + [.text(parent.name), .text(parent.settled), .integer(Int64(budget.rows + 1))]
            ) { (name: try $0.text("name"), share: try $0.int64("share")) }
            var last = parent.settled
            let before = found.count
            for child in children.prefix(budget.rows) {
                guard found.count < limit, budget.bytes > 0 else { break }
                budget.rows -= 1
                // A root's own parent counts for nothing as long as its share lasts.
                if try child.share == place || isRoot(child.name, in: zone, connection) {
                    if found.count == before { last = child.name }
                } else if let record = try StoredRecord.find(child.name, in: zone, connection) {
                    found.append(record)
                    budget.bytes -= record.fields.count
                }
            }
            let areAll = found.count == before && last == children.last?.name ?? parent.settled
            try UnsettledParents.settle(parent, upTo: areAll ? nil : last, in: zone, connection)
        }
        return found
    }

    private static func isRoot(_ name: String, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM share WHERE owner = $1 AND zone = $2 AND root = $3 AND closed = 0", zone.key + [.text(name)])
    }

    private static func ended(
        in zone: ZoneRow, limit: Int, _ budget: inout Budget, _ connection: any SQLConnection
    ) throws -> [StoredRecord] {
        var found: [StoredRecord] = []
        for share in try UnsettledShares.first(budget.rows, in: zone, connection) {
            guard found.count < limit, !budget.isSpent else { break }
            budget.rows -= 1
            let records = try connection.rows(
                """
                SELECT name, deleted, position FROM record
                WHERE owner = $1 AND zone = $2 AND share = $3 AND share > 0 AND position > $4 ORDER BY position LIMIT $5
                """, zone.key + [.integer(share.number), .integer(share.settled), .integer(Int64(budget.rows + 1))]
            ) { (name: try $0.text("name"), isDeleted: try $0.bool("deleted"), position: try $0.int64("position")) }
            var last = share.settled
            let before = found.count
            for record in records.prefix(budget.rows) {
                guard found.count < limit, budget.bytes > 0 else { break }
                budget.rows -= 1
                if record.isDeleted {
                    if found.count == before { last = record.position }
                } else if let record = try StoredRecord.find(record.name, in: zone, connection) {
                    found.append(record)
                    budget.bytes -= record.fields.count
                }
            }
            let areAll = found.count == before && last == records.last?.position ?? share.settled
            try UnsettledShares.settle(share, upTo: areAll ? nil : last, in: zone, connection)
        }
        return found
    }

    /// A serialized `UnsettledRecordsResponse`.
    package static func answer(in zone: ZoneRow, limit: Int, _ connection: any SQLConnection) throws -> [UInt8] {
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
                    $0.parent = try Sealkit_V1_Record(
                        serializedBytes: try parent.serialized(desired: [], in: zone, connection))
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
