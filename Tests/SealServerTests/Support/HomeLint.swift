import Synchronization
import Testing

@testable import SealService
@testable import SealStorage

/// Holds what a write changes against its home: `TwiceRunDatabase` asks it of each statement, so that the tests of the
/// server do.
///
/// It sees neither what triggers change, which is the sums of what is billed, nor in which order rows are held; and a
/// line here that no write needs any more shows nowhere.
enum HomeLint {
    /// What a write at a zone's home may change that is not the zone's, since it is right whoever else does.
    static let besideZones: [String: String] = [
        "database_feed": "a feed's row, in the order of its key",
        "view_run": "a row that its key protects",
        "zone_view": "the view of this zone: its place",
        "share_view": "the view of a share of this zone",
        "notification_feed": "feeds' rows, held in the order of their keys before any is changed",
        "notification_run": "a row that its key protects",
        "notification": "numbered by the feed's counter",
        "shared_limit": "what somebody is counted by in this zone, or beside their own bill",
        "spent_token": "a row that its key protects, and what has expired",
        "subscription": "one that has fired: its subscriber's feed is held from before it was read",
        "webhook": "rows held in the order of their keys, once the feeds are",
        "operation": "a row that its key protects",
        "storage_usage": "a counter in place, by triggers too",
        "blob_garbage": "a row that its key protects",
        "search_term": "of SQLite alone",
    ]

    /// The same beside an account's.
    static let besideAccounts = [
        "database_feed": "its own user's feed",
        "view_run": "a row that its key protects",
        "zone_view": "its own user's view of a zone that it has beside it: its place",
        "storage_usage": "a counter in place, by triggers",
        "spent_challenge": "a row that its key protects, and what has expired",
    ]

    /// What a write at home in one row may change.
    static let entries: [String: String] = [
        "spent_challenge": "a row that its key protects",
        "shared_limit": "the row that it is at home in",
        "server_request": "a row that its key protects",
        "outgoing_message": "the row that it is at home in",
    ]

    /// What a job may change where it has no more to itself than its lease, and beside whatever home it has.
    static let jobs: [Job.Name: [String: String]] = [
        .alerts: ["alert": "its own", "alert_change": "its own", "alert_message": "its own"],
        .alertMessages: ["alert_message": "postponed, or taken, at home with who adds them"],
        .erasure: [
            "operation": "of a closed account, beside its bill: nobody adds one", "account_deletion": "its own",
        ],
        .garbage: ["blob_garbage": "a row that its key protects"],
        .indexes: ["index_build": "its own, beside who has everything"],
        .outbox: ["outgoing_message": "of who is gone, which the statement says too"],
        .publicNotifications: [
            "public_change": "its own, beside who has everything",
            "zone": "a public database's, which whoever changes it has everything for: whether anybody watches",
            "notification_feed": "feeds' rows, held in the order of their keys before any is changed",
            "notification_run": "a row that its key protects",
            "notification": "numbered by the feed's counter",
            "subscription": "of a public database: only this job ends one that has fired, beside its account's bill",
            "webhook": "rows held in the order of their keys, once the feeds are",
        ],
        .sweep: [
            "session": "what has expired", "enrolment": "what has expired", "server_request": "what has expired",
            "spent_challenge": "what has expired", "operation": "what is too old: nothing changes one",
            "management_event": "what is too old, or too much",
            "shared_limit": "what has been full for long, but for what somebody holds",
            "notification_feed": "feeds' rows, held in the order of their keys",
            "notification": "what is too old, of feeds that are held",
            "webhook": "of no subscription, with nothing to send, which the statement says too",
        ],
        .webhooks: ["webhook": "settled under its feed's row, and postponed from one time to another"],
    ]

    private static let zones = Set(Tables.all.filter { $0.whose == .zone }.map(\.name))
    private static let accounts = Set(
        Tables.all.filter { if case .account = $0.whose { true } else { false } }.map(\.name))

    /// Of statements that were looked at: there are few of them, and they run again and again.
    private static let seen = Mutex<[String: [String]]>([:])

    /// The tables that a statement writes to.
    static func changed(by sql: String) -> [String] {
        if let tables = seen.withLock({ $0[sql] }) { return tables }
        let words = /(?:INSERT INTO|DELETE FROM)\s+(?<table>\w+)|UPDATE\s+(?<updated>\w+)\s+SET\b/
        let tables = sql.matches(of: words).compactMap { ($0.table ?? $0.updated).map(String.init) }
        seen.withLock { $0[sql] = tables }
        return tables
    }

    /// What of it is elsewhere.
    static func strangers(in sql: String, at home: Home, beside others: Set<Home> = []) -> [String] {
        let changed = changed(by: sql).filter { table in !others.contains { isOfJob(table, $0) } }
        switch home {
        case .everything: return []
        case .zone: return changed.filter { !zones.contains($0) && besideZones[$0] == nil }
        case .account: return changed.filter { !accounts.contains($0) && besideAccounts[$0] == nil }
        case .entry: return changed.filter { entries[$0] == nil }
        case .job: return changed.filter { !isOfJob($0, home) }
        case .container, .bill: return changed
        }
    }

    private static func isOfJob(_ table: String, _ home: Home) -> Bool {
        guard case .job(let name) = home else { return false }
        return table == "job" || Job.Name(rawValue: name).flatMap { jobs[$0]?[table] } != nil
    }

    static func check(_ sql: String, at home: Home, beside others: Set<Home>) {
        let strangers = strangers(in: sql, at: home, beside: others)
        if !strangers.isEmpty { Issue.record("\(strangers) is not of \(home): \(sql)") }
    }
}

@Suite(.timeLimit(.minutes(60))) struct HomeLintTests {
    @Test func whatIsElsewhereIsFound() {
        let home = Home.zone(owner: 1, zone: 1)
        for (sql, tables) in [
            ("UPDATE zone SET position = position + $3 WHERE owner = $1", []),
            ("INSERT INTO record (owner) VALUES ($1) ON CONFLICT (owner) DO UPDATE SET zone = 1", []),
            ("UPDATE account\n SET name = $1", ["account"]), ("DELETE FROM session WHERE id = $1", ["session"]),
            ("INSERT INTO schema_type (name) VALUES ($1)", ["schema_type"]), ("SELECT 1 FROM account FOR UPDATE", []),
        ] as [(String, [String])] {
            #expect(HomeLint.strangers(in: sql, at: home) == tables)
            #expect(HomeLint.strangers(in: sql, at: .everything) == [])
        }
        let session = "DELETE FROM session WHERE token_hash = $1"
        #expect(HomeLint.strangers(in: session, at: .account(1)) == [])
        #expect(HomeLint.strangers(in: session, at: .entry([1])) == ["session"])
        #expect(HomeLint.strangers(in: "UPDATE record SET tag = $1", at: .account(1)) == ["record"])
        #expect(HomeLint.strangers(in: "UPDATE job SET until = $1", at: .job("outbox")) == [])
        #expect(HomeLint.strangers(in: session, at: .job("sweep")) == [])
        #expect(HomeLint.strangers(in: session, at: .job("garbage")) == ["session"])
        let built = "UPDATE index_build SET record = $4 WHERE field = $1"
        #expect(HomeLint.strangers(in: built, at: home) == ["index_build"])
        #expect(HomeLint.strangers(in: built, at: home, beside: [.job("indexes")]) == [])
        #expect(HomeLint.strangers(in: built, at: home, beside: [.job("feeds")]) == ["index_build"])
    }
}
