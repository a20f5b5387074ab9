import SealWire

/// What a subscription's notifications show and carry: CloudKit's `CKSubscription.NotificationInfo`.
///
/// The server passes it on as it is; the device that receives a notification shows it, or, with nothing to show, works
/// in silence. The server reads all of it: put nothing here that is worth sealing.
public struct NotificationInfo: Sendable, Hashable {
    /// The title that is shown.
    public var title: String?
    /// The title by the app's own translations, in the place of `title`.
    public var titleLocalizationKey: String?
    /// Fields whose values fill that translation's places.
    public var titleLocalizationArgs: [String] = []
    /// The line below the title.
    public var subtitle: String?
    /// The subtitle by the app's own translations, in the place of `subtitle`.
    public var subtitleLocalizationKey: String?
    /// Fields whose values fill that translation's places.
    public var subtitleLocalizationArgs: [String] = []
    /// The text that is shown.
    public var alertBody: String?
    /// The text by the app's own translations, in the place of `alertBody`.
    public var alertLocalizationKey: String?
    /// Fields whose values fill that translation's places.
    public var alertLocalizationArgs: [String] = []
    /// The label of the button that opens the app, by its own translations.
    public var alertActionLocalizationKey: String?
    /// The name of the picture that is shown while the app starts.
    public var alertLaunchImage: String?
    /// The name of the sound that is played.
    public var soundName: String?
    /// Whether the app's badge counts it.
    public var shouldBadge = false
    /// Whether the app is to work in silence on receiving it.
    public var shouldSendContentAvailable = false
    /// Whether the app may change it before it is shown.
    public var shouldSendMutableContent = false
    /// Which of the app's kinds of notifications it is.
    public var category: String?
    /// Notifications with the same key are shown as one, the latest.
    public var collapseIDKey: String?
    /// At most three plain fields whose values come along, of query subscriptions: strings (the first 100 characters),
    /// numbers, dates, locations and references. Encrypted values never do.
    public var desiredKeys: [String] = []

    /// Nothing to show.
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
