// Messages of subscriptions and notifications: push.proto, query.proto in SealWire say what each field means.

extension Wire {
    public struct Condition: WireMessage {
        public var fieldName = ""
        public var comparator = Comparator.unspecified
        public var values: [Value] = []
        public var distance: Double = 0
        public var negated = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &fieldName)
            try coder.field(2, &comparator)
            try coder.list(3, &values)
            try coder.field(4, &distance)
            try coder.field(5, &negated)
        }
    }

    public struct NotificationInfo: WireMessage {
        public var title = ""
        public var titleLocalizationKey = ""
        public var titleLocalizationArgs: [String] = []
        public var subtitle = ""
        public var subtitleLocalizationKey = ""
        public var subtitleLocalizationArgs: [String] = []
        public var alertBody = ""
        public var alertLocalizationKey = ""
        public var alertLocalizationArgs: [String] = []
        public var alertActionLocalizationKey = ""
        public var alertLaunchImage = ""
        public var soundName = ""
        public var shouldBadge = false
        public var shouldSendContentAvailable = false
        public var shouldSendMutableContent = false
        public var category = ""
        public var collapseIDKey = ""
        public var desiredKeys: [String] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &title)
            try coder.field(2, &titleLocalizationKey)
            try coder.list(3, &titleLocalizationArgs)
            try coder.field(4, &subtitle)
            try coder.field(5, &subtitleLocalizationKey)
            try coder.list(6, &subtitleLocalizationArgs)
            try coder.field(7, &alertBody)
            try coder.field(8, &alertLocalizationKey)
            try coder.list(9, &alertLocalizationArgs)
            try coder.field(10, &alertActionLocalizationKey)
            try coder.field(11, &alertLaunchImage)
            try coder.field(12, &soundName)
            try coder.field(13, &shouldBadge)
            try coder.field(14, &shouldSendContentAvailable)
            try coder.field(15, &shouldSendMutableContent)
            try coder.field(16, &category)
            try coder.field(17, &collapseIDKey)
            try coder.list(18, &desiredKeys)
        }
    }

    public struct Subscription: WireMessage {
        public var subscriptionID = ""
        public var kind: UInt32 = 0
        public var zone: ZoneID?
        public var recordType = ""
        public var filterBy: [Condition] = []
        public var firesOn: UInt32 = 0
        public var notificationInfo: NotificationInfo?
        public var webhook = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &subscriptionID)
            try coder.field(2, &kind)
            try coder.optional(3, &zone)
            try coder.field(4, &recordType)
            try coder.list(5, &filterBy)
            try coder.field(6, &firesOn)
            try coder.optional(7, &notificationInfo)
            try coder.field(8, &webhook)
        }
    }

    public struct ModifySubscriptionsRequest: WireMessage {
        public var operationID: [UInt8] = []
        public var saves: [Subscription] = []
        public var deletes: [String] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &operationID)
            try coder.list(2, &saves)
            try coder.list(3, &deletes)
        }
    }

    public struct SubscriptionResult: WireMessage {
        public enum Outcome: Sendable {
            case subscription(Subscription)
            case deleted(Bool)
            case failure(Failure)
        }

        public var subscriptionID = ""
        public var outcome: Outcome?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &subscriptionID)
            try coder.choice(
                2, &outcome, { if case .subscription(let member) = $0 { member } else { nil } }, { .subscription($0) })
            try coder.choice(
                3, &outcome, { if case .deleted(let member) = $0 { member } else { nil } }, { .deleted($0) })
            try coder.choice(
                4, &outcome, { if case .failure(let member) = $0 { member } else { nil } }, { .failure($0) })
        }
    }

    public struct ModifySubscriptionsResponse: WireMessage {
        public var results: [SubscriptionResult] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
        }
    }

    public struct LookupSubscriptionsRequest: WireMessage {
        public var subscriptionIDs: [String] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &subscriptionIDs)
        }
    }

    public struct LookupSubscriptionsResponse: WireMessage {
        public var results: [SubscriptionResult] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
        }
    }

    public struct ListSubscriptionsRequest: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }

    public struct ListSubscriptionsResponse: WireMessage {
        public var subscriptions: [Subscription] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &subscriptions)
        }
    }

    public struct NotificationField: WireMessage {
        public var name = ""
        public var value: Value?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &name)
            try coder.optional(2, &value)
        }
    }

    public struct Notification: WireMessage {
        public var subscriptionID = ""
        public var kind: UInt32 = 0
        public var container = ""
        public var environment = ""
        public var database = ""
        public var zone: ZoneID?
        public var recordName = ""
        public var recordType = ""
        public var reason: UInt32 = 0
        public var fields: [NotificationField] = []
        public var pruned = false
        public var notificationInfo: NotificationInfo?
        public var date: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &subscriptionID)
            try coder.field(2, &kind)
            try coder.field(3, &container)
            try coder.field(4, &environment)
            try coder.field(5, &database)
            try coder.optional(6, &zone)
            try coder.field(7, &recordName)
            try coder.field(8, &recordType)
            try coder.field(9, &reason)
            try coder.list(10, &fields)
            try coder.field(11, &pruned)
            try coder.optional(12, &notificationInfo)
            try coder.field(13, &date)
        }
    }
}
