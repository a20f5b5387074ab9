import Foundation
package import SealPrimitives
package import SealStorage
package import SealWire
import SwiftProtobuf

/// The rows of alerts, in the caller's transaction. Rules and messages are sealed with a key that is not on the
/// database's disk: addresses show neither there nor in backups. Times are microseconds since 1970.
package struct Alerts: Sendable {
    package static let mostChanges: Int64 = 10_000
    /// Beyond it a time was set by a clock that has been set back since.
    private static let farthest: Int64 = 3_600_000_000

    private let key: SecretBytes

    package init(key: SecretBytes) { self.key = key }

    package struct Stored: Sendable {
        package let rule: AlertRule
        package let created: Int64
        package let isFiring: Bool
        let since: Int64
        let checked: Int64
        let reading: AlertReading?
        let waiting: Int64

        package var wire: Sealkit_V1_AlertState {
            .with {
                ($0.rule, $0.created, $0.firing) = (rule.message, created, isFiring)
                ($0.since, $0.checked, $0.waiting) = (since, checked, UInt32(clamping: waiting))
                if let reading { $0.reading = reading.wire }
            }
        }
    }

    /// What came of looking at one.
    package struct Judgement: Sendable {
        package let alert: Stored
        /// Nil where nothing can be said: it stays as it is.
        package let reading: AlertReading?
        /// For each who is told, where it fires or recovers.
        package let messages: [Message]

        package init(alert: Stored, reading: AlertReading?, messages: [Message]) {
            (self.alert, self.reading, self.messages) = (alert, reading, messages)
        }

        package var isFiring: Bool { reading.map(alert.rule.isHeld) ?? alert.isFiring }
        package var isCrossing: Bool { isFiring != alert.isFiring }
    }

    // MARK: Rules

    /// By name.
    package func all(in connection: any SQLConnection) throws -> [Stored] {
        try rows("TRUE", [], in: connection)
    }

    /// Those that are to be looked at.
    package func due(now: Int64, in connection: any SQLConnection) throws -> [Stored] {
        try rows(Self.isDue("$1", farthest: "$2"), [.integer(now), .integer(now + Self.farthest)], in: connection)
    }

    /// - Throws: `unknownItem`.
    package func find(_ name: String, in connection: any SQLConnection) throws -> Stored {
        guard let found = try rows("a.name = $1", [.text(name)], in: connection).first else { throw Self.unknown }
        return found
    }

    /// In the place of the one of its name, quiet and to be looked at.
    /// - Throws: `limitExceeded`.
    package func put(_ rule: AlertRule, now: Int64, in connection: any SQLConnection) throws {
        let sealed = seal(try rule.message.serializedBytes(), Self.place(rule.name))
        try Self.deleteMessages(of: rule.name, in: connection)
        try connection.execute(
            """
            INSERT INTO alert (name, sealed, created, firing, since, checked, value, threshold, due)
            VALUES ($1, $2, $3, 0, 0, 0, NULL, NULL, $3)
            ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, created = excluded.created, firing = 0, since = 0,
                checked = 0, value = NULL, threshold = NULL, due = excluded.due
            """, [.text(rule.name), .blob(sealed), .integer(now)])
        guard try Self.count("alert", in: connection) <= Int64(AlertRule.most) else {
            throw ServerError(
                .limitExceeded, "A server has at most \(AlertRule.most) alerts.", remedy: "Remove those of no use.")
        }
    }

    /// - Throws: `unknownItem`.
    package func remove(_ name: String, in connection: any SQLConnection) throws {
        guard try connection.execute("DELETE FROM alert WHERE name = $1", [.text(name)]) > 0 else { throw Self.unknown }
        try Self.deleteMessages(of: name, in: connection)
    }

    private static let unknown = ServerError(
        .unknownItem, "There is no alert of this name.", remedy: "List the alerts to see their names.")

    private func rows(
        _ condition: String, _ values: [SQLValue], in connection: any SQLConnection
    ) throws -> [Stored] {
        try connection.rows(
            """
            SELECT a.name, a.sealed, a.created, a.firing, a.since, a.checked, a.value, a.threshold,
                (SELECT COUNT(*) FROM alert_message m WHERE m.alert = a.name) AS waiting
            FROM alert a WHERE \(condition) ORDER BY a.name
            """, values
        ) { row in
            let bytes = try open(try row.bytes("sealed"), Self.place(try row.text("name")))
            return Stored(
                rule: try AlertRule(try Sealkit_V1_AlertRule(serializedBytes: bytes)),
                created: try row.int64("created"), isFiring: try row.bool("firing"), since: try row.int64("since"),
                checked: try row.int64("checked"), reading: try AlertReading(row), waiting: try row.int64("waiting"))
        }
    }

    // MARK: What becomes of them

    /// Whether anything is to be looked at.
    package static func haveWork(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try isAnyDue(of: "alert", now: now, in: connection)
    }

    /// Whether anything is to be sent.
    package static func haveMessages(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try isAnyDue(of: "alert_message", now: now, in: connection)
    }

    private static func isAnyDue(of table: String, now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM \(table) a WHERE \(isDue("$1", farthest: "$2")) LIMIT 1",
            [.integer(now), .integer(now + farthest)])
    }

    /// When something is to be looked at next; nil for never.
    package static func nextDue(in connection: any SQLConnection) throws -> Int64? {
        try next(of: "alert", in: connection)
    }

    /// When something is to be sent next; nil for never.
    package static func nextMessage(in connection: any SQLConnection) throws -> Int64? {
        try next(of: "alert_message", in: connection)
    }

    private static func next(of table: String, in connection: any SQLConnection) throws -> Int64? {
        try connection.first("SELECT MIN(due) AS due FROM \(table)") { try $0.optionalInt64("due") } ?? nil
    }

    package static func countFiring(in connection: any SQLConnection) throws -> Int {
        let count = try connection.first("SELECT COUNT(*) AS count FROM alert WHERE firing = 1") {
            try $0.int64("count")
        }
        return Int(count ?? 0)
    }

    /// Notes what was judged, each once: what somebody has removed or replaced meanwhile stays as it is.
    /// - Parameter next: when they are to be looked at again.
    /// - Returns: those that fire or recover by it.
    package func note(
        _ judgements: [Judgement], now: Int64, next: Int64, in connection: any SQLConnection
    ) throws -> [Judgement] {
        var crossed: [Judgement] = []
        for judgement in judgements {
            let name = judgement.alert.rule.name
            let reading: [SQLValue] = [
                .optional(judgement.reading?.value), .optional(judgement.reading?.threshold),
            ]
            let changed = try connection.execute(
                """
                UPDATE alert SET firing = $3, since = CASE WHEN firing = $3 THEN since ELSE $4 END, checked = $4, due = $5,
                    value = $6, threshold = $7
                WHERE name = $1 AND created = $2 AND firing = $8
                """,
                [
                    .text(name), .integer(judgement.alert.created), .bool(judgement.isFiring), .integer(now),
                    .integer(next),
                ] + reading + [.bool(judgement.alert.isFiring)])
            guard changed > 0, judgement.isCrossing else { continue }
            crossed.append(judgement)
            try connection.execute(
                "INSERT INTO alert_change (time, name, fired, value, threshold) VALUES ($1, $2, $3, $4, $5)",
                [.integer(now), .text(name), .bool(judgement.isFiring)] + reading)
            // What still waits is not true any more, and would come together for as long as the alert flaps.
            try Self.deleteMessages(of: name, in: connection)
            for message in judgement.messages { try insert(message, of: name, now: now, in: connection) }
        }
        if !crossed.isEmpty {
            try connection.execute(
                """
                DELETE FROM alert_change WHERE number <= (
                    SELECT number FROM alert_change ORDER BY number DESC LIMIT 1 OFFSET $1)
                """, [.integer(Self.mostChanges)])
        }
        return crossed
    }

    /// Newest first.
    /// - Throws: `invalidArguments`.
    package static func history(
        _ message: Sealkit_V1_AlertHistoryRequest, in connection: any SQLConnection
    ) throws -> Sealkit_V1_AlertHistoryResponse {
        let limit = ListCursor.limit(message.limit)
        let before = try ListCursor.number(message.cursor) ?? .max
        // One more than a page holds tells whether there is another one.
        let found = try connection.rows(
            """
            SELECT number, time, name, fired, value, threshold FROM alert_change
            WHERE number < $1 AND ($2 = '' OR name = $2) ORDER BY number DESC LIMIT $3
            """, [.integer(before), .text(message.name), .integer(Int64(limit + 1))]
        ) { row in
            let (number, time, name) = (try row.int64("number"), try row.int64("time"), try row.text("name"))
            let (hasFired, reading) = (try row.bool("fired"), try AlertReading(row))
            let change = Sealkit_V1_AlertChange.with {
                ($0.time, $0.name, $0.fired) = (time, name, hasFired)
                if let reading { $0.reading = reading.wire }
            }
            return (number: number, change: change)
        }
        return .with {
            $0.changes = found.prefix(limit).map(\.change)
            if found.count > limit, let last = found.prefix(limit).last { $0.cursor = ListCursor.data(last.number) }
        }
    }

    // MARK: Messages

    /// What somebody is to be told.
    package struct Message: Sendable {
        package let id: ID16
        package let target: AlertTarget
        package let notice: Sealkit_V1_AlertNotice
        /// Since when it waits.
        package let since: Int64
        /// How often it was tried in vain.
        package let attempts: Int64

        package init(id: ID16, target: AlertTarget, notice: Sealkit_V1_AlertNotice, since: Int64, attempts: Int64) {
            (self.id, self.target, self.notice) = (id, target, notice)
            (self.since, self.attempts) = (since, attempts)
        }
    }

    private static let (mostTargetBytes, mostNoticeBytes) = (2_048, 65_536)

    private func insert(_ message: Message, of alert: String, now: Int64, in connection: any SQLConnection) throws {
        var writer = CanonicalWriter()
        switch message.target {
        case .mail(let address):
            writer.flag(true)
            writer.string(address)
        case .webhook(let url):
            writer.flag(false)
            writer.string(url)
        }
        writer.blob(try message.notice.serializedBytes())
        try connection.execute(
            "INSERT INTO alert_message (id, alert, sealed, due, since, attempts) VALUES ($1, $2, $3, $4, $4, 0)",
            [
                .blob(message.id.bytes), .text(alert), .blob(seal(writer.bytes, message.id.bytes)), .integer(now),
            ])
    }

    /// Those whose turn it is.
    package func messages(now: Int64, limit: Int, in connection: any SQLConnection) throws -> [Message] {
        try connection.rows(
            """
            SELECT a.id, a.sealed, a.since, a.attempts FROM alert_message a WHERE \(Self.isDue("$1", farthest: "$2"))
            ORDER BY a.due LIMIT $3
            """, [.integer(now), .integer(now + Self.farthest), .integer(Int64(limit))]
        ) { row in
            let id = try ID16(try row.bytes("id"))
            var reader = CanonicalReader(try open(try row.bytes("sealed"), id.bytes))
            let isMail = try reader.flag()
            let target = try reader.string(atMost: Self.mostTargetBytes)
            let notice = try reader.blob(atMost: Self.mostNoticeBytes)
            try reader.finish()
            return Message(
                id: id, target: isMail ? .mail(target) : .webhook(target),
                notice: try Sealkit_V1_AlertNotice(serializedBytes: notice), since: try row.int64("since"),
                attempts: try row.int64("attempts"))
        }
    }

    /// It was taken, or is given up.
    package static func delete(_ id: ID16, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM alert_message WHERE id = $1", [.blob(id.bytes)])
    }

    /// Whether a message is to be sent still.
    package static func isWaiting(_ id: ID16, in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM alert_message WHERE id = $1", [.blob(id.bytes)])
    }

    private static func deleteMessages(of alert: String, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM alert_message WHERE alert = $1", [.text(alert)])
    }

    /// - Parameter isAttempt: false where it was not even tried.
    package static func postpone(
        _ id: ID16, until due: Int64, isAttempt: Bool, in connection: any SQLConnection
    ) throws {
        try connection.execute(
            "UPDATE alert_message SET due = $2, attempts = attempts + $3 WHERE id = $1",
            [.blob(id.bytes), .integer(due), .bool(isAttempt)])
    }

    // MARK: Rows

    private static func isDue(_ now: String, farthest: String) -> String { "(a.due <= \(now) OR a.due > \(farthest))" }

    private static func count(_ table: String, in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT COUNT(*) AS count FROM \(table)") { try $0.int64("count") } ?? 0
    }

    private static func place(_ name: String) -> [UInt8] { Array(name.utf8) }

    private func seal(_ bytes: [UInt8], _ place: [UInt8]) -> [UInt8] {
        var random = SystemRandom()
        return AEAD.seal(bytes, under: key, associatedData: place, random: &random)
    }

    private func open(_ sealed: [UInt8], _ place: [UInt8]) throws(SealError) -> [UInt8] {
        try AEAD.open(sealed, under: key, associatedData: place)
    }
}

extension AlertReading {
    /// Of a row with `value` and `threshold`; nil where there was none.
    fileprivate init?(_ row: any SQLRow) throws {
        guard try !row.isNull("value"), try !row.isNull("threshold") else { return nil }
        self.init(value: try row.double("value"), threshold: try row.double("threshold"))
    }
}
