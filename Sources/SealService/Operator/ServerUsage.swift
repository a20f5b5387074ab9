package import SealStorage
package import SealWire
import SwiftProtobuf

/// How much the server stores, or one account: sums, and no names of zones or records.
package struct ServerUsage: Sendable {
    private let accounts: OperatedAccounts

    /// Of the containers' environments, those that an answer has: anybody may make containers.
    private let mostContainers: Int

    package init(accounts: OperatedAccounts, mostContainers: Int = 1_000) {
        (self.accounts, self.mostContainers) = (accounts, mostContainers)
    }

    /// From a snapshot. Rows and assets are counted one by one: of the whole server that reads an index of each table.
    /// - Throws: `invalidArguments`, `unknownItem`.
    package func run(
        _ message: Sealkit_V1_ServerUsageRequest, in connection: any SQLConnection
    ) throws -> Sealkit_V1_ServerUsageResponse {
        guard message.account.isEmpty else {
            let id = try AccountHandle(text: message.account, addresses: accounts.addresses).find(in: connection)
            return try ofAccount(id, in: connection)
        }
        var usage = try Self.totals(in: connection)
        try addContainers(of: nil, to: &usage, in: connection)
        usage.publicBytes = UInt64(
            clamping: try connection.first(
                """
                SELECT COALESCE(CAST(SUM(bytes) AS BIGINT), 0) AS bytes FROM storage_usage
                WHERE account < 0 AND owner = 0
                """
            ) { try $0.int64("bytes") } ?? 0)
        try count("storage_usage.owner = 0", zones: "1 = 1", rows: nil, [], into: &usage, in: connection)
        return usage
    }

    /// Accounts and bytes of the whole server, without what is counted one by one.
    package static func totals(in connection: any SQLConnection) throws -> Sealkit_V1_ServerUsageResponse {
        var usage = Sealkit_V1_ServerUsageResponse()
        let counted = try connection.first(
            """
            SELECT COUNT(*) AS accounts, COUNT(a.suspended) AS suspended FROM account a
            WHERE a.id > 0 AND \(OperatedAccounts.isLiving)
            """
        ) { (accounts: try $0.int64("accounts"), suspended: try $0.int64("suspended")) }
        usage.accounts = UInt64(clamping: counted?.accounts ?? 0)
        usage.suspended = UInt64(clamping: counted?.suspended ?? 0)
        usage.bytes = UInt64(
            clamping: try connection.first(
                "SELECT COALESCE(CAST(SUM(bytes) AS BIGINT), 0) AS bytes FROM storage_usage WHERE owner = 0"
            ) { try $0.int64("bytes") } ?? 0)
        return usage
    }

    private func ofAccount(_ id: Int64, in connection: any SQLConnection) throws -> Sealkit_V1_ServerUsageResponse {
        var usage = Sealkit_V1_ServerUsageResponse()
        usage.account = try accounts.account(id, in: connection)
        let owned = "IN (SELECT id FROM identity WHERE account = $1)"
        try count(
            "storage_usage.owner = 0 AND storage_usage.account = $1", zones: "owner \(owned)",
            // What an account has beside its identities lies under its own number.
            rows: "IN (SELECT id FROM identity WHERE account = $1 UNION ALL SELECT $1)", [.integer(id)], into: &usage,
            in: connection)
        try addContainers(of: id, to: &usage, in: connection)
        return usage
    }

    private func addContainers(
        of account: Int64?, to usage: inout Sealkit_V1_ServerUsageResponse, in connection: any SQLConnection
    ) throws {
        usage.containers = try StorageUsage.containers(of: account, largest: mostContainers, in: connection)
        guard usage.containers.count == mostContainers else { return }
        let count = try StorageUsage.containerCount(of: account, in: connection)
        usage.moreContainers = UInt64(clamping: count - Int64(mostContainers))
    }

    /// - Parameters:
    ///   - sums: which rows of the sums.
    ///   - zones: whose zones and files.
    ///   - rows: which holders' billed rows; nil for all.
    private func count(
        _ sums: String, zones: String, rows: String?, _ values: [SQLValue],
        into usage: inout Sealkit_V1_ServerUsageResponse, in connection: any SQLConnection
    ) throws {
        let total = try connection.first(
            """
            SELECT COALESCE(CAST(SUM(records) AS BIGINT), 0) AS records, COALESCE(CAST(SUM(bytes) AS BIGINT), 0) AS bytes
            FROM storage_usage WHERE \(sums)
            """, values
        ) { (records: try $0.int64("records"), bytes: try $0.int64("bytes")) }
        usage.records = UInt64(clamping: total?.records ?? 0)
        usage.bytes = UInt64(clamping: total?.bytes ?? 0)
        usage.zones = UInt64(
            clamping: try connection.first(
                "SELECT COUNT(*) AS count FROM zone WHERE closed = 0 AND \(zones)", values
            ) { try $0.int64("count") } ?? 0)
        let assets = try connection.first(
            """
            SELECT COUNT(*) AS count, COALESCE(CAST(SUM(size) AS BIGINT), 0) AS bytes
            FROM blob WHERE size IS NOT NULL AND \(zones)
            """, values
        ) { (count: try $0.int64("count"), bytes: try $0.int64("bytes")) }
        usage.assets = UInt64(clamping: assets?.count ?? 0)
        usage.assetBytes = UInt64(clamping: assets?.bytes ?? 0)
        let counts = BilledTable.all.map { table in
            "SELECT COUNT(*) AS count FROM \(table.name)" + (rows.map { " WHERE \(table.holder) \($0)" } ?? "")
        }
        usage.rows = UInt64(
            clamping: try connection.first(
                "SELECT CAST(SUM(count) AS BIGINT) AS count FROM (\(counts.joined(separator: " UNION ALL "))) AS counts",
                values
            ) { try $0.int64("count") } ?? 0)
    }
}
