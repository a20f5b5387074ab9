public import Foundation
import SealKit

/// Any change in one zone of the private database.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    public let zoneID: CKRecordZone.ID
    private let type: Shared<CKRecord.RecordType?>

    /// Only changes of records of this type; nil for any.
    public var recordType: CKRecord.RecordType? {
        get { type.value }
        set { type.value = newValue }
    }

    public convenience init(zoneID: CKRecordZone.ID) { self.init(of: zoneID, id: nil) }

    public convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        self.init(of: zoneID, id: subscriptionID)
    }

    private init(of zoneID: CKRecordZone.ID, id: CKSubscription.ID?) {
        self.zoneID = zoneID
        type = Shared(nil)
        super.init(id, .recordZone)
    }

    override var subject: (kind: String, words: [String]) {
        ("zone", [zoneID.zoneName, zoneID.ownerName] + (recordType.map { [$0] } ?? []))
    }

    init(_ subscription: RecordZoneSubscription, info: NotificationInfo?) {
        zoneID = CKRecordZoneID(subscription.zoneID)
        type = Shared(subscription.recordType)
        super.init(subscription.subscriptionID, .recordZone, info: info, webhook: subscription.webhook)
    }

    override func sealed() -> any Subscription {
        var subscription = RecordZoneSubscription(zoneID: zoneID.sealed, subscriptionID: subscriptionID)
        subscription.recordType = recordType
        subscription.notificationInfo = notificationInfo?.content
        subscription.webhook = webhook
        return subscription
    }

    public required init?(coder: NSCoder) {
        guard let zoneID = CKRecordZoneID(coder: coder) else { return nil }
        self.zoneID = zoneID
        type = Shared(coder.text("RecordType"))
        super.init(coder: coder)
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        zoneID.encode(with: coder)
        if let recordType { coder.encode(NSString(string: recordType), forKey: "RecordType") }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: subscriptionID)
        copy.recordType = recordType
        copy.notificationInfo = copiedInfo
        copy.webhook = webhook
        return copy
    }
}
