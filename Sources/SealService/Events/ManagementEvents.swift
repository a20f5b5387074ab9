package import SealStorage
package import SealWire
import SealStatements
import SwiftProtobuf

/// The rows of events: each is written in the transaction of what it tells of, so that none is told of that did not
/// happen, and none is missing.
package enum ManagementEvents {
    /// Two years, in microseconds.
    package static let keptFor: Int64 = 730 * 86_400_000_000
    /// Of the operator's own, and of what anybody can cause.
    package static let (most, mostOfAnybody): (Int64, Int64) = (100_000, 20_000)

    /// - Parameter now: microseconds since 1970.
    static func note(_ event: ManagementEvent, now: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO management_event (time, kind, container, environment, account, detail)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .integer(now), .text(event.kind.rawValue), .optional(event.container),
                .optional(event.environment.map(Int64.init)), .optional(event.account), .text(event.detail),
            ])
    }

    /// Newest first.
    /// - Parameter account: the number of the one that the message names; nil for all.
    /// - Throws: `invalidArguments`.
    package static func list(
        _ message: Sealkit_V1_ListEventsRequest, of account: Int64?, in connection: any SQLConnection
    ) throws -> Sealkit_V1_ListEventsResponse {
        // Without an end also those of a server whose clock is ahead, or was.
        let until = message.until == 0 ? .max : message.until
        guard message.from >= 0, message.from < until else {
            throw ServerError(
                .invalidArguments, "The time of events is none.",
                remedy: "Give a beginning and a later end, in microseconds.")
        }
        let kinds = try Set(message.kinds.map(kind))
        let limit = ListCursor.limit(message.limit)
        var condition = "e.number < $1 AND e.time >= $2 AND e.time < $3"
        var values: [SQLValue] = [
            .integer(try ListCursor.number(message.cursor) ?? .max), .integer(message.from), .integer(until),
            .integer(Int64(limit + 1)),
        ]
        if !message.container.isEmpty {
            values.append(.text(message.container))
            condition += " AND e.container = $\(values.count)"
        }
        if let account {
            values.append(.integer(account))
            condition += " AND e.account = $\(values.count)"
        }
        if !kinds.isEmpty {
            // Words of the server's own.
            condition += " AND e.kind IN (\(kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")))"
        }
        // One more than a page holds tells whether there is another one.
        let found = try connection.rows(
            """
            SELECT e.number, e.time, e.kind, e.container, e.environment, e.detail, a.name AS account
            FROM management_event e LEFT JOIN account a ON a.id = e.account
            WHERE \(condition) ORDER BY e.number DESC LIMIT $4
            """, values
        ) { (number: try $0.int64("number"), event: try event($0)) }
        return .with {
            $0.events = found.prefix(limit).map(\.event)
            if found.count > limit, let last = found.prefix(limit).last { $0.cursor = ListCursor.data(last.number) }
        }
    }

    /// How many of a kind there were in which stretch; those of accounts that are gone went with them.
    /// - Parameters:
    ///   - from: a stretch's beginning, in microseconds since 1970.
    ///   - length: of each stretch.
    package static func counts(
        of kind: ManagementEvent.Kind, from: Int64, until: Int64, by length: Int64, in connection: any SQLConnection
    ) throws -> [(start: Int64, count: Int64)] {
        try connection.rows(
            """
            SELECT (time - $2) / $4 AS stretch, COUNT(*) AS count FROM management_event
            WHERE kind = $1 AND time >= $2 AND time < $3 GROUP BY stretch ORDER BY stretch
            """, [.text(kind.rawValue), .integer(from), .integer(until), .integer(length)]
        ) { (start: from + (try $0.int64("stretch")) * length, count: try $0.int64("count")) }
    }

    private static func event(_ row: any SQLRow) throws -> Sealkit_V1_ManagementEvent {
        var event = Sealkit_V1_ManagementEvent()
        event.time = try row.int64("time")
        event.kind = try row.text("kind")
        event.container = try row.optionalText("container") ?? ""
        let environment = try row.optionalInt64("environment").flatMap { Environment(rawValue: UInt8(clamping: $0)) }
        event.environment = environment?.name ?? ""
        event.account = try row.optionalText("account") ?? ""
        event.detail = try row.text("detail")
        return event
    }

    private static func kind(_ text: String) throws(ServerError) -> ManagementEvent.Kind {
        guard let kind = ManagementEvent.Kind(rawValue: text) else {
            let known = ManagementEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServerError(.invalidArguments, "There are no events of that kind.", remedy: "Use \(known).")
        }
        return kind
    }

    // MARK: What goes

    /// The numbers of some that are too old, or too many: it looks at all of them, and belongs into no write.
    package static func excess(now: Int64, in connection: any SQLConnection) throws -> [Int64] {
        let limit = SQLValue.integer(droppedAtOnce)
        let old = try connection.rows(
            "SELECT number FROM management_event WHERE time < $1 LIMIT $2", [.integer(now - keptFor), limit]
        ) { try $0.int64("number") }
        guard old.isEmpty else { return old }
        let anybodys = ManagementEvent.Kind.allCases.filter(\.isAnybodys).map { "'\($0.rawValue)'" }
        return try [("NOT IN", most), ("IN", mostOfAnybody)].flatMap { condition, most in
            try connection.rows(
                """
                SELECT number FROM management_event WHERE kind \(condition) (\(anybodys.joined(separator: ", ")))
                ORDER BY number DESC LIMIT $1 OFFSET $2
                """, [limit, .integer(most)]
            ) { try $0.int64("number") }
        }
    }

    package static func drop(_ numbers: [Int64], in connection: any SQLConnection) throws {
        for number in numbers {
            try connection.execute("DELETE FROM management_event WHERE number = $1", [.integer(number)])
        }
    }
}
