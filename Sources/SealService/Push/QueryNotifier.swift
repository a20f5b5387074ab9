import Foundation
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// The notifications of query subscriptions: of each record that they match.
///
/// An update fires when the record as it is now matches, whether or not it did before; a deletion when it did at last.
/// One that stops matching fires nothing, as with CloudKit.
struct QueryNotifier {
    let notifier: Notifier
    /// Whether anybody who watches the zone has one.
    let hasWebhooks: Bool

    private var connection: any SQLConnection { notifier.connection }

    /// Reason codes on the wire.
    static func reason(_ kind: RecordChange.Kind) -> (code: UInt32, event: SubscriptionRow.FiresOn) {
        switch kind {
        case .created: (1, .creation)
        case .updated: (2, .update)
        case .deleted: (3, .deletion)
        }
    }

    /// `ComparisonWork`, and bytes of subscriptions in portions, that one save pays for: as many for each subscriber.
    /// Everybody else's writes wait meanwhile: some 40 ms.
    static let mostWork = 60_000
    private static let portion = 16

    func tell(_ changes: [RecordChange]) throws {
        let types = Set(changes.map(\.type)).sorted()
        let parameters = types.indices.map { "$\($0 + 3)" }.joined(separator: ", ")
        let values = notifier.zone.key + types.map { .text($0) }
        let condition = """
            \(Watch.subscriptions)
            WHERE v.owner = $1 AND v.zone = $2 AND v.gone = 0 AND s.kind = 1 AND s.record_type IN (\(parameters))
            """
        let subscribers = try connection.rows(
            "SELECT s.owner, SUM(LENGTH(s.body)) AS bytes FROM \(condition) GROUP BY s.owner ORDER BY s.owner", values
        ) { (owner: try $0.int64("owner"), bytes: Int(try $0.int64("bytes"))) }
        guard !subscribers.isEmpty else { return }
        let share = Self.mostWork / subscribers.count
        var (overflown, work): (Set<Int64>, [Int64: Int]) = ([], [:])
        for subscriber in subscribers {
            work[subscriber.owner] = subscriber.bytes / Self.portion
            if subscriber.bytes / Self.portion > share { overflown.insert(subscriber.owner) }
        }
        let others = overflown.isEmpty ? "" : " AND s.owner NOT IN (\(Shares.list(overflown.sorted())))"
        let subscriptions = try connection.rows(
            "SELECT s.owner, s.environment, s.database, s.body FROM \(condition)\(others)", values
        ) { row in
            // One that a later version does not take any more must not keep others from saving: it fires no more.
            try Subscriber(
                owner: row.int64("owner"), environment: row.int64("environment"), database: row.int64("database"),
                message: Sealkit_V1_Subscription(serializedBytes: row.data("body")))
        }.compactMap { $0 }
        let records = changes.map { ChangedRecord($0) }
        var rows: [FiredSubscriptions.Row] = []
        var ended: [Subscriber] = []
        for subscription in subscriptions {
            try connection.checkBudget()
            for record in records where !overflown.contains(subscription.owner) {
                work[subscription.owner, default: 0] += try subscription.work(with: record)
                guard work[subscription.owner, default: 0] <= share else {
                    overflown.insert(subscription.owner)
                    break
                }
                guard let payload = try subscription.payload(for: record, reason: Self.reason(record.change.kind))
                else { continue }
                rows.append(
                    FiredSubscriptions.Row(
                        owner: subscription.owner, environment: subscription.environment,
                        database: subscription.database,
                        subscription: subscription.message.subscriptionID, record: record.change.name, payload: payload)
                )
                if subscription.firesOnce {
                    ended.append(subscription)
                    break
                }
            }
        }
        try write(
            rows.filter { !overflown.contains($0.owner) }, ended: ended.filter { !overflown.contains($0.owner) },
            overflown)
    }

    /// - Parameter overflown: those whose devices are told to fetch changes, which costs less.
    private func write(_ rows: [FiredSubscriptions.Row], ended: [Subscriber], _ overflown: Set<Int64>) throws {
        for subscription in ended { try subscription.end(in: connection) }
        for owner in overflown { try NotificationFeed.overflow(owner, in: connection) }
        guard !rows.isEmpty || !overflown.isEmpty else { return }
        if !ended.isEmpty { try Watch.noteLoss(in: notifier.zone.key, connection) }
        let owners = try FiredSubscriptions(
            zone: notifier.zone.key, origin: notifier.caller.session, changed: notifier.now, connection: connection
        ).write(rows)
        try notifier.announce(to: owners + overflown, mayHaveWebhooks: hasWebhooks)
    }
}
