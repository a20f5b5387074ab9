package import SealStatements
package import SealStorage

/// Writes what a change gives rise to into the feeds of those who subscribed, in the change's own transaction: what was
/// acknowledged is never lost, and what was taken back never told.
///
/// A change that is still to be fetched is told once: there is one row for a subscription and zone, for query
/// subscriptions for a subscription and record, and a later change moves it to the feed's end. All rows of one
/// transaction in one feed share a number.
package struct Notifier {
    package let zone: ZoneRow
    package let caller: Caller
    /// Microseconds since 1970.
    package let now: Int64
    package let connection: any SQLConnection

    package init(zone: ZoneRow, caller: Caller, now: Int64, connection: any SQLConnection) {
        self.zone = zone
        self.caller = caller
        self.now = now
        self.connection = connection
    }

    /// After a save.
    func recordsChanged(_ changes: [RecordChange]) throws {
        guard !zone.watch.isEmpty, !changes.isEmpty else { return }
        if zone.isPublic {
            try PublicChanges.note(changes, in: zone, by: caller, now: now, connection: connection)
            return
        }
        let watch = zone.watch.contains(.stale) ? try Watch.refresh(zone, in: connection) : zone.watch
        try holdFeeds()
        let hasWebhooks = watch.contains(.webhooks)
        if watch.contains(.changes) {
            // In zones with shares each is told of its own ones.
            for (shares, changes) in Dictionary(grouping: changes, by: \.shares) {
                try tellChanges(types: Set(changes.map(\.type)).sorted(), shares: shares, mayHaveWebhooks: hasWebhooks)
            }
        }
        if watch.contains(.queries) { try QueryNotifier(notifier: self, hasWebhooks: hasWebhooks).tell(changes) }
    }

    /// The feeds of all who may be told, before anything is read or written of them: other zones' saves may tell the
    /// same ones, and what one of those ends, this one is not to find still there.
    private func holdFeeds() throws {
        try NotificationFeed.hold(
            in: """
                SELECT v.viewer FROM zone_view v WHERE v.owner = $1 AND v.zone = $2 AND v.gone = 0
                AND EXISTS (SELECT 1 FROM subscription s WHERE \(Watch.concerns))
                """, zone.key, in: connection)
    }

    /// After the zone appeared, became shared, lost or gained somebody, or went: for all who see it now. Subscriptions
    /// to one record type hear of it where the zone's records came or went with it.
    /// - Parameter shares: those that it concerns beside the zone's own scope.
    package func zoneChanged(shares: Set<Int64>, comesOrGoes: Bool) throws {
        // Who watches may have changed with the zone: the row does not count here.
        try holdFeeds()
        try tellChanges(types: comesOrGoes ? nil : [], shares: shares, mayHaveWebhooks: true)
    }

    /// After somebody asked for access: for those who answer, and for subscriptions to no record type.
    package func accessRequested(of users: [UserID]) throws {
        try holdFeeds()
        let names = users.indices.map { "$\($0 + 4)" }.joined(separator: ", ")
        try tell(
            """
            v.owner = $1 AND v.zone = $2 AND v.gone = 0
            AND v.viewer IN (SELECT id FROM identity WHERE container = $3 AND user_name IN (\(names)))
            """, " AND s.record_type = ''", zone.key + [.text(zone.container)] + users.map { .text($0.recordName) },
            mayHaveWebhooks: true)
    }

    /// - Parameters:
    ///   - types: of the records that changed; nil for any.
    ///   - shares: the hierarchical ones that it concerns.
    private func tellChanges(types: [String]?, shares: Set<Int64>, mayHaveWebhooks: Bool) throws {
        let views = "v.owner = $1 AND v.zone = $2 AND v.gone = 0" + DatabaseFeed.concerned("v", zone, shares)
        let names = (types ?? []).indices.map { ", $\($0 + 3)" }.joined()
        try tell(
            views, types == nil ? "" : " AND s.record_type IN (''\(names))",
            zone.key + (types ?? []).map { .text($0) }, mayHaveWebhooks: mayHaveWebhooks)
    }

    /// Tells zone and database subscriptions.
    /// - Parameters:
    ///   - views: a condition on the views `v` of those who may be told.
    ///   - subscriptions: one on their subscriptions `s`, with its `AND`; nothing for all of them.
    private func tell(
        _ views: String, _ subscriptions: String, _ values: [SQLValue], mayHaveWebhooks: Bool
    ) throws {
        let told = "\(Watch.concerns) AND s.kind <> 1\(subscriptions)"
        // Of whoever has more of them, nothing is written for the devices but that they are to fetch changes.
        let feeds = try NotificationFeed.advance(
            """
            , floor = CASE WHEN owner IN (
                SELECT v.viewer FROM zone_view v WHERE \(views) AND (
                    SELECT 1 FROM subscription s WHERE \(told) LIMIT 1 OFFSET \(PushLimits.subscriptionsPerChange)) IS NOT NULL
                ) THEN last + 1 ELSE floor END
            """,
            where: """
                owner IN (
                    SELECT v.viewer FROM zone_view v WHERE \(views) AND EXISTS (SELECT 1 FROM subscription s WHERE \(told)))
                """, values, in: connection)
        guard !feeds.isEmpty else { return }
        let next = values.count
        func write(to feeds: String, _ end: String = "", _ more: [SQLValue] = []) throws {
            try connection.execute(
                """
                INSERT INTO notification (owner, environment, database, subscription, zone_owner, zone, record, kind, number,
                    other_number, origin, payload, changed)
                SELECT s.owner, s.environment, s.database, s.id, v.owner, v.zone, '', s.kind, f.last, 0, $\(next + 1),
                    $\(next + 2), $\(next + 3)
                FROM zone_view v JOIN notification_feed f ON f.owner = v.viewer AND \(feeds)
                    JOIN subscription s ON \(told) WHERE \(views)\(end)
                \(Self.coalescing)
                """, values + [.blob(caller.session), .blob([]), .integer(now)] + more)
        }
        try write(to: "f.floor < f.last")
        // Webhooks do not fetch: the first of them are told all the same.
        for feed in feeds where mayHaveWebhooks && feed.place.floor == feed.place.last {
            try write(
                to: "f.owner = $\(next + 4)",
                " AND s.has_webhook = 1 ORDER BY s.id LIMIT \(PushLimits.subscriptionsPerChange)",
                [.integer(feed.owner)])
        }
        for feed in feeds { try NotificationFeed.trim(feed.owner, at: feed.place.last, in: connection) }
        try announce(to: feeds.map(\.owner), mayHaveWebhooks: mayHaveWebhooks)
    }

    /// `other_number` is the newest change by another session than the newest one's: what the newest one's device is
    /// told by. So a device hears of every change but its own, whoever's changes were told together.
    static let coalescing = """
        ON CONFLICT (owner, environment, database, subscription, zone_owner, zone, record) DO UPDATE SET
            other_number = CASE WHEN notification.origin = excluded.origin THEN notification.other_number
                ELSE notification.number END,
            origin = excluded.origin, number = excluded.number, kind = excluded.kind, payload = excluded.payload,
            changed = excluded.changed
        """

    func announce(to owners: [Int64], mayHaveWebhooks: Bool) throws {
        for owner in owners { connection.announce(.notifications(of: owner)) }
        guard mayHaveWebhooks else { return }
        try WebhookRow.wake(
            where: "owner IN (SELECT v.viewer FROM zone_view v WHERE v.owner = $1 AND v.zone = $2)", zone.key,
            now: now, in: connection)
    }
}
