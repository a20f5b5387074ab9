public import Foundation
import SealKit

public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let readOnly = CKSharingParticipantPermissionOption(rawValue: 1)
    public static let readWrite = CKSharingParticipantPermissionOption(rawValue: 2)
    public static let any: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
}

public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1)
    public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 2)
    public static let any: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
}

/// What an app's own windows for sharing may offer: a value, since the system's are not here.
public final class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, Sendable {
    private struct Content {
        var permission: CKSharingParticipantPermissionOption
        var access: CKSharingParticipantAccessOption
        var allowsInviting = false
        var allowsRequests = false
    }

    private let content: Shared<Content>

    public static let standard = CKAllowedSharingOptions(
        allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)

    public init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        content = Shared(
            Content(permission: allowedParticipantPermissionOptions, access: allowedParticipantAccessOptions))
    }

    private init(_ content: Content) { self.content = Shared(content) }

    public var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
        get { content.value.permission }
        set { content.withLock { $0.permission = newValue } }
    }

    public var allowedParticipantAccessOptions: CKSharingParticipantAccessOption {
        get { content.value.access }
        set { content.withLock { $0.access = newValue } }
    }

    public var allowsParticipantsToInviteOthers: Bool {
        get { content.value.allowsInviting }
        set { content.withLock { $0.allowsInviting = newValue } }
    }

    public var allowsAccessRequests: Bool {
        get { content.value.allowsRequests }
        set { content.withLock { $0.allowsRequests = newValue } }
    }

    public static var supportsSecureCoding: Bool { true }

    public required convenience init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "Permissions"), coder.containsValue(forKey: "Access") else { return nil }
        self.init(
            Content(
                permission: .init(rawValue: UInt(bitPattern: coder.decodeInteger(forKey: "Permissions"))),
                access: .init(rawValue: UInt(bitPattern: coder.decodeInteger(forKey: "Access"))),
                allowsInviting: coder.decodeBool(forKey: "AllowsInviting"),
                allowsRequests: coder.decodeBool(forKey: "AllowsRequests")))
    }

    public func encode(with coder: NSCoder) {
        let content = content.value
        coder.encode(Int(bitPattern: content.permission.rawValue), forKey: "Permissions")
        coder.encode(Int(bitPattern: content.access.rawValue), forKey: "Access")
        coder.encode(content.allowsInviting, forKey: "AllowsInviting")
        coder.encode(content.allowsRequests, forKey: "AllowsRequests")
    }

    public func copy(with zone: NSZone? = nil) -> Any { CKAllowedSharingOptions(content.value) }
}
