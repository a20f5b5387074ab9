import SealPrimitives
import SealStorage

/// Where one subscription's webhook stands.
struct WebhookRow: Sendable {
    let owner: Int64
    let environment: Int64
    let database: Int64
    let subscription: String
    let url: String
    /// The number of the last notification that the receiver took, or that was given up.
    let delivered: Int64
    /// When the next attempt is due, in microseconds since 1970; 0 with nothing to send.
    let due: Int64
    /// Since when there has been something to send.
    let since: Int64
    /// How many attempts have failed since the last success.
    let attempts: Int64

    static let columns = "owner, environment, database, subscription, url, delivered, due, since, attempts"

    init(_ row: any SQLRow) throws {
        owner = try row.int64(0)
        environment = try row.int64(1)
        database = try row.int64(2)
        subscription = try row.text(3)
        url = try row.text(4)
        delivered = try row.int64(5)
        due = try row.int64(6)
        since = try row.int64(7)
        attempts = try row.int64(8)
    }

    /// The first four parameters of every statement about it.
    var key: [SQLValue] {
        [.integer(owner), .integer(environment), .integer(database), .text(subscription)]
    }

    /// Names it among those under way.
    var name: String { "\(owner)/\(environment)/\(database)/\(subscription)" }

    /// The same in each attempt with the same content; tells a receiver nothing else.
    func deliveryID(upTo number: Int64) -> String {
        Base64URL.encode(ServerHash.digest(.webhookDelivery, Array(name.utf8), ServerBytes.of(delivered), ServerBytes.of(number)))
    }
}

extension WebhookRow: CustomStringConvertible, CustomReflectable {
    /// The URL may be all that protects its receiver: it shows nowhere.
    var description: String { "WebhookRow" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
