import SealStatements
import SealWire

/// How much is stored, kept up to date inside each save's transaction: a row for each zone and one for each account's total.
///
/// Everything is billed to the zone's owner, whoever wrote it. What counts of a record are its fields as they are stored,
/// plus a fixed amount for its statement, proof and place; tombstones are free; of an asset, its sealed bytes.
enum StorageUsage {
    /// Bytes that each live record counts beside its fields.
    static let recordOverhead: Int64 = 1_024

    /// Keyed by account, whose quota it is; within it by owner and zone. Owner 0 is the account's total.
    static let tables = """
        CREATE TABLE storage_usage (
            account BIGINT NOT NULL,
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            records BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            PRIMARY KEY (account, owner, zone)
        );
        """

    /// Whose bill it is, and how that is to be judged.
    struct Bill: Sendable {
        /// The account, or the negative owner of what belongs to no account.
        let account: Int64
        let isOwner: Bool

        var isPublic: Bool { account < 0 }

        init(_ zone: ZoneRow, caller: Caller, in connection: any SQLConnection) throws {
            isOwner = caller.id == zone.owner
            account = isOwner ? caller.accountID : try StorageUsage.account(of: zone, in: connection)
        }
    }

    private static func account(of zone: ZoneRow, in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT account FROM identity WHERE id = $1", [.integer(zone.owner)]) { try $0.int64(0) }
            ?? -abs(zone.owner)
    }

    /// Adds what a batch has changed: one statement, and none where sums stay the same.
    /// - Throws: `quotaExceeded` for what makes more of something of which there would be too much then.
    static func follow(
        _ changes: [RecordChange], in zone: ZoneRow, by caller: Caller, quotas: Quotas, _ connection: any SQLConnection
    ) throws {
        var records: Int64 = 0
        var bytes: Int64 = 0
        for change in changes {
            if change.kind != .deleted {
                records += 1
                bytes += Int64(change.fields.count) + recordOverhead
            }
            if change.kind != .created {
                records -= 1
                bytes -= Int64(change.formerFields.count) + recordOverhead
            }
            bytes += change.assetBytes
        }
        guard records != 0 || bytes != 0 else { return }
        let bill = try Bill(zone, caller: caller, in: connection)
        let sums = try connection.rows(
            """
            INSERT INTO storage_usage (account, owner, zone, records, bytes) VALUES ($1, 0, 0, $4, $5), ($1, $2, $3, $4, $5)
            ON CONFLICT (account, owner, zone) DO UPDATE
            SET records = storage_usage.records + excluded.records, bytes = storage_usage.bytes + excluded.bytes
            RETURNING owner, records, bytes
            """, [.integer(bill.account)] + zone.key + [.integer(records), .integer(bytes)]
        ) { (isTotal: try $0.int64(0) == 0, records: try $0.int64(1), bytes: try $0.int64(2)) }
        for sum in sums {
            if sum.isTotal {
                guard bytes > 0 else { continue }
                try quotas.checkStorage(sum.bytes, isPublic: bill.isPublic, isOwner: bill.isOwner)
            } else if records > 0 {
                try quotas.checkRecords(sum.records, isOwner: bill.isOwner)
            }
        }
    }

    /// Whether an upload may begin: what would not fit, beside what is stored and what was announced and no record has yet, is refused
    /// before its bytes are sent.
    static func checkRoom(
        for bytes: Int64, in zone: ZoneRow, by caller: Caller, quotas: Quotas, _ connection: any SQLConnection
    ) throws {
        guard quotas.storage != nil || quotas.publicStorage != nil else { return }
        let bill = try Bill(zone, caller: caller, in: connection)
        let stored = try total(of: bill.account, in: connection)?.bytes ?? 0
        // A public database is billed by the number that owns it.
        let announced = try connection.first(
            """
            SELECT CAST(COALESCE(SUM(announced), 0) AS BIGINT) FROM blob
            WHERE record IS NULL AND (owner = $1 OR owner IN (SELECT id FROM identity WHERE account = $1))
            """, [.integer(bill.account)]
        ) { try $0.int64(0) } ?? 0
        let (used, isOver) = stored.addingReportingOverflow(announced)
        let (sum, isTooLarge) = used.addingReportingOverflow(bytes)
        try quotas.checkStorage(isOver || isTooLarge ? Int64.max : sum, isPublic: bill.isPublic, isOwner: bill.isOwner)
    }

    /// Takes a zone off its account's bill, with all that it held.
    static func remove(_ zone: ZoneRow, in connection: any SQLConnection) throws {
        let key = [.integer(try account(of: zone, in: connection))] + zone.key
        let held = try connection.first(
            "DELETE FROM storage_usage WHERE account = $1 AND owner = $2 AND zone = $3 RETURNING records, bytes", key
        ) { (records: try $0.int64(0), bytes: try $0.int64(1)) }
        guard let held else { return }
        try connection.execute(
            """
            UPDATE storage_usage SET records = records - $2, bytes = bytes - $3
            WHERE account = $1 AND owner = 0 AND zone = 0
            """, [key[0], .integer(held.records), .integer(held.bytes)])
    }

    static func total(of account: Int64, in connection: any SQLConnection) throws -> (records: Int64, bytes: Int64)? {
        try connection.first(
            "SELECT records, bytes FROM storage_usage WHERE account = $1 AND owner = 0 AND zone = 0", [.integer(account)]
        ) { (records: try $0.int64(0), bytes: try $0.int64(1)) }
    }

    static func containers(of account: Int64, in connection: any SQLConnection) throws -> [Sealkit_V1_ContainerUsage] {
        try connection.rows(
            """
            SELECT z.container, z.environment, COUNT(*), CAST(SUM(u.records) AS BIGINT), CAST(SUM(u.bytes) AS BIGINT)
            FROM storage_usage u JOIN zone z ON z.owner = u.owner AND z.zone = u.zone
            WHERE u.account = $1 AND u.owner <> 0 GROUP BY z.container, z.environment ORDER BY z.container, z.environment
            """, [.integer(account)]
        ) { row in
            var usage = Sealkit_V1_ContainerUsage()
            usage.container = try row.text(0)
            usage.environment = UInt8(exactly: try row.int64(1)).flatMap(Environment.init(rawValue:))?.name ?? ""
            usage.zones = UInt64(clamping: try row.int64(2))
            usage.records = UInt64(clamping: try row.int64(3))
            usage.bytes = UInt64(clamping: try row.int64(4))
            return usage
        }
    }
}
