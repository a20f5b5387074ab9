import SealStorage

/// What an account is billed for: every row that is kept for it, of the tables that are declared so. The triggers that
/// keep the sums in the transaction of each change, and the count that they are compared with, are both made of it.
///
/// Not billed is what follows from billed rows (indexes of queries, references, what a user sees), what others' changes
/// leave for a subscriber for some days (notifications), and what ends by itself within minutes (sessions' challenges,
/// enrolments, verifications): all of it is bounded by limits of its own, of which its declaration says one.
struct BilledTable: Sendable {
    let name: String
    /// The column with the number that the row is kept for: an account's or an identity's, or a public database's.
    let holder: String
    /// Whether it belongs to a zone, of the column `zone`.
    let isInZone: Bool
    /// Whether the holder is always an account.
    let isAccount: Bool
    let billing: Billing

    static let all = Tables.all.compactMap(BilledTable.init)

    init?(_ table: Table) {
        guard case .rows(let billing) = table.billed, let holder = table.whose.column else { return nil }
        name = table.name
        self.holder = holder
        isInZone = table.whose == .zone
        isAccount = if case .account = table.whose { true } else { false }
        self.billing = billing
    }

    // MARK: SQL

    /// Bytes of a row that `row` stands for: `NEW.`, `OLD.` or nothing.
    private func size(_ row: String) -> String {
        var parts = ["\(billing.overhead)"]
        parts += billing.values.map { "COALESCE(LENGTH(\(row)\($0)), 0)" }
        if !billing.amounts.isEmpty {
            parts.append("COALESCE(\(billing.amounts.map { row + $0 }.joined(separator: ", ")))")
        }
        return parts.joined(separator: " + ")
    }

    private func records(_ row: String) -> String {
        billing.isRecord.map { "CASE WHEN \(row)\($0) THEN 1 ELSE 0 END" } ?? "0"
    }

    /// The account of a holder: what belongs to no identity is an account's own, or nobody's.
    static func account(of holder: String) -> String {
        "COALESCE((SELECT account FROM identity WHERE id = \(holder)), \(holder))"
    }

    /// Adds to the sums of an account and of one of its parts.
    private func add(_ row: String, _ records: String, _ amount: String) -> String {
        let holder = row + self.holder
        // Twice the look-up by its key costs SQLite less than a row set that would do with one.
        let account = isAccount ? holder : Self.account(of: holder)
        return """
            INSERT INTO storage_usage (account, owner, zone, records, bytes)
            VALUES (\(account), 0, 0, \(records), \(amount)), (\(account), \(holder), \(isInZone ? row + "zone" : "0"), \(records), \(amount))
            ON CONFLICT (account, owner, zone) DO UPDATE
            SET records = storage_usage.records + excluded.records, bytes = storage_usage.bytes + excluded.bytes;
            """
    }

    private func trigger(
        _ event: String, _ body: [String], of columns: [String] = [], when: String = "", in dialect: SQLDialect
    ) -> String {
        let occasion =
            "AFTER \(event)\(columns.isEmpty ? "" : " OF " + columns.joined(separator: ", ")) ON \(name)"
        let statements = body.joined(separator: "\n")
        switch dialect {
        case .sqlite:
            return """
                CREATE TRIGGER bill_\(name)_\(event) \(occasion)
                \(when.isEmpty ? "" : "WHEN \(when) ")BEGIN
                \(statements)
                END;
                """
        case .postgres:
            return """
                CREATE FUNCTION bill_\(name)_\(event)() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                \(statements)
                RETURN NULL;
                END $$;
                CREATE TRIGGER bill_\(name)_\(event) \(occasion) FOR EACH ROW
                \(when.isEmpty ? "" : "WHEN (\(when)) ")EXECUTE FUNCTION bill_\(name)_\(event)();
                """
        }
    }

    private func triggers(in dialect: SQLDialect) -> [String] {
        let gone = add("OLD.", "-(\(records("OLD.")))", "-(\(size("OLD.")))")
        var triggers = [trigger("DELETE", [gone], in: dialect)]
        guard !billing.isReported else {
            guard billing.values.contains("move") else { return triggers }
            return triggers + [
                trigger(
                    "UPDATE", [add("NEW.", "0", "COALESCE(LENGTH(NEW.move), 0) - COALESCE(LENGTH(OLD.move), 0)")],
                    of: ["move"], in: dialect)
            ]
        }
        triggers.append(trigger("INSERT", [add("NEW.", "0", size("NEW."))], in: dialect))
        let columns = billing.values + billing.amounts + (billing.moves ? [holder] : [])
        guard !columns.isEmpty else { return triggers }
        let differs = "\(size("OLD.")) <> \(size("NEW."))" + (billing.moves ? " OR OLD.\(holder) <> NEW.\(holder)" : "")
        triggers.append(
            trigger("UPDATE", [gone, add("NEW.", "0", size("NEW."))], of: columns, when: differs, in: dialect))
        return triggers
    }

    /// To be made after their tables.
    static func triggers(of names: [String], in dialect: SQLDialect) -> String {
        names.flatMap { name in all.filter { $0.name == name }.flatMap { $0.triggers(in: dialect) } }
            .joined(separator: "\n")
    }

    /// What every part of every account holds, counted anew.
    static let counted = """
        SELECT \(account(of: "held.owner")) AS account, owner, zone,
            CAST(SUM(records) AS BIGINT) AS records, CAST(SUM(bytes) AS BIGINT) AS bytes
        FROM (
        \(all.map(\.sums).joined(separator: "\nUNION ALL\n"))
        ) held GROUP BY owner, zone
        """

    private var sums: String {
        let zone = isInZone ? "zone" : "0"
        return
            "SELECT \(holder) AS owner, \(zone) AS zone, SUM(\(records(""))) AS records, SUM(\(size(""))) AS bytes FROM \(name) "
            + "GROUP BY \(holder)\(isInZone ? ", zone" : "")"
    }
}
