package import Logging
package import SealStorage

/// The sums again, from what is there: to notice sums that have drifted. Each save keeps them up to date.
extension StorageUsage {
    private static let recountScript = """
        DELETE FROM storage_usage;
        INSERT INTO storage_usage (account, owner, zone, records, bytes) \(BilledTable.counted);
        INSERT INTO storage_usage (account, owner, zone, records, bytes)
            SELECT account, 0, 0, CAST(SUM(records) AS BIGINT), CAST(SUM(bytes) AS BIGINT) FROM storage_usage GROUP BY account;
        """

    /// The accounts of whose sums one differs from what is there. Reads every billed row.
    private static let drifted = """
        SELECT account FROM (
            SELECT account, owner, zone, records, bytes FROM storage_usage WHERE owner <> 0
            UNION ALL
            SELECT account, owner, zone, -records, -bytes FROM (\(BilledTable.counted)) now
        ) both_sides GROUP BY account, owner, zone HAVING SUM(records) <> 0 OR SUM(bytes) <> 0
        UNION ALL
        SELECT account FROM (
            SELECT account, records, bytes FROM storage_usage WHERE owner = 0
            UNION ALL
            SELECT account, -records, -bytes FROM storage_usage WHERE owner <> 0
        ) totals GROUP BY account HAVING SUM(records) <> 0 OR SUM(bytes) <> 0
        """

    /// Whether any sum differs from what is there. What holds nothing may have a row or not.
    static func hasDrifted(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("\(drifted) LIMIT 1")
    }

    /// How many accounts have a sum that differs from what is there.
    static func driftedAccounts(in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT COUNT(DISTINCT account) AS count FROM (\(drifted)) drifted") {
            try $0.int64("count")
        } ?? 0
    }

    package static func recountIfDrifted(_ turn: JobTurn, logger: Logger) async throws {
        // All servers come to it at the same moment: one of them reads all of it, for as long as that takes.
        try await turn.keep()
        guard try await turn.keeping({ try await turn.read { try hasDrifted(in: $0) } }) else { return }
        logger.warning("the sums of what is stored were wrong; they are counted again")
        try await turn.step(at: .everything) { try recount(in: $0) }
    }

    package static func recount(in connection: any SQLConnection) throws { try connection.runScript(recountScript) }
}
