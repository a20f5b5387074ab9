import Foundation
import SealStatements
import SealWire
import SwiftProtobuf

/// The notifications of query subscriptions: of each record that they match.
///
/// An update fires when the record as it is now matches, whether or not it did before; a deletion when it did at last.
/// One that stops matching fires nothing, as with CloudKit.
struct QueryNotifier {
    let notifier: Notifier

    private var connection: any SQLConnection { notifier.connection }

    private struct Row {
        let owner: Int64
        let database: Int64
        let environment: Int64
        let subscription: String
        let record: String
        let payload: [UInt8]
    }

    /// Reason codes on the wire.
    private static func reason(_ kind: RecordChange.Kind) -> (code: UInt32, event: SubscriptionRow.FiresOn) {
        switch kind {
        case .created: (1, .creation)
        case .updated: (2, .update)
        case .deleted: (3, .deletion)
        }
    }

    func tell(_ changes: [RecordChange]) throws {
        let types = Set(changes.map(\.type)).sorted()
        let parameters = types.indices.map { "$\($0 + 3)" }.joined(separator: ", ")
        let subscriptions = try connection.rows(
            """
            SELECT s.owner, s.environment, s.database, s.body FROM \(Watch.subscriptions)
            WHERE v.owner = $1 AND v.zone = $2 AND v.gone = 0 AND s.kind = 1 AND s.record_type IN (\(parameters))
            """, notifier.zone.key + types.map { .text($0) }
        ) { row in
            // One that a later version does not take any more must not keep others from saving: it fires no more.
            try Subscriber(
                owner: row.int64(0), environment: row.int64(1), database: row.int64(2),
                message: Sealkit_V1_Subscription(serializedBytes: row.data(3)))
        }.compactMap { $0 }
        guard !subscriptions.isEmpty else { return }
        let records = changes.map { ChangedRecord($0) }
        var rows: [Row] = []
        for subscription in subscriptions {
            for record in records {
                guard let payload = try subscription.payload(for: record, reason: Self.reason(record.change.kind)) else { continue }
                rows.append(
                    Row(
                        owner: subscription.owner, database: subscription.database, environment: subscription.environment,
                        subscription: subscription.message.subscriptionID, record: record.change.name, payload: payload))
                if subscription.firesOnce {
                    try end(subscription)
                    break
                }
            }
        }
        try write(rows)
    }

    /// It has fired, and goes; what it gave rise to stays.
    private func end(_ subscription: Subscriber) throws {
        try connection.execute(
            "DELETE FROM subscription WHERE owner = $1 AND environment = $2 AND database = $3 AND id = $4",
            [
                .integer(subscription.owner), .integer(subscription.environment), .integer(subscription.database),
                .text(subscription.message.subscriptionID),
            ])
        try Watch.refresh(notifier.zone, in: connection)
    }

    private static let rowsPerStatement = 32
    /// Of one user by one save. Beyond it the user's devices are told to fetch changes, which costs less.
    private static let mostRows = 2_000

    private func write(_ rows: [Row]) throws {
        guard !rows.isEmpty else { return }
        let byOwner = Dictionary(grouping: rows, by: \.owner)
        for (owner, rows) in byOwner {
            guard rows.count <= Self.mostRows else {
                try NotificationFeed.overflow(owner, in: connection)
                continue
            }
            var rest = rows[...]
            while !rest.isEmpty {
                try insert(rest.prefix(Self.rowsPerStatement), owner)
                rest = rest.dropFirst(Self.rowsPerStatement)
            }
        }
        try notifier.announce(
            to: byOwner.keys.sorted(), mayHaveWebhooks: notifier.zone.watch.contains(.webhooks))
    }

    private func insert(_ rows: ArraySlice<Row>, _ owner: Int64) throws {
        let number = try connection.first(
            "UPDATE notification_feed SET last = last + 1 WHERE owner = $1 RETURNING last", [.integer(owner)]
        ) { try $0.int64(0) }
        guard let number else { throw StorageError.failed(code: 0, message: "a subscriber has no feed") }
        var values = notifier.zone.key + [
            .blob(notifier.caller.session), .integer(notifier.now), .integer(owner), .integer(number),
        ]
        var tuples: [String] = []
        for row in rows {
            let first = values.count + 1
            values += [.integer(row.environment), .integer(row.database), .text(row.subscription), .text(row.record), .blob(row.payload)]
            tuples.append(
                "($5, $\(first), $\(first + 1), $\(first + 2), $1, $2, $\(first + 3), 1, $6, 0, $3, $\(first + 4), $4)")
        }
        try connection.execute(
            """
            INSERT INTO notification (owner, environment, database, subscription, zone_owner, zone, record, kind,
                number, other_number, origin, payload, changed)
            VALUES \(tuples.joined(separator: ", "))
            \(Notifier.coalescing)
            """, values)
        if number % 16 == 0 { try NotificationFeed.trim(owner, in: connection) }
    }
}
