import Foundation
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Reading what waits in a user's feed. A device's place in it is the number of the last one it received, which the
/// device keeps; nothing is deleted because it was read.
package enum NotificationFeed {
    package struct Entry: Sendable {
        package let number: Int64
        package let message: Sealkit_V1_Notification
        /// The last of its number: a device that has it has all before it.
        package var completesNumber = false
        fileprivate(set) package var run: Int64 = 0

        package var id: ID { ID(number: number, run: run) }
    }

    /// A number as devices keep it, with the run that it was given out in: a database that was put back gives it out
    /// again, to another notification and in another run.
    package struct ID: Sendable, Equatable, CustomStringConvertible {
        package let number: Int64
        /// 0 for a number of before runs were kept.
        package let run: Int64

        package init(number: Int64, run: Int64) { (self.number, self.run) = (number, run) }

        /// Nil for what was never one.
        package init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count <= 2, let number = Self.decimal(parts[0]) else { return nil }
            guard parts.count == 2 else {
                self.init(number: number, run: 0)
                return
            }
            guard let run = Self.decimal(parts[1]), run > 0 else { return nil }
            self.init(number: number, run: run)
        }

        private static func decimal(_ text: some StringProtocol) -> Int64? {
            text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
        }

        package var description: String { run == 0 ? "\(number)" : "\(number)-\(run)" }
    }

    /// The run that a number was given out in, and where the feed stood before its first one in that.
    struct Origin: Sendable {
        let run: Int64
        let began: Int64
    }

    /// What is between a place in the feed and its end.
    package struct Place: Sendable {
        /// The newest number given out.
        package let last: Int64
        /// Some of these numbers and below may be gone unread.
        package let floor: Int64
        /// Of the newest number.
        let origin: Origin

        package var end: ID { ID(number: last, run: origin.run) }
    }

    package static func place(of owner: Int64, in connection: any SQLConnection) throws -> Place {
        try connection.first(
            "SELECT \(columnsOfPlace) FROM notification_feed WHERE owner = $1", [.integer(owner)], placed)
            ?? Place(last: 0, floor: 0, origin: Origin(run: 0, began: 0))
    }

    private static let columnsOfPlace = "last, floor, run, began"

    private static func placed(_ row: any SQLRow) throws -> Place {
        Place(
            last: try row.int64("last"), floor: try row.int64("floor"),
            origin: Origin(run: try row.int64("run"), began: try row.int64("began")))
    }

    /// Whether all that came since then is still to be told, and it is of this history: what was given out after a
    /// backup that was put back is not, even after the feed has grown past it again.
    package static func isKept(
        _ id: ID, of owner: Int64, _ place: Place, in connection: any SQLConnection
    ) throws -> Bool {
        guard id.number >= place.floor, id.number <= place.last else { return false }
        // No run of another history has the same number.
        return try id.run == place.origin.run || id.run == origin(of: id.number, of: owner, in: connection).run
    }

    private static func origin(
        of number: Int64, of owner: Int64, in connection: any SQLConnection
    ) throws -> Origin {
        try connection.first(
            """
            SELECT position, run FROM notification_run WHERE owner = $1 AND position < $2
            ORDER BY position DESC LIMIT 1
            """, [.integer(owner), .integer(number)]
        ) { Origin(run: try $0.int64("run"), began: try $0.int64("position")) } ?? Origin(run: 0, began: -1)
    }

    // MARK: Numbers

    /// Gives out the next number of some feeds, and keeps with the first one in a run where the feed stood.
    /// - Parameters:
    ///   - change: what changes of the feeds beside, by what they were, with its comma.
    ///   - condition: which feeds; nothing of them is told where there is none.
    static func advance(
        _ change: String = "", where condition: String, _ values: [SQLValue], in connection: any SQLConnection
    ) throws -> [(owner: Int64, place: Place)] {
        let feeds = try connection.rows(
            """
            UPDATE notification_feed SET last = last + 1,
                began = CASE WHEN run = \(ServerRuns.newest) THEN began ELSE last END, run = \(ServerRuns.newest)\(change)
            WHERE \(condition) RETURNING owner, \(columnsOfPlace)
            """, values
        ) { (owner: try $0.int64("owner"), place: try placed($0)) }
        let begun = feeds.filter { $0.place.origin.began == $0.place.last - 1 }
        guard !begun.isEmpty else { return feeds }
        try connection.executeEach(
            """
            INSERT INTO notification_run (owner, position, run) VALUES ($1, $2, $3)
            ON CONFLICT (owner, position) DO NOTHING
            """,
            begun.map { [.integer($0.owner), .integer($0.place.origin.began), .integer($0.place.origin.run)] })
        return feeds
    }

    // MARK: Reading

    private static let columns = """
        SELECT n.number, n.database, n.subscription, n.kind, n.record, n.payload, n.changed, z.container, z.environment, \
        z.owner_name, z.name AS zone_name, s.body
        FROM notification n
        JOIN zone z ON z.owner = n.zone_owner AND z.zone = n.zone
        LEFT JOIN subscription s ON s.owner = n.owner AND s.environment = n.environment AND s.database = n.database \
        AND s.id = n.subscription
        """

    /// What one device has not received, oldest first: everything but its own changes.
    ///
    /// Whole numbers only, so that the last one's number is a place to go on from.
    package static func page(
        of caller: Caller, _ environment: Environment, after number: Int64, in connection: any SQLConnection
    ) throws -> [Entry] {
        let condition = """
            n.owner = $1 AND n.environment = $2 AND n.number > $3 AND (n.origin <> $4 OR n.other_number > $3)
            """
        let values: [SQLValue] = [
            .integer(caller.id), .integer(Int64(environment.rawValue)), .integer(number), .blob(caller.session),
        ]
        return try page(of: caller.id, where: condition, values, in: connection)
    }

    /// Numbers of which nothing is left, after one and up to another: later changes have taken the place of what they
    /// told.
    package static func countCoalesced(
        of owner: Int64, after number: Int64, through last: Int64, in connection: any SQLConnection
    ) throws -> Int {
        let left = try connection.first(
            "SELECT COUNT(DISTINCT number) AS count FROM notification WHERE owner = $1 AND number > $2 AND number <= $3",
            [.integer(owner), .integer(number), .integer(last)]
        ) { try $0.int64("count") }
        return max(0, Int(clamping: last - number - (left ?? 0)))
    }

    /// What a webhook has not received; it is no device, so no change is its own.
    package static func page(of webhook: WebhookRow, in connection: any SQLConnection) throws -> [Entry] {
        try page(
            of: webhook.owner,
            where: "n.owner = $1 AND n.environment = $2 AND n.database = $3 AND n.subscription = $4 AND n.number > $5",
            webhook.key + [.integer(webhook.delivered)], in: connection)
    }

    private static func page(
        of owner: Int64, where condition: String, _ values: [SQLValue], in connection: any SQLConnection
    ) throws -> [Entry] {
        let limit = values.count + 1
        var entries = try connection.rows(
            "\(columns) WHERE \(condition) ORDER BY n.number LIMIT $\(limit)",
            values + [.integer(Int64(PushLimits.page + 1))],
            entry)
        if entries.count > PushLimits.page, let last = entries.last?.number {
            let whole = entries.filter { $0.number < last }
            entries =
                try whole.isEmpty
                // One number fills more than a page: a save of many records.
                ? connection.rows(
                    "\(columns) WHERE \(condition) AND n.number = $\(limit)", values + [.integer(last)], entry)
                : whole
        }
        // Nearly always all are of one.
        var origin = Origin(run: 0, began: .max)
        for index in entries.indices.reversed() {
            let number = entries[index].number
            entries[index].completesNumber = index + 1 == entries.count || entries[index + 1].number > number
            if number <= origin.began { origin = try Self.origin(of: number, of: owner, in: connection) }
            entries[index].run = origin.run
        }
        return entries
    }

    private static func entry(_ row: any SQLRow) throws -> Entry {
        var message = try Sealkit_V1_Notification(serializedBytes: try row.data("payload"))
        let database = SubscribedDatabase(rawValue: try row.int64("database"))
        message.database = database?.name ?? ""
        message.subscriptionID = try row.text("subscription")
        message.kind = UInt32(truncatingIfNeeded: try row.int64("kind"))
        message.recordName = try row.text("record")
        message.date = try row.int64("changed")
        message.container = try row.text("container")
        message.environment = try row.environment("environment").name
        message.zone.ownerName = try row.text("owner_name")
        message.zone.zoneName = try row.text("zone_name")
        if let body = try row.optionalData("body") {
            let subscription = try Sealkit_V1_Subscription(serializedBytes: body)
            if subscription.hasNotificationInfo { message.notificationInfo = subscription.notificationInfo }
        }
        return Entry(number: try row.int64("number"), message: message)
    }

    /// Feeds that are written to or kept small, in one order, before anything is read or written of them: others tell
    /// the same users at the same time.
    package static func hold(_ owners: Set<Int64>, in connection: any SQLConnection) throws {
        guard !owners.isEmpty else { return }
        try hold(in: Shares.list(owners.sorted()), in: connection)
    }

    /// - Parameter owners: their list, or a query for it.
    static func hold(in owners: String, _ values: [SQLValue] = [], in connection: any SQLConnection) throws {
        try connection.hold("SELECT last FROM notification_feed WHERE owner IN (\(owners)) ORDER BY owner", values)
    }

    // MARK: Keeping it small

    /// Counts what is not written at all: whoever stands before it is told to fetch changes.
    static func overflow(_ owner: Int64, in connection: any SQLConnection) throws {
        for feed in try advance(", floor = last + 1", where: "owner = $1", [.integer(owner)], in: connection) {
            try trim(owner, at: feed.place.last, in: connection)
        }
    }

    /// Drops the oldest where a user has too many. Each number that a feed gives out comes by here, once all that has
    /// it is written: every sixteenth looks.
    static func trim(_ owner: Int64, at number: Int64, in connection: any SQLConnection) throws {
        if number % 16 == 0 { try trim(owner, in: connection) }
    }

    static func trim(_ owner: Int64, in connection: any SQLConnection) throws {
        let floor = try connection.first(
            "SELECT number FROM notification WHERE owner = $1 ORDER BY number DESC LIMIT 1 OFFSET $2",
            [.integer(owner), .integer(Int64(PushLimits.notifications))]
        ) { try $0.int64("number") }
        guard let floor else { return }
        try drop(atMost: trimmedAtOnce, of: owner, where: "number <= $2", [.integer(floor)], in: connection)
    }

    /// More than sixteen numbers bring: what has grown far beyond what is kept goes bit by bit.
    private static let trimmedAtOnce = 1_000

    /// Drops what is too old, some of it at a time.
    /// - Returns: whether there may be more.
    @discardableResult
    package static func sweep(now: Int64, in connection: any SQLConnection) throws -> Bool {
        let cutoff: SQLValue = .integer(now - PushLimits.kept)
        let owners = try connection.rows(
            "SELECT DISTINCT owner FROM (SELECT owner FROM notification WHERE changed < $1 LIMIT $2) AS old",
            [cutoff, .integer(ownersSweptAtOnce)]
        ) { try $0.int64("owner") }
        try hold(Set(owners), in: connection)
        var room = sweptAtOnce
        for owner in owners where room > 0 {
            room -= try drop(atMost: room, of: owner, where: "changed < $2", [cutoff], in: connection)
        }
        return !owners.isEmpty
    }

    private static let ownersSweptAtOnce: Int64 = 20
    private static let sweptAtOnce = 500

    /// Drops the oldest of those that a condition is true of, and notes that they may be gone unread.
    /// - Parameters:
    ///   - count: a few more, where the last of these share their number with others.
    ///   - values: the condition's, from `$2` on.
    /// - Returns: how many they were.
    @discardableResult
    private static func drop(
        atMost count: Int, of owner: Int64, where condition: String, _ values: [SQLValue],
        in connection: any SQLConnection
    ) throws -> Int {
        let key = [.integer(owner)] + values
        let last = try connection.first(
            """
            SELECT MAX(number) AS last FROM (
                SELECT number FROM notification WHERE owner = $1 AND \(condition) ORDER BY number LIMIT $\(key.count + 1)) AS oldest
            """, key + [.integer(Int64(count))]
        ) { try $0.optionalInt64("last") }
        guard let last = last ?? nil else { return 0 }
        // Where something was not written at all, it is higher already.
        try connection.execute(
            "UPDATE notification_feed SET floor = $2 WHERE owner = $1 AND floor < $2",
            [.integer(owner), .integer(last)]
        )
        return try connection.execute(
            "DELETE FROM notification WHERE owner = $1 AND \(condition) AND number <= $\(key.count + 1)",
            key + [.integer(last)])
    }

    /// Of a subscription that has fired once, and been delivered: nothing is to be sent any more.
    private static let isIdle = """
        due = 0 AND NOT EXISTS (SELECT 1 FROM subscription s WHERE s.owner = webhook.owner
            AND s.environment = webhook.environment AND s.database = webhook.database AND s.id = webhook.subscription)
        """

    /// Some webhooks that have nothing to send any more. They are looked for beside everybody's writes, since all there
    /// are is looked at.
    static func idleWebhooks(in connection: any SQLConnection) throws -> [[SQLValue]] {
        try connection.rows(
            """
            SELECT owner, environment, database, subscription FROM webhook WHERE \(isIdle)
            ORDER BY owner, environment, database, subscription LIMIT $1
            """, [.integer(droppedAtOnce)]
        ) {
            [
                .integer(try $0.int64("owner")), .integer(try $0.int64("environment")),
                .integer(try $0.int64("database")), .text(try $0.text("subscription")),
            ]
        }
    }

    /// Drops those of them that are as idle still: their subscriptions do not come back, and what is not due has been
    /// delivered.
    static func dropWebhooks(_ keys: [[SQLValue]], in connection: any SQLConnection) throws {
        try connection.executeEach(
            """
            DELETE FROM webhook WHERE owner = $1 AND environment = $2 AND database = $3 AND subscription = $4 AND \(isIdle)
            """, keys)
    }
}
