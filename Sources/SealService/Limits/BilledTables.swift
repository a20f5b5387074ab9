/// What an account is billed for: every row that is kept for it, in one list. The triggers that keep the sums in the
/// transaction of each change, and the count that they are compared with, are both made of it.
///
/// What a row counts is the length of its values that vary, and a fixed amount for all else: names, numbers, and its
/// places in indexes. Not in the list is what follows from billed rows (indexes of queries, references, what a user
/// sees), what others' changes leave for a subscriber for some days (notifications), and what ends by itself within
/// minutes (sessions' challenges, enrolments, verifications): all of it is bounded by limits of its own.
struct BilledTable: Sendable {
    /// Bytes that each row counts beside its values.
    static let rowOverhead: Int64 = 512
    /// The same for a record: its statement, proof and place.
    static let recordOverhead: Int64 = 1_024

    let name: String
    /// The column with the number that the row is kept for: an account's or an identity's, or a public database's.
    let holder: String
    /// Whether it belongs to a zone, of the column `zone`.
    let isInZone: Bool
    /// Whether the holder is always an account.
    var isAccount = false
    /// Whether the holder of a row may become another one.
    var moves = false
    /// Columns whose lengths count.
    var values: [String] = []
    /// Columns that hold numbers of bytes themselves: the first that is not null counts.
    var amounts: [String] = []
    var overhead = rowOverhead
    /// What tells live rows, where rows count as records.
    var isRecord: String?
    /// Only what the triggers have to notice of it; the rest its writers report themselves.
    var isReported = false

    /// Those of a zone, then those of a user, then those of an account.
    static let all: [BilledTable] = [
        BilledTable(
            name: "record", holder: "owner", isInZone: true, values: ["fields", "move"], overhead: recordOverhead,
            isRecord: "deleted = 0", isReported: true),
        BilledTable(
            name: "departure", holder: "owner", isInZone: true, values: ["statement", "proof", "fields", "move"]),
        BilledTable(name: "taken_deletion", holder: "owner", isInZone: true, values: ["tombstone"]),
        BilledTable(name: "taken_record", holder: "owner", isInZone: true, values: ["path"]),
        BilledTable(name: "blob", holder: "owner", isInZone: true, amounts: ["size", "announced"]),
        BilledTable(name: "asset_part", holder: "owner", isInZone: true, values: ["leaves"]),
        BilledTable(name: "zone", holder: "owner", isInZone: true),
        BilledTable(name: "share", holder: "owner", isInZone: true),
        BilledTable(name: "roster_entry", holder: "owner", isInZone: true, values: ["entry", "signature"]),
        BilledTable(name: "abandoned_entry", holder: "owner", isInZone: true, values: ["entry", "signature"]),
        BilledTable(name: "epoch_grant", holder: "owner", isInZone: true, values: ["sealed"]),
        BilledTable(name: "link", holder: "owner", isInZone: true, values: ["kept_secret", "preview"]),
        BilledTable(name: "placeholder_address", holder: "owner", isInZone: true),
        BilledTable(name: "sealed_link", holder: "owner", isInZone: true, values: ["sealed"]),
        BilledTable(name: "access_request", holder: "owner", isInZone: true, values: ["request", "contact"]),
        BilledTable(name: "subscription", holder: "owner", isInZone: false, values: ["body"]),
        BilledTable(
            name: "identity", holder: "account", isInZone: false, isAccount: true, moves: true, values: ["chain"]),
        BilledTable(name: "login_key", holder: "account", isInZone: false, isAccount: true, moves: true),
        BilledTable(name: "linked_address", holder: "account", isInZone: false, isAccount: true, moves: true),
        BilledTable(
            name: "device", holder: "account", isInZone: false, isAccount: true, values: ["signer", "signature"]),
        BilledTable(name: "recovery_bundle", holder: "account", isInZone: false, isAccount: true, values: ["sealed"]),
        BilledTable(name: "server_key", holder: "owner", isInZone: false, isAccount: true),
        BilledTable(
            name: "operation", holder: "account", isInZone: false, isAccount: true, values: ["response"],
            isReported: true),
    ]

    // MARK: SQL

    /// Bytes of a row that `row` stands for: `NEW.`, `OLD.` or nothing.
    private func size(_ row: String) -> String {
        var parts = ["\(overhead)"]
        parts += values.map { "COALESCE(LENGTH(\(row)\($0)), 0)" }
        if !amounts.isEmpty { parts.append("COALESCE(\(amounts.map { row + $0 }.joined(separator: ", ")))") }
        return parts.joined(separator: " + ")
    }

    private func records(_ row: String) -> String { isRecord.map { "CASE WHEN \(row)\($0) THEN 1 ELSE 0 END" } ?? "0" }

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

    private func trigger(_ event: String, _ body: [String], of columns: [String] = [], when: String = "") -> String {
        """
        CREATE TRIGGER bill_\(name)_\(event) AFTER \(event)\(columns.isEmpty ? "" : " OF " + columns.joined(separator: ", ")) ON \(name)
        \(when.isEmpty ? "" : "WHEN \(when) ")BEGIN
        \(body.joined(separator: "\n"))
        END;
        """
    }

    private var triggers: [String] {
        let gone = add("OLD.", "-(\(records("OLD.")))", "-(\(size("OLD.")))")
        var triggers = [trigger("DELETE", [gone])]
        guard !isReported else {
            guard values.contains("move") else { return triggers }
            return triggers + [
                trigger(
                    "UPDATE", [add("NEW.", "0", "COALESCE(LENGTH(NEW.move), 0) - COALESCE(LENGTH(OLD.move), 0)")],
                    of: ["move"])
            ]
        }
        triggers.append(trigger("INSERT", [add("NEW.", "0", size("NEW."))]))
        let columns = values + amounts + (moves ? [holder] : [])
        guard !columns.isEmpty else { return triggers }
        let differs = "\(size("OLD.")) <> \(size("NEW."))" + (moves ? " OR OLD.\(holder) <> NEW.\(holder)" : "")
        triggers.append(trigger("UPDATE", [gone, add("NEW.", "0", size("NEW."))], of: columns, when: differs))
        return triggers
    }

    /// To be made after all tables. SQLite's spelling: another database makes its own of the same list.
    static let triggers = all.flatMap(\.triggers).joined(separator: "\n")

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
