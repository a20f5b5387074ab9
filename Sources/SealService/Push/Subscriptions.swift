import Foundation
import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// The rows of one user's subscriptions in one database, in the caller's transaction.
package struct Subscriptions {
    package let caller: Caller
    package let path: DatabasePath
    package let connection: any SQLConnection
    /// What the user watched everywhere before the first change.
    private var before: Watch?
    /// Zones that were subscribed to by themselves, and that ceased to be.
    private var (gained, lost): (Set<[Int64]>, Set<[Int64]>) = ([], [])
    /// From the first that is saved on.
    private var counts: Counts?

    package init(caller: Caller, path: DatabasePath, connection: any SQLConnection) {
        (self.caller, self.path, self.connection) = (caller, path, connection)
    }

    package init(of session: Session, _ path: DatabasePath, in connection: any SQLConnection) throws {
        self.init(
            caller: try Caller(session, container: path.container, in: connection), path: path, connection: connection)
    }

    private var database: SubscribedDatabase { SubscribedDatabase(path.database) }
    private var key: [SQLValue] {
        [.integer(caller.id), .integer(Int64(path.environment.rawValue)), .integer(database.rawValue)]
    }

    package func all() throws -> [Sealkit_V1_Subscription] {
        try connection.rows(
            """
            SELECT body, has_webhook FROM subscription WHERE owner = $1 AND environment = $2 AND database = $3
            ORDER BY id
            """, key
        ) { try Self.message(try $0.data("body"), hasWebhook: try $0.bool("has_webhook")) }
    }

    /// - Throws: `unknownItem`, `invalidArguments`.
    package func find(_ id: String) throws -> Sealkit_V1_Subscription {
        try SubscriptionDraft.check(id: id)
        guard let stored = try stored(id) else { throw Self.unknown }
        return try Self.message(stored.body, hasWebhook: stored.hasWebhook)
    }

    /// What a row holds: where its webhook was ended, the body still names it.
    private static func message(_ body: Data, hasWebhook: Bool) throws -> Sealkit_V1_Subscription {
        var message = try Sealkit_V1_Subscription(serializedBytes: body)
        if !hasWebhook { message.webhook = "" }
        return message
    }

    /// A result for each id.
    package func lookup(
        _ message: Sealkit_V1_LookupSubscriptionsRequest
    ) throws -> Sealkit_V1_LookupSubscriptionsResponse {
        var response = Sealkit_V1_LookupSubscriptionsResponse()
        response.results = try message.subscriptionIds.map { id in try .init(id) { .subscription(try find(id)) } }
        return response
    }

    /// What of a row matters to the one that takes its place.
    private struct Stored {
        let body: Data
        let hasWebhook: Bool
        let isQuery: Bool
        let zone: [Int64]
    }

    private func stored(_ id: String) throws -> Stored? {
        try connection.first(
            """
            SELECT body, has_webhook, kind, zone_owner, zone FROM subscription
            WHERE owner = $1 AND environment = $2 AND database = $3 AND id = $4
            """, key + [.text(id)]
        ) { row in
            Stored(
                body: try row.data("body"), hasWebhook: try row.bool("has_webhook"),
                isQuery: try row.int64("kind") == SubscriptionRow.Kind.query.rawValue,
                zone: [try row.int64("zone_owner"), try row.int64("zone")])
        }
    }

    package static let unknown = ServerError(
        .unknownItem, "The user has no subscription of this id in this database.", remedy: "List the subscriptions.")

    /// Makes the subscription, or puts it in the place of the one that has its id.
    /// - Throws: `zoneNotFound`, `limitExceeded`, `quotaExceeded`; `invalidArguments` for a predicate over what the
    ///   server cannot read.
    package mutating func save(
        _ draft: SubscriptionDraft, _ schemas: SchemaStore, _ quotas: Quotas
    ) throws -> Sealkit_V1_Subscription {
        var message = draft.message
        let zone = try zone(of: message)
        if message.hasZone, let zone { message.zone = zone.wireID }
        if draft.kind == .query {
            let schema = try schemas.schema(path.container, path.environment, in: connection)
            if let type = schema.indexed[message.recordType] { try QueryRules.checkReadable(draft.keys, type) }
        }
        let body: Data = try message.serializedData()
        let former = try stored(draft.id)
        if let former, former.body == body, former.hasWebhook == !message.webhook.isEmpty { return message }
        // The last that may be refused: what fails alone leaves the former one as it is.
        try checkCount(draft.kind, insteadOf: former)
        if body.count > former?.body.count ?? -1 {
            try StorageUsage.checkRoom(
                for: Int64(body.count - (former?.body.count ?? 0)) + (former == nil ? Billing.rowOverhead : 0),
                on: .init(account: caller.accountID), quotas: quotas, connection)
        }
        // What the former one gave rise to is not this one's; one that fired once has gone before it.
        try remove(draft.id, former)
        if let zone { gained.insert([zone.owner, zone.number]) }
        try connection.execute(
            """
            INSERT INTO subscription (owner, environment, database, id, kind, zone_owner, zone, record_type, fires_on,
                has_webhook, body)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            key + [
                .text(draft.id), .integer(draft.kind.rawValue), .integer(zone?.owner ?? 0), .integer(zone?.number ?? 0),
                .text(message.recordType), .integer(draft.firesOn.rawValue), .bool(!message.webhook.isEmpty),
                .data(body),
            ])
        counts?.note(isQuery: draft.kind == .query, 1)
        try connection.execute(
            "INSERT INTO notification_feed (owner, last, floor) VALUES ($1, 0, 0) ON CONFLICT (owner) DO NOTHING",
            [.integer(caller.id)])
        if !message.webhook.isEmpty {
            try connection.execute(
                """
                INSERT INTO webhook (owner, environment, database, subscription, url, origin, delivered, due, since, attempts)
                SELECT $1, $2, $3, $4, $5, $6, last, 0, 0, 0 FROM notification_feed WHERE owner = $1
                """,
                key + [
                    .text(draft.id), .text(message.webhook), .text(WebhookTargets.origin(of: message.webhook) ?? ""),
                ])
        }
        return message
    }

    /// The only one that the subscription is for; nil for all zones. The public database has one, made when it is
    /// needed.
    private func zone(of message: Sealkit_V1_Subscription) throws -> ZoneRow? {
        guard path.database != .public else {
            if message.hasZone { try PublicZone.check(message.zone) }
            return try PublicZone.open(path, in: connection)
        }
        return message.hasZone ? try Zones.visible(message.zone, to: caller, path, in: connection) : nil
    }

    /// - Throws: `unknownItem`, `invalidArguments`.
    package mutating func delete(_ id: String) throws {
        try SubscriptionDraft.check(id: id)
        guard let stored = try stored(id) else { throw Self.unknown }
        try remove(id, stored)
    }

    /// With all that they gave rise to.
    mutating func deleteAll() throws {
        try noteBefore()
        let zones = try connection.rows(
            "SELECT zone_owner, zone FROM subscription WHERE owner = $1 AND environment = $2 AND database = $3", key
        ) { [try $0.int64("zone_owner"), try $0.int64("zone")] }
        lost.formUnion(zones)
        for table in ["subscription", "notification", "webhook"] {
            try connection.execute("DELETE FROM \(table) WHERE owner = $1 AND environment = $2 AND database = $3", key)
        }
        counts = nil
        try refreshWatch()
    }

    /// Ends the webhooks of all that an account has subscribed to, however many these are. Its devices go on being
    /// told, and what zones say of webhooks stays: it says who may have one.
    package static func endWebhooks(of account: Int64, in connection: any SQLConnection) throws {
        let own = "owner IN (SELECT id FROM identity WHERE account = $1)"
        try connection.execute(
            "UPDATE subscription SET has_webhook = 0 WHERE has_webhook = 1 AND \(own)", [.integer(account)])
        try connection.execute("DELETE FROM webhook WHERE \(own)", [.integer(account)])
    }

    /// To be called once after changes, in the same transaction.
    package func refreshWatch() throws {
        guard path.database != .public else {
            try Watch.refresh(publicZone: PublicZone.find(path, in: connection).owner, in: connection)
            return
        }
        for zone in lost where zone[0] != 0 { try Watch.noteLoss(in: zone.map { .integer($0) }, connection) }
        for zone in gained { try Watch.add(caller.id, to: zone.map { .integer($0) }, in: connection) }
        guard let before else { return }
        try Watch.change(
            from: before, to: try Watch.ofAllZones(key, in: connection), viewer: caller.id, path.environment, database,
            in: connection)
    }

    private mutating func noteBefore() throws {
        if before == nil { before = try Watch.ofAllZones(key, in: connection) }
    }

    /// With what it gave rise to and was not delivered yet.
    /// - Parameter stored: nil for one that fired once, and is gone before that.
    private mutating func remove(_ id: String, _ stored: Stored?) throws {
        try noteBefore()
        if let stored {
            lost.insert(stored.zone)
            counts?.note(isQuery: stored.isQuery, -1)
        }
        for column in ["subscription WHERE id", "notification WHERE subscription", "webhook WHERE subscription"] {
            try connection.execute(
                "DELETE FROM \(column) = $4 AND owner = $1 AND environment = $2 AND database = $3", key + [.text(id)])
        }
    }

    /// - Parameter former: the one that is to be replaced.
    private mutating func checkCount(_ kind: SubscriptionRow.Kind, insteadOf former: Stored?) throws {
        var counts = try self.counts ?? Counts(key, connection)
        self.counts = counts
        if let former { counts.note(isQuery: former.isQuery, -1) }
        guard counts.all < PushLimits.subscriptions,
            kind != .query || counts.queries < PushLimits.querySubscriptions
        else {
            throw ServerError(
                .limitExceeded,
                """
                A user has at most \(PushLimits.subscriptions) subscriptions in a database, \
                \(PushLimits.querySubscriptions) of them for queries.
                """,
                remedy: "Delete subscriptions that are not needed any more.")
        }
    }

    /// How many the user has in the database: counted once, and kept in step by what changes them.
    private struct Counts {
        private(set) var all: Int
        private(set) var queries: Int

        init(_ key: [SQLValue], _ connection: any SQLConnection) throws {
            (all, queries) =
                try connection.first(
                    """
                    SELECT COUNT(*) AS count, COALESCE(SUM(CASE WHEN kind = $4 THEN 1 ELSE 0 END), 0) AS queries
                    FROM subscription WHERE owner = $1 AND environment = $2 AND database = $3
                    """, key + [.integer(SubscriptionRow.Kind.query.rawValue)]
                ) { (Int(try $0.int64("count")), Int(try $0.int64("queries"))) } ?? (0, 0)
        }

        mutating func note(isQuery: Bool, _ change: Int) {
            all += change
            if isQuery { queries += change }
        }
    }
}
