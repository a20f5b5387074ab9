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
        var rows: [FiredSubscriptions.Row] = []
        var hasEnded = false
        for subscription in subscriptions {
            for record in records {
                guard let payload = try subscription.payload(for: record, reason: Self.reason(record.change.kind)) else { continue }
                rows.append(
                    FiredSubscriptions.Row(
                        owner: subscription.owner, environment: subscription.environment, database: subscription.database,
                        subscription: subscription.message.subscriptionID, record: record.change.name, payload: payload))
                if subscription.firesOnce {
                    try subscription.end(in: connection)
                    hasEnded = true
                    break
                }
            }
        }
        guard !rows.isEmpty else { return }
        if hasEnded { try Watch.noteLoss(in: notifier.zone.key, connection) }
        let owners = try FiredSubscriptions(
            zone: notifier.zone.key, origin: notifier.caller.session, changed: notifier.now, connection: connection
        ).write(rows)
        try notifier.announce(to: owners, mayHaveWebhooks: hasWebhooks)
    }
}
