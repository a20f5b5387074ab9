package import SealStorage

/// Erases what closed accounts have left, in steps that each take others' time of a few milliseconds. A crash between
/// two steps loses nothing: the next one finds what is left.
///
/// It does not touch what is others': records and assets that the account wrote into their zones, the rosters that name
/// it, and what it published in the public database. Of its own zones that somebody else has seen, the rosters stay:
/// they show whoever took part, and was away, that the zone has ended.
package struct AccountErasure {
    /// Rows that one step takes at most from a table.
    package static let batch = 500
    /// Kept answers that one step looks through.
    private static let answers = 5_000

    /// What an identity has in tables that are keyed by their owner first: all of it goes.
    static let ownedTables: [(name: String, key: String)] = [
        ("record", "owner, zone, name"),
        ("asset_part", "owner, zone, id, part"),
        ("departure", "owner, zone, share, name"),
        ("taken_deletion", "owner, zone, deletion"), ("taken_record", "owner, zone, deletion, name"),
        ("delete_reference", "owner, zone, target, source, field"),
        ("unsettled_parent", "owner, zone, name"), ("unsettled_share", "owner, zone, share"),
        ("roots_below", "owner, zone, name"),
        ("record_index", "owner, zone, field, value, record, position"),
        ("epoch_grant", "owner, zone, share, kind, subject, epoch"),
        ("link", "owner, zone, share, invitation"),
        ("placeholder_address", "owner, zone, share, invitation"),
        ("sealed_link", "owner, zone, share, reader"),
        ("share_access", "owner, zone, share"),
        ("zone_remains", "owner, zone"),
        ("access_request", "owner, zone, share, requester"),
        ("subscription", "owner, environment, database, id"),
        ("notification", "owner, environment, database, subscription, zone_owner, zone, record"),
        ("webhook", "owner, environment, database, subscription"),
        ("notification_feed", "owner"),
    ]

    /// The identity's own zones: what of them nobody else has seen.
    private static let zoneTables: [(name: String, key: String)] = [
        ("roster_entry", "owner, zone, share, sequence"), ("abandoned_entry", "owner, zone, share, branch, sequence"),
        ("restored_scope", "owner, zone, share"), ("zone_run", "owner, zone, run"), ("share", "owner, zone, share"),
        ("zone", "owner, zone"),
    ]

    package let account: Int64
    package let connection: any SQLConnection

    /// Whether an account waits.
    package static func isDue(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM account_deletion LIMIT 1")
    }

    /// Takes one step for the first account that waits.
    /// - Returns: whether there is more to do.
    package static func step(in connection: any SQLConnection) throws -> Bool {
        let first = "SELECT account FROM account_deletion ORDER BY account LIMIT 1"
        guard let account = try connection.first(first, [], { try $0.int64("account") }) else { return false }
        try AccountErasure(account: account, connection: connection).step()
        return true
    }

    private func step() throws {
        let identities = try connection.rows("SELECT id FROM identity WHERE account = $1", [.integer(-account)]) {
            try $0.int64("id")
        }
        for identity in identities where try eraseSome(of: identity) { return }
        // The sums last: they follow everything before.
        guard try !eraseSomeRequests(), try !eraseSomeAnswers(), try !eraseSomeUsage() else { return }
        // Its number stays taken: what the process remembers by it is never another account's.
        try connection.execute(
            "UPDATE account SET name = $2, created = 0 WHERE id = $1", [.integer(account), .text("erased-\(account)")])
        try connection.execute("DELETE FROM account_deletion WHERE account = $1", [.integer(account)])
    }

    /// - Returns: whether something was found.
    private func eraseSome(of identity: Int64) throws -> Bool {
        for table in Self.ownedTables where try erase(table.name, table.key, "owner = $1", identity) > 0 { return true }
        // The words of a document are in another index, which has to be told them.
        if try SearchIndex.remove(of: identity, atMost: Self.batch, in: connection) > 0 { return true }
        if try eraseBlobs(of: identity) { return true }
        if try erase("access_request", "owner, zone, share, requester", "requester = $1", identity) > 0 { return true }
        if try eraseViews(of: identity) { return true }
        let unseen = """
            owner = $1 AND NOT EXISTS (SELECT 1 FROM zone_view v
                WHERE v.owner = $1 AND v.zone = erased.zone AND v.viewer <> $1)
            """
        for table in Self.zoneTables where try erase(table.name, table.key, unseen, identity) > 0 { return true }
        return false
    }

    private func erase(_ table: String, _ key: String, _ condition: String, _ identity: Int64) throws -> Int {
        try connection.execute(
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) AS erased WHERE \(condition) LIMIT $2)",
            [.integer(identity), .integer(Int64(Self.batch))])
    }

    /// Its zones' assets, and what it uploaded for others' records that never came.
    private func eraseBlobs(of identity: Int64) throws -> Bool {
        let some = """
            SELECT owner, zone, id FROM blob WHERE owner = $1 OR (uploader = $1 AND record IS NULL)
            ORDER BY owner, zone, id LIMIT $2
            """
        let values: [SQLValue] = [.integer(identity), .integer(Int64(Self.batch))]
        try connection.execute(
            """
            INSERT INTO blob_garbage (stored) SELECT stored FROM blob WHERE (owner, zone, id) IN (\(some))
            ON CONFLICT (stored) DO NOTHING
            """, values)
        return try connection.execute("DELETE FROM blob WHERE (owner, zone, id) IN (\(some))", values) > 0
    }

    private func eraseViews(of identity: Int64) throws -> Bool {
        // Who was deleted before, and left a zone for this account alone to see the end of, is looked at once more;
        // its answers were gone through.
        try connection.execute(
            """
            INSERT INTO account_deletion (account, swept) SELECT DISTINCT -i.account, $2 FROM zone_view v
            JOIN identity i ON i.id = v.owner WHERE v.viewer = $1 AND v.owner <> $1 AND i.account < 0
            ON CONFLICT (account) DO NOTHING
            """, [.integer(identity), .integer(Int64.max)])
        let shares = try erase("share_view", "viewer, owner, zone, share", "viewer = $1", identity)
        let runs = try erase("view_run", "viewer, environment, shared, run", "viewer = $1", identity)
        return try shares + runs > 0
            || erase("zone_view", "viewer, environment, shared, owner, zone", "viewer = $1", identity) > 0
    }

    /// What others have seen of the account's zones stays, and its sums with it.
    private func eraseSomeUsage() throws -> Bool {
        try erase("storage_usage", "account, owner, zone", "account = $1", account) > 0
            || erase("storage_usage", "account, owner, zone", "account = $1 AND records = 0 AND bytes = 0", -account)
                > 0
    }

    private func eraseSomeRequests() throws -> Bool {
        try erase("server_request", "account, nonce", "account = $1", account) > 0
    }

    /// Kept answers lie in the order in which they were given, whoever got them: they are gone through once.
    private func eraseSomeAnswers() throws -> Bool {
        let account: [SQLValue] = [.integer(account)]
        let swept =
            try connection.first("SELECT swept FROM account_deletion WHERE account = $1", account) {
                try $0.int64("swept")
            }
            ?? 0
        let last = try connection.first(
            "SELECT MAX(number) AS last FROM (SELECT number FROM operation WHERE number > $1 ORDER BY number LIMIT $2) AS some",
            [.integer(swept), .integer(Int64(Self.answers))]
        ) { try $0.optionalInt64("last") }
        guard let last = last ?? nil else { return false }
        try connection.execute(
            "DELETE FROM operation WHERE number > $2 AND number <= $3 AND account = $1",
            account + [.integer(swept), .integer(last)])
        try connection.execute("UPDATE account_deletion SET swept = $2 WHERE account = $1", account + [.integer(last)])
        return true
    }
}
