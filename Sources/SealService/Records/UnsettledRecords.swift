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

    // MARK: Noting

    /// What has this record as parent may be elsewhere than it.
    package static func note(below parent: String, in zone: ZoneRow, _ connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO unsettled_parent (owner, zone, name, settled) SELECT $1, $2, $3, '' WHERE EXISTS (
                SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND deleted = 0)
            ON CONFLICT (owner, zone, name) DO UPDATE SET settled = ''
            """, zone.key + [.text(parent)])
    }

    /// A share has ended, or begins again.
    static func noteEnd(of share: ZoneRow, _ connection: any SQLConnection) throws {
        try connection.execute(
            share.isClosed
                ? """
                INSERT INTO unsettled_share (owner, zone, share, settled) VALUES ($1, $2, $3, 0)
                ON CONFLICT (owner, zone, share) DO UPDATE SET settled = 0
                """
                : "DELETE FROM unsettled_share WHERE owner = $1 AND zone = $2 AND share = $3", share.scopeKey)
    }

    // MARK: Finding

    /// Whether there may be any.
    static func exist(in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        guard zone.shares > 0 else { return false }
        return try ["unsettled_parent", "unsettled_share"].contains {
            try connection.exists("SELECT 1 FROM \($0) WHERE owner = $1 AND zone = $2 LIMIT 1", zone.key)
        }
    }

    /// Whether an ended share has records still.
    static func isLeft(in share: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        let settled = try connection.first(
            "SELECT settled FROM unsettled_share WHERE owner = $1 AND zone = $2 AND share = $3", share.scopeKey
        ) { try $0.int64("settled") }
        guard let settled else { return false }
        return try connection.exists(
            """
            SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND share = $3 AND share > 0 AND position > $4 AND deleted = 0
            ORDER BY position LIMIT 1
            """, share.scopeKey + [.integer(settled)])
    }

    /// The next ones, parents before their children. What is found to be in place is not looked at again.
    package static func next(in zone: ZoneRow, limit: Int, _ connection: any SQLConnection) throws -> [StoredRecord] {
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
        let parents = try connection.rows(
            "SELECT name, settled FROM unsettled_parent WHERE owner = $1 AND zone = $2 ORDER BY name LIMIT $3",
            zone.key + [.integer(Int64(budget.rows))]
        ) { (name: try $0.text("name"), settled: try $0.text("settled")) }
        for (parent, settled) in parents {
            guard found.count < limit, !budget.isSpent else { break }
            budget.rows -= 1
            let place = try connection.first(
                "SELECT share FROM record WHERE owner = $1 AND zone = $2 AND name = $3", zone.key + [.text(parent)]
            ) { try $0.int64("share") }
            let children = try connection.rows(
                """
                SELECT name, share FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND name > $4 AND deleted = 0
                ORDER BY name LIMIT $5
                """, zone.key + [.text(parent), .text(settled), .integer(Int64(budget.rows + 1))]
            ) { (name: try $0.text("name"), share: try $0.int64("share")) }
            var last = settled
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
            if found.count == before, last == children.last?.name ?? settled {
                try connection.execute(
                    "DELETE FROM unsettled_parent WHERE owner = $1 AND zone = $2 AND name = $3",
                    zone.key + [.text(parent)])
            } else if last != settled {
                try connection.execute(
                    "UPDATE unsettled_parent SET settled = $4 WHERE owner = $1 AND zone = $2 AND name = $3",
                    zone.key + [.text(parent), .text(last)])
            }
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
        let shares = try connection.rows(
            "SELECT share, settled FROM unsettled_share WHERE owner = $1 AND zone = $2 ORDER BY share LIMIT $3",
            zone.key + [.integer(Int64(budget.rows))]
        ) { (number: try $0.int64("share"), settled: try $0.int64("settled")) }
        for (number, settled) in shares {
            guard found.count < limit, !budget.isSpent else { break }
            budget.rows -= 1
            let records = try connection.rows(
                """
                SELECT name, deleted, position FROM record
                WHERE owner = $1 AND zone = $2 AND share = $3 AND share > 0 AND position > $4 ORDER BY position LIMIT $5
                """, zone.key + [.integer(number), .integer(settled), .integer(Int64(budget.rows + 1))]
            ) { (name: try $0.text("name"), isDeleted: try $0.bool("deleted"), position: try $0.int64("position")) }
            var last = settled
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
            if found.count == before, last == records.last?.position ?? settled {
                try connection.execute(
                    "DELETE FROM unsettled_share WHERE owner = $1 AND zone = $2 AND share = $3",
                    zone.key + [.integer(number)])
            } else if last != settled {
                try connection.execute(
                    "UPDATE unsettled_share SET settled = $4 WHERE owner = $1 AND zone = $2 AND share = $3",
                    zone.key + [.integer(number), .integer(last)])
            }
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
