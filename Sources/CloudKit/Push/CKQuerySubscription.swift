public import Foundation
import SealKit

/// Records of one type that fulfil a predicate over their plain fields.
public final class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let firesOnRecordCreation = Options(rawValue: 1)
        public static let firesOnRecordUpdate = Options(rawValue: 2)
        public static let firesOnRecordDeletion = Options(rawValue: 4)
        /// The subscription goes once it has fired.
        public static let firesOnce = Options(rawValue: 8)
    }

    /// What it is about: its predicate says what is told.
    public let predicate: NSPredicate
    private let type: CKRecord.RecordType
    /// Never nil, though its type says that it may be, as CloudKit's does.
    public var recordType: CKRecord.RecordType? { type }
    public let querySubscriptionOptions: Options
    private let zone: Shared<CKRecordZone.ID?>

    /// Only there; nil for all zones.
    public var zoneID: CKRecordZone.ID? {
        get { zone.value }
        set { zone.value = newValue }
    }

    @available(*, deprecated, message: "use init(recordType:predicate:subscriptionID:options:)")
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate,
        options: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    ) {
        self.init(of: recordType, predicate, id: nil, options)
    }

    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
        options: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    ) {
        self.init(of: recordType, predicate, id: subscriptionID, options)
    }

    private init(
        of recordType: CKRecord.RecordType, _ predicate: NSPredicate, id: CKSubscription.ID?, _ options: Options
    ) {
        type = recordType
        self.predicate = predicate
        querySubscriptionOptions = options
        zone = Shared(nil)
        super.init(id, .query)
    }

    override var subject: (kind: String, words: [String]) {
        let place = zoneID.map { [$0.zoneName, $0.ownerName] } ?? []
        return ("query", [type, predicate.text, "\(querySubscriptionOptions.rawValue)"] + place)
    }

    init(_ subscription: QuerySubscription, info: NotificationInfo?) {
        type = subscription.recordType
        predicate = ReadPredicate(subscription.predicate)
        querySubscriptionOptions = Options(rawValue: UInt(subscription.querySubscriptionOptions.rawValue))
        zone = Shared(subscription.zoneID.map { CKRecordZoneID($0) })
        super.init(subscription.subscriptionID, .query, info: info, webhook: subscription.webhook)
    }

    override func sealed() throws(SealKitError) -> any Subscription {
        var subscription = QuerySubscription(
            recordType: type, predicate: try SealKit.Query.Predicate(predicate), subscriptionID: subscriptionID,
            options: .init(rawValue: UInt32(truncatingIfNeeded: querySubscriptionOptions.rawValue)))
        subscription.zoneID = zoneID?.sealed
        subscription.notificationInfo = notificationInfo?.content
        subscription.webhook = webhook
        return subscription
    }

    public required init?(coder: NSCoder) {
        guard let type = coder.text("RecordType"), let predicate = coder.predicate("Predicate") else { return nil }
        self.type = type
        self.predicate = predicate
        querySubscriptionOptions = Options(rawValue: UInt(bitPattern: coder.decodeInteger(forKey: "Options")))
        zone = Shared(coder.object(CKRecordZoneID.self, "ZoneID"))
        super.init(coder: coder)
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(NSString(string: type), forKey: "RecordType")
        coder.encode(predicate, as: "Predicate")
        coder.encode(Int(bitPattern: querySubscriptionOptions.rawValue), forKey: "Options")
        if let zoneID { coder.encode(zoneID, forKey: "ZoneID") }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKQuerySubscription(
            recordType: type, predicate: predicate, subscriptionID: subscriptionID,
            options: querySubscriptionOptions)
        copy.zoneID = zoneID
        copy.notificationInfo = copiedInfo
        copy.webhook = webhook
        return copy
    }
}
