public import Foundation
import SealKit

/// A wish to be told of changes.
open class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    public typealias ID = String

    public enum SubscriptionType: Int, Sendable {
        case query = 1
        case recordZone = 2
        case database = 3
    }

    /// 1 to 255 printable ASCII characters; another one is `invalidArguments` when the subscription is saved.
    ///
    /// Of one that was made without an ID: made of what the subscription is about when the ID is first read, or the
    /// subscription first saved. It is the same after a restart, so that saving it again changes nothing, and another
    /// one for whatever is about something else.
    public var subscriptionID: CKSubscription.ID {
        if let known = id.value { return known }
        let made = Self.identifier(subject)
        return id.withLock { known in
            let first = known ?? made
            known = first
            return first
        }
    }
    public let subscriptionType: SubscriptionType
    private let id: Shared<ID?>
    private let info: Shared<NotificationInfo?>
    private let receiver: Shared<String?>

    public var notificationInfo: CKSubscription.NotificationInfo? {
        get { info.value }
        set { info.value = newValue }
    }

    /// A URL that the server sends what the subscription tells to, besides the streams of devices: for a program that
    /// is always there (`CKWebhookReceiver`). Not CloudKit's.
    public var webhook: String? {
        get { receiver.value }
        set { receiver.value = newValue }
    }

    /// - Parameter subscriptionID: nil for one that is made of what the subscription is about.
    init(_ subscriptionID: ID?, _ type: SubscriptionType, info: NotificationInfo? = nil, webhook: String? = nil) {
        id = Shared(subscriptionID)
        subscriptionType = type
        self.info = Shared(info)
        receiver = Shared(webhook)
    }

    /// - Throws: `invalidArguments`.
    func sealed() throws(SealKitError) -> any Subscription {
        throw SealKitError(
            .invalidArguments, "this is a subscription to nothing",
            remedy: "use CKQuerySubscription, CKRecordZoneSubscription or CKDatabaseSubscription")
    }

    static func face(of subscription: any Subscription) -> CKSubscription {
        let info = subscription.notificationInfo.map { NotificationInfo($0) }
        switch subscription {
        case let query as QuerySubscription: return CKQuerySubscription(query, info: info)
        case let zone as RecordZoneSubscription: return CKRecordZoneSubscription(zone, info: info)
        case let database as DatabaseSubscription: return CKDatabaseSubscription(database, info: info)
        default:
            return CKSubscription(
                subscription.subscriptionID,
                SubscriptionType(rawValue: subscription.subscriptionType.rawValue) ?? .query,
                info: info, webhook: subscription.webhook)
        }
    }

    /// What it is about now: its kind, then whatever else tells it from others. What is not set says nothing.
    var subject: (kind: String, words: [String]) { ("subscription", []) }

    private static func identifier(_ subject: (kind: String, words: [String])) -> ID {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let words = [subject.kind] + subject.words
        for byte in words.joined(separator: "\n").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\(subject.kind)-" + String(hash, radix: 16)
    }

    public class var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let id = coder.text("SubscriptionID"),
            let type = SubscriptionType(rawValue: coder.decodeInteger(forKey: "SubscriptionType"))
        else { return nil }
        self.id = Shared(id)
        subscriptionType = type
        info = Shared(coder.object(CKNotificationInfo.self, "NotificationInfo"))
        receiver = Shared(coder.text("Webhook"))
    }

    open func encode(with coder: NSCoder) {
        coder.encode(NSString(string: subscriptionID), forKey: "SubscriptionID")
        coder.encode(subscriptionType.rawValue, forKey: "SubscriptionType")
        if let notificationInfo { coder.encode(notificationInfo, forKey: "NotificationInfo") }
        if let webhook { coder.encode(NSString(string: webhook), forKey: "Webhook") }
    }

    /// What copies have of their own.
    var copiedInfo: NotificationInfo? { notificationInfo.map { NotificationInfo($0.content) } }

    open func copy(with zone: NSZone? = nil) -> Any {
        CKSubscription(subscriptionID, subscriptionType, info: copiedInfo, webhook: webhook)
    }
}
