package import SealPrimitives
import SealStatements
package import SealStorage
import SealWire

/// Which blobs there are and what refers to them, in the caller's transaction. A blob belongs to one field of one
/// record, or to nobody yet: then it is staged.
package enum Blobs {
    /// How long a staged blob waits for its record: a day, in microseconds.
    static let stagedFor: Int64 = 86_400_000_000

    package struct Row: Sendable {
        package let uploader: Int64
        /// Its name in the blob store.
        package let stored: BlobID
        /// Nil while it uploads.
        package let size: Int64?
        package let record: String?
        package let field: String?
        /// Of the tree over its chunks.
        package let root: Digest?
    }

    package static func find(_ id: String, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Row? {
        try connection.first(
            "SELECT uploader, stored, size, record, field, root FROM blob WHERE owner = $1 AND zone = $2 AND id = $3",
            zone.key + [.text(id)]
        ) { row in
            guard let stored = BlobID(try row.text("stored")) else {
                throw StorageError.unexpectedType(column: "stored", wanted: "a blob id")
            }
            return Row(
                uploader: try row.int64("uploader"), stored: stored, size: try row.optionalInt64("size"),
                record: try row.optionalText("record"), field: try row.optionalText("field"),
                root: try row.optionalBytes("root").map { try Digest($0) })
        }
    }

    /// Takes the id for an upload that begins.
    /// - Parameter content: bytes of its chunks, where it comes in parts.
    /// - Throws: `serverRejectedRequest` when it is taken, `quotaExceeded` when the account has too much staged.
    package static func begin(
        _ id: String, stored: BlobID, announced: Int64, content: Int64?, in zone: ZoneRow, by caller: Caller,
        limits: AbuseLimits,
        quotas: Quotas, now: Int64, _ connection: any SQLConnection
    ) throws {
        try checkStaged(adding: announced, by: caller, limits, connection)
        // From now on it counts as much as was announced.
        try StorageUsage.checkRoom(
            for: announced + Billing.rowOverhead, on: try StorageUsage.Bill(zone, caller: caller, in: connection),
            quotas: quotas,
            connection)
        let count = try connection.execute(
            """
            INSERT INTO blob (owner, zone, id, uploader, stored, created, announced, content)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (owner, zone, id) DO NOTHING
            """,
            zone.key + [
                .text(id), .integer(caller.id), .text(stored.description), .integer(now), .integer(announced),
                content.map { .integer($0) } ?? .null,
            ])
        guard count == 1 else {
            throw ServerError(
                .serverRejectedRequest, "An asset with this id was uploaded already.",
                remedy: "Make 16 random bytes for each upload.")
        }
    }

    /// Over all containers of the account, uploads under way included.
    private static func checkStaged(
        adding announced: Int64, by caller: Caller, _ limits: AbuseLimits, _ connection: any SQLConnection
    ) throws {
        let staged = try connection.first(
            """
            SELECT COUNT(*) AS count, CAST(COALESCE(SUM(announced), 0) AS BIGINT) AS bytes FROM blob
            WHERE uploader IN (SELECT id FROM identity WHERE account = $1) AND record IS NULL
            """, [.integer(caller.accountID)]
        ) { (count: Int(try $0.int64("count")), bytes: try $0.int64("bytes")) }
        guard let staged, staged.count > 0 else { return }
        let (bytes, isTooLarge) = staged.bytes.addingReportingOverflow(announced)
        guard staged.count < limits.stagedBlobsPerAccount, !isTooLarge, bytes <= limits.stagedBytesPerAccount else {
            throw ServerError(
                .quotaExceeded, "The account has uploaded too much that no record refers to.",
                remedy:
                    "Save the records of what is uploaded, then go on; what no record refers to is deleted after a day."
            )
        }
    }

    /// - Returns: false when the row is gone, with its zone.
    package static func finish(
        _ id: String, stored: BlobID, size: Int64, root: Digest, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> Bool {
        try connection.execute(
            "UPDATE blob SET size = $4, root = $6 WHERE owner = $1 AND zone = $2 AND id = $3 AND stored = $5",
            zone.key + [.text(id), .integer(size), .text(stored.description), .blob(root.bytes)]) == 1
    }

    /// Takes it back with its file, under whichever name that is.
    package static func discard(
        _ id: String, stored: BlobID, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws {
        try connection.execute(
            "DELETE FROM blob WHERE owner = $1 AND zone = $2 AND id = $3 AND stored = $4",
            zone.key + [.text(id), .text(stored.description)])
        try discard(stored.description, in: connection)
    }

    /// Of garbage whose file is gone.
    package static func forget(_ stored: BlobID, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM blob_garbage WHERE stored = $1", [.text(stored.description)])
    }

    /// Gives a file to the garbage that its row does not name any more.
    /// - Returns: whether it does.
    package static func discardUnknown(
        _ id: String, stored: BlobID, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> Bool {
        guard try find(id, in: zone, connection)?.stored != stored else { return false }
        try discard(stored.description, in: connection)
        return true
    }

    /// Gives a saved record its blobs, and those that it does not refer to any more to the garbage.
    /// - Returns: whether there is garbage now.
    static func attach(
        _ assets: [AssetClaim], to record: String, hadAssets: Bool, zone: ZoneRow,
        in connection: any SQLConnection
    ) throws -> Bool {
        var leftGarbage = false
        if hadAssets {
            let before = try connection.rows(
                "SELECT id, stored FROM blob WHERE owner = $1 AND zone = $2 AND record = $3", zone.key + [.text(record)]
            ) { (id: try $0.text("id"), stored: try $0.text("stored")) }
            for blob in before where !assets.contains(where: { $0.blob == blob.id }) {
                try discard(blob.stored, in: connection)
                try connection.execute(
                    "DELETE FROM blob WHERE owner = $1 AND zone = $2 AND id = $3", zone.key + [.text(blob.id)])
                leftGarbage = true
            }
        }
        for asset in assets {
            // What the record had before stays as it is.
            try connection.execute(
                "UPDATE blob SET record = $4, field = $5 WHERE owner = $1 AND zone = $2 AND id = $3 AND record IS NULL",
                zone.key + [.text(asset.blob), .text(record), .text(asset.field)])
        }
        return leftGarbage
    }

    /// Some of those of a zone that has ended, whose parts have gone before them.
    /// - Parameter zone: `ZoneRow.key`.
    /// - Returns: how many there were.
    package static func discard(_ count: Int, of zone: [SQLValue], in connection: any SQLConnection) throws -> Int {
        let some = "SELECT owner, zone, id FROM blob WHERE owner = $1 AND zone = $2 ORDER BY id LIMIT $3"
        let values = zone + [.integer(Int64(count))]
        try connection.execute(
            """
            INSERT INTO blob_garbage (stored) SELECT stored FROM blob WHERE (owner, zone, id) IN (\(some))
            ON CONFLICT (stored) DO NOTHING
            """, values)
        return try connection.execute("DELETE FROM blob WHERE (owner, zone, id) IN (\(some))", values)
    }

    /// Uploads that were under way when a backup was made: their files are not in it.
    package static func dropUnfinished(in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM blob WHERE size IS NULL")
    }

    /// A zone with the account that pays for it.
    struct PaidZone: Hashable {
        let owner: Int64
        let number: Int64
        let account: Int64
    }

    /// The ids of some of the staged blobs that no record came for, uploads that a crash cut short, and open ones that
    /// get no part any more, by their zones.
    static func stale(now: Int64, in connection: any SQLConnection) throws -> [PaidZone: [String]] {
        let stale = try connection.rows(
            """
            SELECT b.owner, b.zone, b.id, \(BilledTable.account(of: "b.owner")) AS account
            FROM blob b WHERE b.record IS NULL AND b.created < $1 ORDER BY b.created, b.owner, b.zone, b.id LIMIT $2
            """, [.integer(now - stagedFor), .integer(sweptAtOnce)]
        ) {
            (
                zone: PaidZone(
                    owner: try $0.int64("owner"), number: try $0.int64("zone"), account: try $0.int64("account")),
                id: try $0.text("id")
            )
        }
        return Dictionary(grouping: stale, by: \.zone).mapValues { $0.map(\.id) }
    }

    /// Gives those of them to the garbage that nobody has touched since, at home in their zone: else a save could give
    /// one to a record just then.
    static func sweepStaged(
        _ ids: [String], of zone: PaidZone, now: Int64, in connection: any SQLConnection
    ) throws {
        let stale = "owner = $1 AND zone = $2 AND id = $3 AND record IS NULL AND created < $4"
        for id in ids {
            let values: [SQLValue] = [
                .integer(zone.owner), .integer(zone.number), .text(id), .integer(now - stagedFor),
            ]
            try connection.execute(
                """
                INSERT INTO blob_garbage (stored) SELECT stored FROM blob WHERE \(stale)
                ON CONFLICT (stored) DO NOTHING
                """, values)
            try connection.execute("DELETE FROM blob WHERE \(stale)", values)
        }
    }

    /// Each may take the rows of two thousand parts along.
    private static let sweptAtOnce: Int64 = 50

    private static func discard(_ stored: String, in connection: any SQLConnection) throws {
        try connection.execute(
            "INSERT INTO blob_garbage (stored) VALUES ($1) ON CONFLICT (stored) DO NOTHING", [.text(stored)])
    }
}
