public import Foundation
import SealCoding
public import SealStatements
import SealWire
import SwiftProtobuf

extension Container {
    /// Something changed: CloudKit's `CKNotification`.
    ///
    /// It is a hint and nothing more. Nobody signed it, several changes may be told as one, and some may not be told at
    /// all: fetch what changed by token (`databaseChanges`, `recordZoneChanges`), which verifies it.
    public struct Notification: Sendable, Hashable {
        /// Where to go on from after this one: keep it, and give it to `notifications(after:)`. Opaque. Nil where
        /// others of the same commit are still to come.
        public let id: String?
        /// What it says.
        public let content: Content

        /// What a notification says.
        public enum Content: Sendable, Hashable {
            /// The stream is open: what changes from here on is told. It comes first.
            case ready
            /// A subscription fired.
            case fired(Fired)
            /// More happened than is kept: fetch the changes of every database. Then the stream goes on.
            case reset
        }

        /// What a subscription says.
        public struct Fired: Sendable, Hashable {
            /// Which subscription fired.
            public let subscriptionID: Subscription.ID
            /// Of which kind that is.
            public let subscriptionType: SubscriptionType
            /// The container in which something has changed.
            public let containerIdentifier: String
            /// The database in which something has changed.
            public let databaseScope: Database.Scope
            /// The zone in which something has changed.
            public let zoneID: RecordZone.ID
            /// Of query subscriptions.
            public let recordID: Record.ID?
            /// Of query subscriptions.
            public let recordType: String?
            /// Of query subscriptions: what was done to the record.
            public let queryNotificationReason: Reason?
            /// The desired keys' values, as the server has them: not verified.
            public let recordFields: [String: RecordValue]
            /// A value was cut or left out.
            public let isPruned: Bool
            /// What the subscription has to be shown; nil for nothing.
            public let notificationInfo: NotificationInfo?
            /// Of the newest change, by the server's clock.
            public let date: Date
        }

        /// What was done to a record, by CloudKit's numbers.
        public enum Reason: Int, Sendable {
            /// It was saved for the first time.
            case recordCreated = 1
            /// It was saved, and matches now.
            case recordUpdated = 2
            /// It was deleted.
            case recordDeleted = 3
        }
    }
}

extension Container.Notification.Fired {
    /// Nil for what this version does not know.
    /// - Parameter own: the user whose zones are its own.
    init?(_ wire: Sealkit_V1_Notification, own: String) {
        guard let type = SubscriptionType(rawValue: Int(wire.kind)),
            let scope = Database.Scope(pathComponent: wire.database)
        else { return nil }
        subscriptionID = wire.subscriptionID
        subscriptionType = type
        containerIdentifier = wire.container
        databaseScope = scope
        let owner = wire.zone.ownerName
        zoneID = RecordZone.ID(
            zoneName: wire.zone.zoneName,
            ownerName: owner.isEmpty || owner == own || scope == .public ? RecordZone.ID.currentUser : owner)
        recordID = wire.recordName.isEmpty ? nil : Record.ID(recordName: wire.recordName, zoneID: zoneID)
        recordType = wire.recordType.isEmpty ? nil : wire.recordType
        queryNotificationReason = Container.Notification.Reason(rawValue: Int(wire.reason))
        var fields: [String: RecordValue] = [:]
        for field in wire.fields {
            if let value = try? RecordValue(field.value) { fields[field.name] = value }
        }
        recordFields = fields
        isPruned = wire.pruned
        notificationInfo = wire.hasNotificationInfo ? NotificationInfo(wire.notificationInfo) : nil
        date = Date(microseconds: wire.date)
    }
}

extension Database.Scope {
    init?(pathComponent: String) {
        switch pathComponent {
        case "public": self = .public
        case "private": self = .private
        case "shared": self = .shared
        default: return nil
        }
    }
}
