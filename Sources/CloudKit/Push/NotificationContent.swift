import Foundation
import SealKit

/// What a notification's dictionary says, in the shape that Apple's devices get it in: `aps` is what is shown, `ck`
/// what is meant.
struct NotificationContent {
    struct Query {
        let reason: CKQueryNotification.Reason
        let recordID: CKRecord.ID?
        let fields: [String: Any]
    }

    enum Kind {
        case query(Query)
        case recordZone(CKRecordZone.ID)
        case database
    }

    let kind: Kind
    let scope: CKDatabase.Scope
    let containerIdentifier: String?
    let subscriptionID: CKSubscription.ID?
    let owner: String?
    let isPruned: Bool
    let identifier: String?
    let info: SealKit.NotificationInfo

    enum Key {
        static let (shown, meant) = ("aps", "ck")
        static let (version, container, user, identifier, pruned) = ("ce", "cid", "ckuserid", "nid", "p")
        static let (query, zone, database) = ("qry", "fet", "met")
        static let (subscription, scope, zoneName, zoneOwner) = ("sid", "dbs", "zid", "zoid")
        static let (record, reason, fields) = ("rid", "fo", "af")
    }

    /// nil for what is no notification of CloudKit's.
    init?(_ dictionary: [AnyHashable: Any]) {
        guard let meant = dictionary[Key.meant] as? [AnyHashable: Any] else { return nil }
        func part(_ key: String) -> [AnyHashable: Any]? { meant[key] as? [AnyHashable: Any] }
        guard let body = part(Key.query) ?? part(Key.zone) ?? part(Key.database) else { return nil }
        guard let scope = (body[Key.scope] as? Int).flatMap({ CKDatabase.Scope(rawValue: $0) }) else { return nil }
        self.scope = scope
        let zoneID = (body[Key.zoneName] as? String).map {
            CKRecordZoneID(zoneName: $0, ownerName: body[Key.zoneOwner] as? String ?? CKCurrentUserDefaultName)
        }
        if part(Key.query) != nil {
            guard let reason = (body[Key.reason] as? Int).flatMap({ CKQueryNotification.Reason(rawValue: $0) }) else {
                return nil
            }
            let recordID = (body[Key.record] as? String).map { CKRecordID(recordName: $0, zoneID: zoneID ?? .default) }
            kind = .query(
                Query(reason: reason, recordID: recordID, fields: body[Key.fields] as? [String: Any] ?? [:]))
        } else if part(Key.zone) != nil {
            guard let zoneID else { return nil }
            kind = .recordZone(zoneID)
        } else {
            kind = .database
        }
        containerIdentifier = meant[Key.container] as? String
        subscriptionID = body[Key.subscription] as? String
        owner = meant[Key.user] as? String
        isPruned = (meant[Key.pruned] as? Int) == 1
        identifier = meant[Key.identifier] as? String
        info = SealKit.NotificationInfo(shown: dictionary[Key.shown] as? [AnyHashable: Any] ?? [:])
    }
}

extension SealKit.Container.Notification.Fired {
    /// - Parameters:
    ///   - id: of the notification, where it is the last of its commit.
    ///   - user: whose subscription it is, where that is known.
    func dictionary(id: String?, user: String?) -> [AnyHashable: Any] {
        typealias Key = NotificationContent.Key
        var body: [AnyHashable: Any] = [Key.subscription: subscriptionID, Key.scope: databaseScope.rawValue]
        let kind: String
        switch subscriptionType {
        case .query:
            kind = Key.query
            body[Key.reason] = queryNotificationReason?.rawValue
            body[Key.record] = recordID?.recordName
            body[Key.fields] = recordFields.mapValues { $0.object(in: zoneID) }
        case .recordZone: kind = Key.zone
        case .database: kind = Key.database
        }
        if subscriptionType != .database {
            body[Key.zoneName] = zoneID.zoneName
            body[Key.zoneOwner] = zoneID.ownerName
        }
        var meant: [AnyHashable: Any] = [Key.version: 2, Key.container: containerIdentifier, kind: body]
        meant[Key.user] = user
        if isPruned { meant[Key.pruned] = 1 }
        meant[Key.identifier] = id
        return [Key.shown: notificationInfo?.shown ?? ["content-available": 1], Key.meant: meant]
    }

    /// That anything may have changed in a database.
    static func dictionary(ofAll scope: CKDatabase.Scope, in container: String, user: String) -> [AnyHashable: Any] {
        typealias Key = NotificationContent.Key
        let body: [AnyHashable: Any] = [Key.scope: scope.rawValue]
        let meant: [AnyHashable: Any] = [
            Key.version: 2, Key.container: container, Key.user: user, Key.database: body,
        ]
        return [Key.shown: ["content-available": 1] as [AnyHashable: Any], Key.meant: meant]
    }
}

extension SealKit.NotificationInfo {
    private static func alert() -> [(String, WritableKeyPath<SealKit.NotificationInfo, String?>)] {
        [
            ("title", \.title), ("title-loc-key", \.titleLocalizationKey), ("subtitle", \.subtitle),
            ("subtitle-loc-key", \.subtitleLocalizationKey), ("body", \.alertBody),
            ("loc-key", \.alertLocalizationKey), ("action-loc-key", \.alertActionLocalizationKey),
            ("launch-image", \.alertLaunchImage),
        ]
    }

    private static func lists() -> [(String, WritableKeyPath<SealKit.NotificationInfo, [String]>)] {
        [
            ("title-loc-args", \.titleLocalizationArgs), ("subtitle-loc-args", \.subtitleLocalizationArgs),
            ("loc-args", \.alertLocalizationArgs),
        ]
    }

    /// What the device shows.
    fileprivate var shown: [AnyHashable: Any] {
        var alert: [AnyHashable: Any] = [:]
        for (key, path) in Self.alert() { alert[key] = self[keyPath: path] }
        for (key, path) in Self.lists() where !self[keyPath: path].isEmpty { alert[key] = self[keyPath: path] }
        var shown: [AnyHashable: Any] = [:]
        if !alert.isEmpty { shown["alert"] = alert }
        shown["sound"] = soundName
        shown["category"] = category
        if shouldBadge { shown["badge"] = 1 }
        if shouldSendContentAvailable { shown["content-available"] = 1 }
        if shouldSendMutableContent { shown["mutable-content"] = 1 }
        return shown
    }

    fileprivate init(shown: [AnyHashable: Any]) {
        self.init()
        if let text = shown["alert"] as? String { alertBody = text }
        let alert = shown["alert"] as? [AnyHashable: Any] ?? [:]
        for (key, path) in Self.alert() { if let text = alert[key] as? String { self[keyPath: path] = text } }
        for (key, path) in Self.lists() { if let list = alert[key] as? [String] { self[keyPath: path] = list } }
        soundName = shown["sound"] as? String
        category = shown["category"] as? String
        shouldBadge = shown["badge"] != nil
        shouldSendContentAvailable = (shown["content-available"] as? Int) == 1
        shouldSendMutableContent = (shown["mutable-content"] as? Int) == 1
    }
}
