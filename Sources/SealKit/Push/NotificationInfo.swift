import SealWire

/// What a subscription's notifications show and carry: CloudKit's `CKSubscription.NotificationInfo`.
///
/// The server passes it on as it is; the device that receives a notification shows it, or, with nothing to show, works
/// in silence. The server reads all of it: put nothing here that is worth sealing.
public struct NotificationInfo: Sendable, Hashable {
    public var title: String?
    public var titleLocalizationKey: String?
    public var titleLocalizationArgs: [String] = []
    public var subtitle: String?
    public var subtitleLocalizationKey: String?
    public var subtitleLocalizationArgs: [String] = []
    public var alertBody: String?
    public var alertLocalizationKey: String?
    public var alertLocalizationArgs: [String] = []
    public var alertActionLocalizationKey: String?
    public var alertLaunchImage: String?
    public var soundName: String?
    public var shouldBadge = false
    public var shouldSendContentAvailable = false
    public var shouldSendMutableContent = false
    public var category: String?
    public var collapseIDKey: String?
    /// At most three plain fields whose values come along, of query subscriptions: strings (the first 100 characters),
    /// numbers, dates, locations and references. Encrypted values never do.
    public var desiredKeys: [String] = []

    public init() {}

    init(_ wire: Sealkit_V1_NotificationInfo) {
        func text(_ text: String) -> String? { text.isEmpty ? nil : text }
        title = text(wire.title)
        titleLocalizationKey = text(wire.titleLocalizationKey)
        titleLocalizationArgs = wire.titleLocalizationArgs
        subtitle = text(wire.subtitle)
        subtitleLocalizationKey = text(wire.subtitleLocalizationKey)
        subtitleLocalizationArgs = wire.subtitleLocalizationArgs
        alertBody = text(wire.alertBody)
        alertLocalizationKey = text(wire.alertLocalizationKey)
        alertLocalizationArgs = wire.alertLocalizationArgs
        alertActionLocalizationKey = text(wire.alertActionLocalizationKey)
        alertLaunchImage = text(wire.alertLaunchImage)
        soundName = text(wire.soundName)
        shouldBadge = wire.shouldBadge
        shouldSendContentAvailable = wire.shouldSendContentAvailable
        shouldSendMutableContent = wire.shouldSendMutableContent
        category = text(wire.category)
        collapseIDKey = text(wire.collapseIDKey)
        desiredKeys = wire.desiredKeys
    }

    var wire: Sealkit_V1_NotificationInfo {
        var wire = Sealkit_V1_NotificationInfo()
        wire.title = title ?? ""
        wire.titleLocalizationKey = titleLocalizationKey ?? ""
        wire.titleLocalizationArgs = titleLocalizationArgs
        wire.subtitle = subtitle ?? ""
        wire.subtitleLocalizationKey = subtitleLocalizationKey ?? ""
        wire.subtitleLocalizationArgs = subtitleLocalizationArgs
        wire.alertBody = alertBody ?? ""
        wire.alertLocalizationKey = alertLocalizationKey ?? ""
        wire.alertLocalizationArgs = alertLocalizationArgs
        wire.alertActionLocalizationKey = alertActionLocalizationKey ?? ""
        wire.alertLaunchImage = alertLaunchImage ?? ""
        wire.soundName = soundName ?? ""
        wire.shouldBadge = shouldBadge
        wire.shouldSendContentAvailable = shouldSendContentAvailable
        wire.shouldSendMutableContent = shouldSendMutableContent
        wire.category = category ?? ""
        wire.collapseIDKey = collapseIDKey ?? ""
        wire.desiredKeys = desiredKeys
        return wire
    }
}
