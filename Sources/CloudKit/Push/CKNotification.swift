public import Foundation
import SealKit

/// What makes `CKNotification(fromRemoteNotificationDictionary:)` give an object of the notification's own class.
public protocol CKNotificationReadingDictionary {}

extension CKNotification: CKNotificationReadingDictionary {}

extension CKNotificationReadingDictionary where Self: CKNotification {
    /// What an app was told of, as an object of the class of its kind.
    /// - Parameter notificationDictionary: as `CKContainer.remoteNotificationHandler` gets it.
    /// - Returns: nil for what is no notification of CloudKit's, and for one of another kind than is asked for.
    public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
        // A class's initializer in a protocol's extension may give another object.
        guard let notification = CKNotification.read(notificationDictionary) as? Self else { return nil }
        self = notification
    }
}

/// Something changed. It is a hint and nothing more, which nobody has signed: fetch what changed by token.
open class CKNotification: NSObject, @unchecked Sendable {
    public typealias ID = CKNotificationID

    public enum NotificationType: Int, Sendable {
        case query = 1
        case recordZone = 2
        /// Told by nobody any more.
        case readNotification = 3
        case database = 4
    }

    public let notificationType: NotificationType
    public let containerIdentifier: String?
    public let subscriptionID: CKSubscription.ID?
    /// Whose subscription it is.
    public let subscriptionOwnerUserRecordID: CKRecord.ID?
    /// A value was cut or left out.
    public let isPruned: Bool
    private let identifier: String?
    private let info: SealKit.NotificationInfo

    init(_ content: NotificationContent, _ type: NotificationType) {
        notificationType = type
        containerIdentifier = content.containerIdentifier
        subscriptionID = content.subscriptionID
        subscriptionOwnerUserRecordID = content.owner.map { CKRecordID(recordName: $0) }
        isPruned = content.isPruned
        identifier = content.identifier
        info = content.info
    }

    static func read(_ dictionary: [AnyHashable: Any]) -> CKNotification? {
        guard let content = NotificationContent(dictionary) else { return nil }
        switch content.kind {
        case .query(let query): return CKQueryNotification(content, query)
        case .recordZone(let zoneID): return CKRecordZoneNotification(content, zoneID)
        case .database: return CKDatabaseNotification(content)
        }
    }

    @available(*, deprecated, message: "nothing is fetched by it any more")
    public var notificationID: CKNotification.ID? { identifier.map { CKNotificationID($0) } }

    public var title: String? { info.title }
    public var titleLocalizationKey: String? { info.titleLocalizationKey }
    public var titleLocalizationArgs: [String]? { Self.some(info.titleLocalizationArgs) }
    public var subtitle: String? { info.subtitle }
    public var subtitleLocalizationKey: String? { info.subtitleLocalizationKey }
    public var subtitleLocalizationArgs: [String]? { Self.some(info.subtitleLocalizationArgs) }
    public var alertBody: String? { info.alertBody }
    public var alertLocalizationKey: String? { info.alertLocalizationKey }
    public var alertLocalizationArgs: [String]? { Self.some(info.alertLocalizationArgs) }
    public var alertActionLocalizationKey: String? { info.alertActionLocalizationKey }
    public var alertLaunchImage: String? { info.alertLaunchImage }
    public var badge: NSNumber? { info.shouldBadge ? 1 : nil }
    public var soundName: String? { info.soundName }
    public var category: String? { info.category }

    private static func some(_ list: [String]) -> [String]? { list.isEmpty ? nil : list }

    /// Names only: values do not end up in logs.
    open override var description: String {
        "<\(type(of: self)): subscription \(subscriptionID ?? "-") of \(containerIdentifier ?? "-")>"
    }
}

/// `CKNotification.ID`.
public final class CKNotificationID: NSObject, NSSecureCoding, NSCopying, Sendable {
    private let text: String

    init(_ text: String) { self.text = text }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let text = coder.text("NotificationID") else { return nil }
        self.text = text
    }

    public func encode(with coder: NSCoder) { coder.encode(NSString(string: text), forKey: "NotificationID") }
    public func copy(with zone: NSZone? = nil) -> Any { self }
    public override func isEqual(_ object: Any?) -> Bool { (object as? CKNotificationID)?.text == text }
    public override var hash: Int { text.hashValue }
}

/// A record that a query subscription looks for was made, changed or deleted.
public final class CKQueryNotification: CKNotification, @unchecked Sendable {
    public enum Reason: Int, Sendable {
        case recordCreated = 1
        case recordUpdated = 2
        case recordDeleted = 3
    }

    public let queryNotificationReason: Reason
    /// The desired keys' values, as the server has them: not verified.
    public let recordFields: [String: Any]?
    public let recordID: CKRecord.ID?
    public let databaseScope: CKDatabase.Scope

    @available(*, deprecated, renamed: "databaseScope")
    public var isPublicDatabase: Bool { databaseScope == .public }

    init(_ content: NotificationContent, _ query: NotificationContent.Query) {
        queryNotificationReason = query.reason
        recordFields = query.fields.isEmpty ? nil : query.fields
        recordID = query.recordID
        databaseScope = content.scope
        super.init(content, .query)
    }
}

/// Something changed in a zone.
public final class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    public let recordZoneID: CKRecordZone.ID?
    public let databaseScope: CKDatabase.Scope

    init(_ content: NotificationContent, _ zoneID: CKRecordZone.ID) {
        recordZoneID = zoneID
        databaseScope = content.scope
        super.init(content, .recordZone)
    }
}

/// Something changed in a database: ask which zones.
public final class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    public let databaseScope: CKDatabase.Scope

    init(_ content: NotificationContent) {
        databaseScope = content.scope
        super.init(content, .database)
    }
}
