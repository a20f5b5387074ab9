import SealPrimitives
package import SealStorage

/// Where one subscription's webhook stands.
package struct WebhookRow: Sendable {
    package let owner: Int64
    package let environment: Int64
    package let database: Int64
    package let subscription: String
    package let url: String
    /// The number of the last notification that the receiver took, or that was given up.
    package let delivered: Int64
    /// When the next attempt is due, in microseconds since 1970; 0 with nothing to send.
    package let due: Int64
    /// Since when there has been something to send.
    package let since: Int64
    /// How many attempts have failed since the last success.
    package let attempts: Int64

    package static let columns = "owner, environment, database, subscription, url, delivered, due, since, attempts"

    package init(_ row: any SQLRow) throws {
        owner = try row.int64("owner")
        environment = try row.int64("environment")
        database = try row.int64("database")
        subscription = try row.text("subscription")
        url = try row.text("url")
        delivered = try row.int64("delivered")
        due = try row.int64("due")
        since = try row.int64("since")
        attempts = try row.int64("attempts")
    }

    /// A condition of SQL: something is to be sent, to the webhook of somebody who is not suspended.
    package static let isDue = "due > 0 AND NOT \(Suspension.holds(identity: "webhook.owner"))"

    /// Whether its owner has been suspended since the row was read.
    package func isHeld(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 WHERE \(Suspension.holds(identity: "$1"))", [.integer(owner)])
    }

    /// Those of a condition may have something to send. They are held first, in one order. Where there turns out to be
    /// nothing, the sender notes that.
    static func wake(
        where condition: String, _ values: [SQLValue], now: Int64, in connection: any SQLConnection
    ) throws {
        let waiting = "due = 0 AND \(condition)"
        try connection.hold(
            "SELECT due FROM webhook WHERE \(waiting) ORDER BY owner, environment, database, subscription", values)
        let time = "$\(values.count + 1)"
        try connection.execute(
            "UPDATE webhook SET due = \(time), since = \(time) WHERE \(waiting)", values + [.integer(now)])
        connection.announce(.webhooks)
    }

    /// What has waited while an account was suspended, its own and its server-to-server keys', is due, and has the
    /// whole time again that receivers are given.
    static func resume(of account: Int64, now: Int64, in connection: any SQLConnection) throws {
        let resumed = try connection.execute(
            """
            UPDATE webhook SET due = $2, since = $2, attempts = 0 WHERE due > 0 AND owner IN (
                SELECT id FROM identity WHERE account = $1
                    OR account IN (SELECT account FROM server_key WHERE owner = $1))
            """, [.integer(account), .integer(now)])
        if resumed > 0 { connection.announce(.webhooks) }
    }

    /// The first four parameters of every statement about it.
    package var key: [SQLValue] {
        [.integer(owner), .integer(environment), .integer(database), .text(subscription)]
    }

    /// Names it among those under way.
    package var name: String { "\(owner)/\(environment)/\(database)/\(subscription)" }

    /// The same in each attempt with the same content; tells a receiver nothing else. A database that was put back
    /// gives the numbers out again, for other content: in another run.
    package func deliveryID(upTo last: NotificationFeed.ID) -> String {
        let (name, start, end) = (Array(name.utf8), ServerBytes.of(delivered), ServerBytes.of(last.number))
        guard last.run > 0 else {
            return Base64URL.encode(ServerHash.digest(.webhookDelivery, name, start, end))
        }
        return Base64URL.encode(ServerHash.digest(.webhookDelivery, name, start, end, ServerBytes.of(last.run)))
    }

    /// Of a delivery without notifications: another one each time.
    /// - Parameter time: microseconds since 1970.
    package func testID(at time: Int64) -> String {
        Base64URL.encode(
            ServerHash.digest(.webhookDelivery, Array(name.utf8), Array("test".utf8), ServerBytes.of(time)))
    }
}

extension WebhookRow: CustomStringConvertible, CustomReflectable {
    /// The URL may be all that protects its receiver: it shows nowhere.
    package var description: String { "WebhookRow" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
