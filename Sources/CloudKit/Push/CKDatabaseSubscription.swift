public import Foundation
import SealKit

/// Any change in any zone of the private or the shared database.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    private let type: Shared<CKRecord.RecordType?>

    /// Only changes of records of this type; nil for any.
    public var recordType: CKRecord.RecordType? {
        get { type.value }
        set { type.value = newValue }
    }

    public convenience init() { self.init(id: nil) }
    public convenience init(subscriptionID: CKSubscription.ID) { self.init(id: subscriptionID) }

    private init(id: CKSubscription.ID?) {
        type = Shared(nil)
        super.init(id, .database)
    }

    override var subject: (kind: String, words: [String]) { ("database", recordType.map { [$0] } ?? []) }

    init(_ subscription: DatabaseSubscription, info: NotificationInfo?) {
        type = Shared(subscription.recordType)
        super.init(subscription.subscriptionID, .database, info: info, webhook: subscription.webhook)
    }

    override func sealed() -> any Subscription {
        var subscription = DatabaseSubscription(subscriptionID: subscriptionID)
        subscription.recordType = recordType
        subscription.notificationInfo = notificationInfo?.content
        subscription.webhook = webhook
        return subscription
    }

    public required init?(coder: NSCoder) {
        type = Shared(coder.text("RecordType"))
        super.init(coder: coder)
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        if let recordType { coder.encode(NSString(string: recordType), forKey: "RecordType") }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKDatabaseSubscription(subscriptionID: subscriptionID)
        copy.recordType = recordType
        copy.notificationInfo = copiedInfo
        copy.webhook = webhook
        return copy
    }
}
