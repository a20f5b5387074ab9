import SealStatements
package import SealStorage
package import SealWire

/// How much is stored, kept up to date in the transaction of each change: a row for each zone, one for what a user or
/// an account has beside its zones, and one for each account's total.
///
/// Everything is billed to the zone's owner, whoever wrote it, or to the account that it is kept for (`BilledTable`):
/// as long as a row is there it counts, whatever it says. Triggers follow every table but the hottest: what happens to
/// records, a save reports for all of them at once, and with it what is kept of its answer.
package enum StorageUsage {
    /// Whose bill it is, and how that is to be judged.
    package struct Bill: Sendable {
        /// The account, or the negative owner of what belongs to no account.
        package let account: Int64
        let isOwner: Bool

        var isPublic: Bool { account < 0 }

        package init(_ zone: ZoneRow, caller: Caller, in connection: any SQLConnection) throws {
            isOwner = caller.id == zone.owner
            account = isOwner ? caller.accountID : try StorageUsage.account(of: zone, in: connection)
        }

        /// An account's own.
        package init(account: Int64) {
            self.account = account
            isOwner = true
        }
    }

    static func account(of zone: ZoneRow, in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT \(BilledTable.account(of: "$1")) AS account", [.integer(zone.owner)]) {
            try $0.int64("account")
        }
            ?? zone.owner
    }

    /// Adds what a batch has changed: one statement, and none where sums stay the same.
    /// - Parameters:
    ///   - grows: something else of the request adds to the bill, and was stored already.
    ///   - billed: what was billed before records changed their scopes; nil where none does. What that leaves for those
    ///     who do not see them any more may come to twice the quota, as it may be what takes them out of somebody's
    ///     sight.
    ///   - kept: bytes that the request's answer adds beside the zone, where the bill is the caller's own. Nothing is
    ///     refused for them: an answer goes after a day.
    /// - Throws: `quotaExceeded` for what makes more of something of which there would be too much then.
    package static func follow(
        _ changes: [RecordChange], in zone: ZoneRow, by caller: Caller, grows: Bool, billed: Int64?, kept: Int64,
        quotas: Quotas,
        _ connection: any SQLConnection
    ) throws {
        var records: Int64 = 0
        var bytes: Int64 = 0
        for change in changes {
            if change.kind != .deleted { records += 1 }
            if change.kind != .created { records -= 1 }
            // A tombstone keeps the record's row.
            if change.isNewRow { bytes += Billing.recordOverhead }
            bytes += Int64(change.fields.count - change.formerBytes)
        }
        guard records != 0 || bytes != 0 || kept != 0 || grows || billed != nil else { return }
        let bill = try Bill(zone, caller: caller, in: connection)
        let sums = try connection.rows(
            """
            INSERT INTO storage_usage (account, owner, zone, records, bytes)
            VALUES ($1, 0, 0, $4, $5 + $6), ($1, $2, $3, $4, $5)\(kept == 0 ? "" : ", ($1, $1, 0, 0, $6)")
            ON CONFLICT (account, owner, zone) DO UPDATE
            SET records = storage_usage.records + excluded.records, bytes = storage_usage.bytes + excluded.bytes
            RETURNING owner, zone, records, bytes,
                CASE WHEN owner = 0 THEN (SELECT storage_quota FROM account WHERE id = $1) END AS quota
            """, [.integer(bill.account)] + zone.key + [.integer(records), .integer(bytes), .integer(kept)]
        ) {
            (
                owner: try $0.int64("owner"), zone: try $0.int64("zone"), records: try $0.int64("records"),
                bytes: try $0.int64("bytes"), quota: try $0.optionalInt64("quota")
            )
        }
        for sum in sums {
            if sum.owner == 0 {
                let total = sum.bytes - kept
                let isMoreByMoves = billed.map { total > $0 } ?? false
                guard bytes > 0 || grows || isMoreByMoves else { continue }
                let quotas = quotas.with(own: sum.quota)
                try (bytes > 0 || grows ? quotas : quotas.doubled)
                    .checkStorage(total, isPublic: bill.isPublic, isOwner: bill.isOwner)
            } else if records > 0, sum.owner == zone.owner, sum.zone == zone.number {
                try quotas.checkRecords(sum.records, isOwner: bill.isOwner)
            }
        }
    }

    /// Adds what an account has beside its zones, and what no trigger reports.
    package static func add(_ bytes: Int64, to account: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO storage_usage (account, owner, zone, records, bytes) VALUES ($1, 0, 0, 0, $2), ($1, $1, 0, 0, $2)
            ON CONFLICT (account, owner, zone) DO UPDATE SET bytes = storage_usage.bytes + excluded.bytes
            """, [.integer(account), .integer(bytes)])
    }

    /// Whether so much may be added: what would not fit is refused before anything of it is stored.
    /// - Throws: `quotaExceeded`.
    package static func checkRoom(
        for bytes: Int64, on bill: Bill, quotas: Quotas, _ connection: any SQLConnection
    ) throws {
        let standing = try standing(of: bill.account, in: connection)
        let (sum, isTooLarge) = standing.bytes.addingReportingOverflow(bytes)
        try quotas.with(own: standing.quota).checkStorage(
            isTooLarge ? Int64.max : sum, isPublic: bill.isPublic, isOwner: bill.isOwner)
    }

    /// Does what may add to a bill, and takes it back where it did and there is too much then. What frees room goes
    /// through.
    /// - Throws: `quotaExceeded`, and what `body` throws.
    package static func within<T>(
        _ quotas: Quotas, of bill: Bill, _ connection: any SQLConnection, _ body: () throws -> T
    ) throws -> T {
        let before = try standing(of: bill.account, in: connection)
        let result = try body()
        let after = try total(of: bill.account, in: connection)?.bytes ?? 0
        if after > before.bytes {
            try quotas.with(own: before.quota)
                .checkStorage(after, isPublic: bill.isPublic, isOwner: bill.isOwner)
        }
        return result
    }

    /// An account is closed: what its identities have goes over to the number that they have from now on. To be called
    /// once they have it.
    package static func close(_ account: Int64, in connection: any SQLConnection) throws {
        let both: [SQLValue] = [.integer(account), .integer(-account)]
        try connection.execute(
            """
            UPDATE storage_usage SET account = $2
            WHERE account = $1 AND owner IN (SELECT id FROM identity WHERE account = $2)
            """, both)
        for number in both {
            try connection.execute("DELETE FROM storage_usage WHERE account = $1 AND owner = 0", [number])
            try connection.execute(
                """
                INSERT INTO storage_usage (account, owner, zone, records, bytes)
                SELECT account, 0, 0, CAST(SUM(records) AS BIGINT), CAST(SUM(bytes) AS BIGINT)
                FROM storage_usage WHERE account = $1 GROUP BY account
                """, [number])
        }
    }

    package static func total(
        of account: Int64, in connection: any SQLConnection
    ) throws -> (records: Int64, bytes: Int64)? {
        try connection.first(
            "SELECT records, bytes FROM storage_usage WHERE account = $1 AND owner = 0 AND zone = 0",
            [.integer(account)]
        ) { (records: try $0.int64("records"), bytes: try $0.int64("bytes")) }
    }

    /// How much an account stores, and the quota that it has of its own: 0 for no limit, nil for the server's.
    package static func standing(
        of account: Int64, in connection: any SQLConnection
    ) throws -> (bytes: Int64, quota: Int64?) {
        try connection.first(
            """
            SELECT
                COALESCE((SELECT bytes FROM storage_usage WHERE account = $1 AND owner = 0 AND zone = 0), 0) AS bytes,
                (SELECT storage_quota FROM account WHERE id = $1) AS quota
            """, [.integer(account)]
        ) { (bytes: try $0.int64("bytes"), quota: try $0.optionalInt64("quota")) } ?? (bytes: 0, quota: nil)
    }

    /// Zones with what is stored in them, as `z` and `u`.
    private static func zones(of account: Int64?) -> String {
        """
        FROM storage_usage u JOIN zone z ON z.owner = u.owner AND z.zone = u.zone
        WHERE \(account == nil ? "" : "u.account = $1 AND ")u.owner <> 0
        """
    }

    /// How many environments of containers there are with something in them.
    /// - Parameter account: nil for all.
    package static func containerCount(of account: Int64?, in connection: any SQLConnection) throws -> Int64 {
        try connection.first(
            """
            SELECT COUNT(*) AS count FROM (
                SELECT DISTINCT z.container, z.environment \(zones(of: account))) AS found
            """, account.map { [.integer($0)] } ?? []
        ) { try $0.int64("count") } ?? 0
    }

    /// By name.
    /// - Parameters:
    ///   - account: nil for all.
    ///   - container: nil for all.
    ///   - largest: how many of them, those with the most bytes, which come by size; nil for all.
    package static func containers(
        of account: Int64?, only container: String? = nil, largest: Int? = nil, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_ContainerUsage] {
        let values: [SQLValue] = (account.map { [.integer($0)] } ?? []) + (container.map { [.text($0)] } ?? [])
        let order = (largest == nil ? "" : "bytes DESC, ") + "z.container, z.environment"
        return try connection.rows(
            """
            SELECT z.container, z.environment, SUM(CASE WHEN z.closed = 0 THEN 1 ELSE 0 END) AS zones,
                CAST(SUM(u.records) AS BIGINT) AS records, CAST(SUM(u.bytes) AS BIGINT) AS bytes
            \(zones(of: account))\(container == nil ? "" : " AND z.container = $\(values.count)")
            GROUP BY z.container, z.environment ORDER BY \(order)\(largest.map { " LIMIT \($0)" } ?? "")
            """, values
        ) { row in
            var usage = Sealkit_V1_ContainerUsage()
            usage.container = try row.text("container")
            usage.environment = try row.environment("environment").name
            usage.zones = UInt64(clamping: try row.int64("zones"))
            usage.records = UInt64(clamping: try row.int64("records"))
            usage.bytes = UInt64(clamping: try row.int64("bytes"))
            return usage
        }
    }
}
