public import Foundation
import SealKit

/// What a subscription's notifications show and carry: `CKSubscription.NotificationInfo`. The server reads all of it.
public final class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
    private let shared: Shared<SealKit.NotificationInfo>

    var content: SealKit.NotificationInfo { shared.value }

    init(_ content: SealKit.NotificationInfo) { shared = Shared(content) }

    public override init() { shared = Shared(SealKit.NotificationInfo()) }

    public convenience init(
        alertBody: String? = nil, alertLocalizationKey: String? = nil, alertLocalizationArgs: [String] = [],
        title: String? = nil, titleLocalizationKey: String? = nil, titleLocalizationArgs: [String] = [],
        subtitle: String? = nil, subtitleLocalizationKey: String? = nil, subtitleLocalizationArgs: [String] = [],
        alertActionLocalizationKey: String? = nil, alertLaunchImage: String? = nil, soundName: String? = nil,
        desiredKeys: [CKRecord.FieldKey] = [], shouldBadge: Bool = false, shouldSendContentAvailable: Bool = false,
        shouldSendMutableContent: Bool = false, category: String? = nil, collapseIDKey: String? = nil
    ) {
        var info = SealKit.NotificationInfo()
        info.alertBody = alertBody
        info.alertLocalizationKey = alertLocalizationKey
        info.alertLocalizationArgs = alertLocalizationArgs
        info.title = title
        info.titleLocalizationKey = titleLocalizationKey
        info.titleLocalizationArgs = titleLocalizationArgs
        info.subtitle = subtitle
        info.subtitleLocalizationKey = subtitleLocalizationKey
        info.subtitleLocalizationArgs = subtitleLocalizationArgs
        info.alertActionLocalizationKey = alertActionLocalizationKey
        info.alertLaunchImage = alertLaunchImage
        info.soundName = soundName
        info.desiredKeys = desiredKeys
        info.shouldBadge = shouldBadge
        info.shouldSendContentAvailable = shouldSendContentAvailable
        info.shouldSendMutableContent = shouldSendMutableContent
        info.category = category
        info.collapseIDKey = collapseIDKey
        self.init(info)
    }

    private static func some<Element>(_ list: [Element]) -> [Element]? { list.isEmpty ? nil : list }

    public var title: String? {
        get { content.title }
        set { shared.withLock { $0.title = newValue } }
    }

    public var titleLocalizationKey: String? {
        get { content.titleLocalizationKey }
        set { shared.withLock { $0.titleLocalizationKey = newValue } }
    }

    public var subtitle: String? {
        get { content.subtitle }
        set { shared.withLock { $0.subtitle = newValue } }
    }

    public var subtitleLocalizationKey: String? {
        get { content.subtitleLocalizationKey }
        set { shared.withLock { $0.subtitleLocalizationKey = newValue } }
    }

    public var alertBody: String? {
        get { content.alertBody }
        set { shared.withLock { $0.alertBody = newValue } }
    }

    public var alertLocalizationKey: String? {
        get { content.alertLocalizationKey }
        set { shared.withLock { $0.alertLocalizationKey = newValue } }
    }

    public var alertActionLocalizationKey: String? {
        get { content.alertActionLocalizationKey }
        set { shared.withLock { $0.alertActionLocalizationKey = newValue } }
    }

    public var alertLaunchImage: String? {
        get { content.alertLaunchImage }
        set { shared.withLock { $0.alertLaunchImage = newValue } }
    }

    public var soundName: String? {
        get { content.soundName }
        set { shared.withLock { $0.soundName = newValue } }
    }

    public var category: String? {
        get { content.category }
        set { shared.withLock { $0.category = newValue } }
    }

    public var collapseIDKey: String? {
        get { content.collapseIDKey }
        set { shared.withLock { $0.collapseIDKey = newValue } }
    }

    public var shouldBadge: Bool {
        get { content.shouldBadge }
        set { shared.withLock { $0.shouldBadge = newValue } }
    }

    public var shouldSendContentAvailable: Bool {
        get { content.shouldSendContentAvailable }
        set { shared.withLock { $0.shouldSendContentAvailable = newValue } }
    }

    public var shouldSendMutableContent: Bool {
        get { content.shouldSendMutableContent }
        set { shared.withLock { $0.shouldSendMutableContent = newValue } }
    }

    public var titleLocalizationArgs: [String]? {
        get { Self.some(content.titleLocalizationArgs) }
        set { shared.withLock { $0.titleLocalizationArgs = newValue ?? [] } }
    }

    public var subtitleLocalizationArgs: [String]? {
        get { Self.some(content.subtitleLocalizationArgs) }
        set { shared.withLock { $0.subtitleLocalizationArgs = newValue ?? [] } }
    }

    public var alertLocalizationArgs: [String]? {
        get { Self.some(content.alertLocalizationArgs) }
        set { shared.withLock { $0.alertLocalizationArgs = newValue ?? [] } }
    }

    /// Three plain fields at most, whose values come along with the notifications of a query subscription.
    public var desiredKeys: [String]? {
        get { Self.some(content.desiredKeys) }
        set { shared.withLock { $0.desiredKeys = newValue ?? [] } }
    }

    // MARK: Archives

    public static var supportsSecureCoding: Bool { true }

    private static func texts() -> [(String, WritableKeyPath<SealKit.NotificationInfo, String?>)] {
        [
            ("title", \.title),
            ("titleLocalizationKey", \.titleLocalizationKey),
            ("subtitle", \.subtitle),
            ("subtitleLocalizationKey", \.subtitleLocalizationKey),
            ("alertBody", \.alertBody),
            ("alertLocalizationKey", \.alertLocalizationKey),
            ("alertActionLocalizationKey", \.alertActionLocalizationKey),
            ("alertLaunchImage", \.alertLaunchImage),
            ("soundName", \.soundName),
            ("category", \.category),
            ("collapseIDKey", \.collapseIDKey),
        ]
    }

    private static func lists() -> [(String, WritableKeyPath<SealKit.NotificationInfo, [String]>)] {
        [
            ("titleLocalizationArgs", \.titleLocalizationArgs),
            ("subtitleLocalizationArgs", \.subtitleLocalizationArgs),
            ("alertLocalizationArgs", \.alertLocalizationArgs),
            ("desiredKeys", \.desiredKeys),
        ]
    }

    private static func flags() -> [(String, WritableKeyPath<SealKit.NotificationInfo, Bool>)] {
        [
            ("shouldBadge", \.shouldBadge),
            ("shouldSendContentAvailable", \.shouldSendContentAvailable),
            ("shouldSendMutableContent", \.shouldSendMutableContent),
        ]
    }

    public required init?(coder: NSCoder) {
        var info = SealKit.NotificationInfo()
        for (key, path) in Self.texts() { info[keyPath: path] = coder.text(key) }
        for (key, path) in Self.flags() { info[keyPath: path] = coder.decodeBool(forKey: key) }
        for (key, path) in Self.lists() {
            info[keyPath: path] = coder.value(key) as? [String] ?? []
        }
        shared = Shared(info)
    }

    public func encode(with coder: NSCoder) {
        let info = content
        for (key, path) in Self.texts() {
            if let text = info[keyPath: path] { coder.encode(NSString(string: text), forKey: key) }
        }
        for (key, path) in Self.flags() { coder.encode(info[keyPath: path], forKey: key) }
        for (key, path) in Self.lists() {
            coder.encode(NSArray(array: info[keyPath: path].map { NSString(string: $0) }), forKey: key)
        }
    }

    public func copy(with zone: NSZone? = nil) -> Any { CKNotificationInfo(content) }
}

extension CKSubscription {
    public typealias NotificationInfo = CKNotificationInfo
}
