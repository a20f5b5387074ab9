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
            Subscriber(
                owner: try row.int64(0), environment: try row.int64(1), database: try row.int64(2),
                message: try Sealkit_V1_Subscription(serializedBytes: try row.data(3)))
        }
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

/// A record that was saved or deleted, parsed when the first subscription asks for it.
final class ChangedRecord {
    let change: RecordChange
    private var parsed: [String: Sealkit_V1_Field]?

    init(_ change: RecordChange) { self.change = change }

    /// Its fields now; of a deleted record those it had.
    func fields() throws -> [String: Sealkit_V1_Field] {
        if let parsed { return parsed }
        let bytes = change.kind == .deleted ? change.formerFields : change.fields
        let fields = try Sealkit_V1_Record(serializedBytes: bytes).fields
        let byName = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
        parsed = byName
        return byName
    }
}

/// A query subscription, and what it says of a record.
private struct Subscriber {
    let owner: Int64
    let environment: Int64
    let database: Int64
    let message: Sealkit_V1_Subscription

    var firesOn: SubscriptionRow.FiresOn { SubscriptionRow.FiresOn(rawValue: Int64(message.firesOn)) }
    var firesOnce: Bool { firesOn.contains(.once) }

    /// What is kept for the notification; nil when the subscription does not fire.
    func payload(
        for record: ChangedRecord, reason: (code: UInt32, event: SubscriptionRow.FiresOn)
    ) throws -> [UInt8]? {
        guard record.change.type == message.recordType, firesOn.contains(reason.event) else { return nil }
        var payload = Sealkit_V1_Notification()
        payload.recordType = record.change.type
        payload.reason = reason.code
        if !message.notificationInfo.desiredKeys.isEmpty {
            (payload.fields, payload.pruned) = NotificationFields.pick(
                message.notificationInfo.desiredKeys, from: try record.fields())
        }
        // The subscription itself will be gone when this is read.
        if firesOnce, message.hasNotificationInfo { payload.notificationInfo = message.notificationInfo }
        return try payload.serializedBytes()
    }
}

/// Which values a notification carries: small plain ones.
enum NotificationFields {
    static func pick(
        _ keys: [String], from fields: [String: Sealkit_V1_Field]
    ) -> (fields: [Sealkit_V1_NotificationField], isPruned: Bool) {
        var picked: [Sealkit_V1_NotificationField] = []
        var isPruned = false
        for key in keys {
            guard let field = fields[key] else { continue }
            guard case .plain(let value) = field.content, let (small, isCut) = fitting(value) else {
                isPruned = true
                continue
            }
            isPruned = isPruned || isCut
            picked.append(
                .with {
                    $0.name = key
                    $0.value = small
                })
        }
        return (picked, isPruned)
    }

    /// Nil for what no notification carries: data and lists.
    private static func fitting(_ value: Sealkit_V1_Value) -> (value: Sealkit_V1_Value, isCut: Bool)? {
        switch value.kind {
        case .string(let text):
            var cut = String(text.prefix(PushLimits.stringCharacters))
            // One character may have any number of marks on it.
            if cut.unicodeScalars.count > 4 * PushLimits.stringCharacters {
                cut = String(String.UnicodeScalarView(cut.unicodeScalars.prefix(4 * PushLimits.stringCharacters)))
            }
            return (.with { $0.string = cut }, cut.utf8.count < text.utf8.count)
        case .int64, .double, .date, .location, .reference: return (value, false)
        case .data, .list, nil: return nil
        }
    }
}
