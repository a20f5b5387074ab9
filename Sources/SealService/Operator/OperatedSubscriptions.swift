import SealPrimitives
import SealStatements
package import SealStorage
import SealWire

/// Subscriptions as the server's operator sees them: whose, of what kind, and where their webhooks stand. Neither what
/// they look for nor the rest of a webhook's URL, which may be all that protects its receiver.
package enum OperatedSubscriptions {
    package struct Subscription: Sendable {
        package let container: String
        package let environment: String
        package let database: String
        /// The subscriber's user record name.
        package let user: String
        package let id: String
        package let kind: SubscriptionRow.Kind?
        /// Empty for all.
        package let recordType: String
        /// Nil without one.
        package let webhook: WebhookRow?
        /// Where its webhook goes.
        package let origin: String
        /// Names it to `webhook(named:)` and as a page's end.
        package let handle: String
    }

    /// In an order of their own.
    /// - Parameters:
    ///   - container: empty for all.
    ///   - webhooksOnly: those alone that have one.
    ///   - last: the handle of the one before the first; empty for the beginning.
    /// - Throws: `invalidArguments` for a handle that is none.
    package static func list(
        of container: String, webhooksOnly: Bool, after last: String, limit: Int, in connection: any SQLConnection
    ) throws -> [Subscription] {
        let place = last.isEmpty ? Place(owner: 0, environment: 0, database: 0, id: "") : try Place(handle: last)
        return try connection.rows(
            """
            SELECT s.owner, s.environment, s.database, s.id AS subscription, s.kind, s.record_type, i.container,
                i.user_name, w.url, w.origin, w.delivered, w.due, w.since, w.attempts
            FROM subscription s JOIN identity i ON i.id = s.owner
            LEFT JOIN webhook w ON w.owner = s.owner AND w.environment = s.environment AND w.database = s.database
                AND w.subscription = s.id
            WHERE (s.owner, s.environment, s.database, s.id) > ($1, $2, $3, $4)
                AND (i.container = $5 OR $5 = '') AND (s.has_webhook = 1 OR $6 = 0)
            ORDER BY s.owner, s.environment, s.database, s.id LIMIT $7
            """,
            place.values + [.text(container), .bool(webhooksOnly), .integer(Int64(limit))]
        ) { row in
            let place = Place(
                owner: try row.int64("owner"), environment: try row.int64("environment"),
                database: try row.int64("database"), id: try row.text("subscription"))
            return Subscription(
                container: try row.text("container"), environment: try row.environment("environment").name,
                database: SubscribedDatabase(rawValue: place.database)?.name ?? "", user: try row.text("user_name"),
                id: place.id, kind: SubscriptionRow.Kind(rawValue: try row.int64("kind")),
                recordType: try row.text("record_type"),
                webhook: try row.optionalText("url") == nil ? nil : try WebhookRow(row),
                origin: try row.optionalText("origin") ?? "", handle: place.handle)
        }
    }

    /// The webhook of a subscription that a list has named.
    /// - Throws: `unknownItem`, `invalidArguments`.
    package static func webhook(named handle: String, in connection: any SQLConnection) throws -> WebhookRow {
        let found = try connection.first(
            """
            SELECT \(WebhookRow.columns) FROM webhook
            WHERE owner = $1 AND environment = $2 AND database = $3 AND subscription = $4
            """, try Place(handle: handle).values, WebhookRow.init)
        guard let found else {
            throw ServerError(
                .unknownItem, "There is no such webhook any more.", remedy: "Load the list of subscriptions again.")
        }
        return found
    }

    /// What waits for a receiver that failed is due now.
    /// - Parameter now: microseconds since 1970.
    package static func hurry(_ webhook: WebhookRow, now: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            """
            UPDATE webhook SET due = $5
            WHERE owner = $1 AND environment = $2 AND database = $3 AND subscription = $4 AND due > $5
            """, webhook.key + [.integer(now)])
        connection.announce(.webhooks)
    }

    /// A subscription's key.
    private struct Place {
        let owner: Int64
        let environment: Int64
        let database: Int64
        let id: String

        init(owner: Int64, environment: Int64, database: Int64, id: String) {
            (self.owner, self.environment, self.database, self.id) = (owner, environment, database, id)
        }

        init(handle: String) throws(ServerError) {
            let parts = ((try? Hex.decode(handle)).map { String(decoding: $0, as: UTF8.self) } ?? "")
                .split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, let owner = Int64(parts[0]), let environment = Int64(parts[1]),
                let database = Int64(parts[2])
            else {
                throw ServerError(
                    .invalidArguments, "There is no such subscription.", remedy: "Load the list of subscriptions again."
                )
            }
            self.init(owner: owner, environment: environment, database: database, id: String(parts[3]))
        }

        var handle: String { Hex.encode(Array("\(owner)/\(environment)/\(database)/\(id)".utf8)) }
        var values: [SQLValue] { [.integer(owner), .integer(environment), .integer(database), .text(id)] }
    }
}
