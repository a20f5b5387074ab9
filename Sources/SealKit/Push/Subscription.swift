public import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf

/// A wish to be told of changes: CloudKit's `CKSubscription`. Each belongs to a user and one of the databases, under an
/// id of the app's choice.
///
/// Make one as `DatabaseSubscription`, `RecordZoneSubscription` or `QuerySubscription`.
public protocol Subscription: Sendable {
    /// The name of a subscription.
    typealias ID = String

    /// 1 to 255 printable ASCII characters. Saving another subscription under the same id puts it in the first one's
    /// place.
    var subscriptionID: ID { get }
    /// Of which kind it is.
    var subscriptionType: SubscriptionType { get }
    /// What is shown when it fires; nil for nothing.
    var notificationInfo: NotificationInfo? { get set }
    /// Sends the notifications to this URL as well, where the server's operator allows its origin. The receiver checks
    /// what comes with `WebhookVerifier`.
    var webhook: String? { get set }
}

/// CloudKit's numbers.
public enum SubscriptionType: Int, Sendable {
    /// Records that match a predicate.
    case query = 1
    /// All of one zone.
    case recordZone = 2
    /// All of a database.
    case database = 3
}

/// Any change in any zone of the private or the shared database, those included that come later.
public struct DatabaseSubscription: Subscription, Hashable {
    public let subscriptionID: ID
    /// Only changes of records of this type; nil for any.
    public var recordType: String?
    public var notificationInfo: NotificationInfo?
    public var webhook: String?
    public var subscriptionType: SubscriptionType { .database }

    /// - Parameter subscriptionID: 1 to 255 printable ASCII characters.
    public init(subscriptionID: ID) { self.subscriptionID = subscriptionID }
}

/// Any change in one zone of the private database.
public struct RecordZoneSubscription: Subscription, Hashable {
    public let subscriptionID: ID
    /// The zone whose changes are told.
    public let zoneID: RecordZone.ID
    /// Only changes of records of this type; nil for any.
    public var recordType: String?
    public var notificationInfo: NotificationInfo?
    public var webhook: String?
    public var subscriptionType: SubscriptionType { .recordZone }

    /// - Parameters:
    ///   - zoneID: of the zone whose changes are told.
    ///   - subscriptionID: 1 to 255 printable ASCII characters.
    public init(zoneID: RecordZone.ID, subscriptionID: ID) {
        self.zoneID = zoneID
        self.subscriptionID = subscriptionID
    }
}

/// Records of one type that fulfil a predicate over their plain fields, in the private or the public database.
///
/// A record that was saved counts as it is now: one that begins to match is told as an update, one that ceases to match
/// is not told.
public struct QuerySubscription: Subscription, Hashable {
    /// What fires it.
    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// A record that matches was saved for the first time.
        public static let firesOnRecordCreation = Options(rawValue: 1)
        /// A record was saved, and matches as it is now.
        public static let firesOnRecordUpdate = Options(rawValue: 2)
        /// A record that matched was deleted.
        public static let firesOnRecordDeletion = Options(rawValue: 4)
        /// The subscription goes once it has fired.
        public static let firesOnce = Options(rawValue: 8)
    }

    public let subscriptionID: ID
    /// The type whose records are looked at.
    public let recordType: String
    /// What they have to match, by their plain fields.
    public let predicate: Query.Predicate
    /// What fires it.
    public let querySubscriptionOptions: Options
    /// Only there; nil for all zones.
    public var zoneID: RecordZone.ID?
    public var notificationInfo: NotificationInfo?
    public var webhook: String?
    public var subscriptionType: SubscriptionType { .query }

    /// - Parameters:
    ///   - recordType: of the records; it need not be there yet.
    ///   - predicate: over plain fields, as of a query.
    ///   - subscriptionID: 1 to 255 printable ASCII characters.
    ///   - options: what fires it.
    public init(
        recordType: String, predicate: Query.Predicate, subscriptionID: ID,
        options: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    ) {
        self.recordType = recordType
        self.predicate = predicate
        self.subscriptionID = subscriptionID
        querySubscriptionOptions = options
    }
}
