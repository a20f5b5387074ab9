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

    /// What an identity has of its own, down to what its zones held.
    static let owned = Tables.erased.filter { table in
        switch (table.erased, table.whose) {
        case (.withZone, _), (.withAccount, .identity), (.withAccount, .zone): true
        default: false
        }
    }

    /// What it left with others: rows of theirs that are there for its sake alone.
    private static let mentions: [(table: Table, condition: String)] = Tables.erased.flatMap { table in
        table.mentions.compactMap { mention in
            guard case .erased(let further) = mention.meaning else { return nil }
            return (table, "\(mention.column) = $1" + (further.map { " AND \($0)" } ?? ""))
        }
    }

    private static let seen = Tables.erased.filter { if case .withSight = $0.erased { true } else { false } }

    /// The identity's own zones: what of them nobody else has seen.
    private static let shown = Tables.erased.filter { if case .unlessSeen = $0.erased { true } else { false } }

    /// What an account has beside its identities.
    private static let accounts = Tables.erased.filter { table in
        if case (.withAccount, .account) = (table.erased, table.whose) { true } else { false }
    }

    package let account: Int64
    package let connection: any SQLConnection

    /// Whether an account waits.
    package static func isDue(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM account_deletion LIMIT 1")
    }

    /// Everything that waits. Kept answers are gone through at the job's own home, whoever got them, beside this one
    /// account's bill: nobody adds to those of a closed account. The rest has everything to itself.
    package static func run(_ turn: JobTurn) async throws {
        while let account = try await turn.read({ try first(in: $0) }) {
            while try await turn.step(
                at: turn.home, beside: [.bill(account)],
                { try AccountErasure(account: account, connection: $0).eraseSomeAnswers() })
            {}
            try await turn.steps(at: .everything) { try AccountErasure(account: account, connection: $0).step() }
        }
    }

    /// The account whose turn it is.
    package static func first(in connection: any SQLConnection) throws -> Int64? {
        try connection.first("SELECT account FROM account_deletion ORDER BY account LIMIT 1") {
            try $0.int64("account")
        }
    }

    /// Takes one step, of all but answers.
    /// - Returns: whether there may be more to do for the account.
    package func step() throws -> Bool {
        let identities = try connection.rows("SELECT id FROM identity WHERE account = $1", [.integer(-account)]) {
            try $0.int64("id")
        }
        for identity in identities where try eraseSome(of: identity) { return true }
        for table in Self.accounts where try erase(table, of: account) { return true }
        // The sums last: they follow everything before.
        if try eraseSomeUsage() { return true }
        // Its number stays taken: what the process remembers by it is never another account's.
        try connection.execute(
            "UPDATE account SET name = $2, created = 0 WHERE id = $1", [.integer(account), .text("erased-\(account)")])
        try connection.execute("DELETE FROM account_deletion WHERE account = $1", [.integer(account)])
        return false
    }

    /// - Returns: whether something was found.
    private func eraseSome(of identity: Int64) throws -> Bool {
        for table in Self.owned where try erase(table, of: identity) { return true }
        for (table, condition) in Self.mentions where try erase(table, where: condition, identity) { return true }
        if try eraseViews(of: identity) { return true }
        let unseen = """
            owner = $1 AND NOT EXISTS (SELECT 1 FROM zone_view v
                WHERE v.owner = $1 AND v.zone = erased.zone AND v.viewer <> $1)
            """
        for table in Self.shown where try erase(table, where: unseen, identity) { return true }
        return false
    }

    /// Some of the rows that are whose number it is.
    private func erase(_ table: Table, of number: Int64) throws -> Bool {
        guard let column = table.whose.column else { return false }
        if case .withZone(.withWords) = table.erased {
            return try SearchIndex.remove(of: number, atMost: Self.batch, in: connection) > 0
        }
        return try erase(table, where: "\(column) = $1", number)
    }

    /// - Parameter condition: of rows `erased`, with the number as `$1`.
    private func erase(_ table: Table, where condition: String, _ number: Int64) throws -> Bool {
        guard case .withZone(.withFiles) = table.erased else {
            return try delete(table.name, table.key, where: condition, number) > 0
        }
        // The same rows twice.
        let condition = "\(condition) ORDER BY \(table.key)"
        try connection.execute(
            """
            INSERT INTO blob_garbage (stored) SELECT stored FROM \(table.name) AS erased WHERE \(condition) LIMIT $2
            ON CONFLICT (stored) DO NOTHING
            """, [.integer(number), .integer(Int64(Self.batch))])
        return try delete(table.name, table.key, where: condition, number) > 0
    }

    private func delete(_ table: String, _ key: String, where condition: String, _ number: Int64) throws -> Int {
        try connection.execute(
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) AS erased WHERE \(condition) LIMIT $2)",
            [.integer(number), .integer(Int64(Self.batch))])
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
        for table in Self.seen where try erase(table, of: identity) { return true }
        return false
    }

    /// What others have seen of the account's zones stays, and its sums with it.
    private func eraseSomeUsage() throws -> Bool {
        let (table, key) = ("storage_usage", "account, owner, zone")
        return try delete(table, key, where: "account = $1", account) > 0
            || delete(table, key, where: "account = $1 AND records = 0 AND bytes = 0", -account) > 0
    }

    /// Kept answers lie in the order in which they were given, whoever got them: they are gone through once.
    /// - Returns: whether there may be more of the account: what others add meanwhile is not gone after.
    package func eraseSomeAnswers() throws -> Bool {
        let account: [SQLValue] = [.integer(account)]
        let swept =
            try connection.first("SELECT swept FROM account_deletion WHERE account = $1", account) {
                try $0.int64("swept")
            }
            ?? 0
        let found = try connection.first(
            """
            SELECT MAX(number) AS last, COUNT(*) AS count
            FROM (SELECT number FROM operation WHERE number > $1 ORDER BY number LIMIT $2) AS next
            """, [.integer(swept), .integer(Int64(Self.answers))]
        ) { (last: try $0.optionalInt64("last"), count: try $0.int64("count")) }
        guard let found, let last = found.last else { return false }
        try connection.execute(
            "DELETE FROM operation WHERE number > $2 AND number <= $3 AND account = $1",
            account + [.integer(swept), .integer(last)])
        try connection.execute("UPDATE account_deletion SET swept = $2 WHERE account = $1", account + [.integer(last)])
        return found.count == Int64(Self.answers)
    }
}
