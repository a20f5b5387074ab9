public import Foundation
import SealKit

@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShareParticipantRole = CKShare.ParticipantRole
@available(*, deprecated, renamed: "CKShare.ParticipantPermission")
public typealias CKShareParticipantPermission = CKShare.ParticipantPermission
@available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
public typealias CKShareParticipantAcceptanceStatus = CKShare.ParticipantAcceptanceStatus
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_Role = CKShare.ParticipantRole
@available(*, deprecated, renamed: "CKShare.ParticipantPermission")
public typealias CKShare_Participant_Permission = CKShare.ParticipantPermission
@available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
public typealias CKShare_Participant_AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
@available(*, deprecated, renamed: "CKShare.ParticipantType")
public typealias CKShare_Participant_ParticipantType = CKShare.ParticipantType

extension CKShare {
    public typealias Participant = CKShareParticipant

    public enum ParticipantRole: Int, Sendable {
        case unknown = 0
        case owner = 1
        /// May add and remove participants, and change what they may do.
        case administrator = 2
        case privateUser = 3
        /// Has joined by the URL of a share that is open to the public.
        case publicUser = 4
    }

    public enum ParticipantPermission: Int, Sendable {
        case unknown = 0
        case none = 1
        case readOnly = 2
        case readWrite = 3
    }

    public enum ParticipantAcceptanceStatus: Int, Sendable {
        case unknown = 0
        case pending = 1
        case accepted = 2
        case removed = 3
    }

    @available(*, deprecated, renamed: "ParticipantRole")
    public enum ParticipantType: Int, Sendable {
        case unknown = 0
        case owner = 1
        case privateUser = 3
        case publicUser = 4
    }
}

/// Somebody in a share, or invited to it: `CKShare.Participant`.
///
/// A participant of a share is its own: what is set there is saved with the share. Two are equal where they are the
/// same person, whatever that person may do.
// Foundation archives no class that is declared in another one.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, Sendable {
    public typealias Role = CKShare.ParticipantRole
    public typealias Permission = CKShare.ParticipantPermission
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
    @available(*, deprecated, renamed: "Role")
    public typealias ParticipantType = CKShare.ParticipantType
    public typealias ID = String

    private struct Content {
        var sealed: SealKit.Share.Participant
        var role: Role
        var permission: Permission
        /// When they were set, where no save has stored that yet.
        var roleSet: Int?
        var permissionSet: Int?
        /// Goes up with each that is set.
        var moment = 0
        /// It came out of an archive, which has no keys.
        var isArchived = false
    }

    private let content: Shared<Content>

    init(_ sealed: SealKit.Share.Participant) {
        content = Shared(
            Content(
                sealed: sealed, role: Role(rawValue: sealed.role.rawValue) ?? .unknown,
                permission: Permission(rawValue: sealed.permission.rawValue) ?? .unknown))
    }

    /// Somebody who is known by nothing but a URL of its own, which the share has once it is saved
    /// (`CKShare.oneTimeURL(for:)`): the first who accepts with it is the participant.
    public static func oneTimeURLParticipant() -> CKShare.Participant {
        CKShareParticipant(SealKit.Share.Participant.oneTimeURLParticipant())
    }

    /// The owner of a share that was never saved.
    static func ownerToBe() -> CKShareParticipant {
        CKShareParticipant(
            SealKit.Share.Participant(
                participantID: CKCurrentUserDefaultName, userRecordName: nil, lookupInfo: nil, isVerified: false,
                role: .owner, permission: .readWrite, acceptanceStatus: .accepted, dateAddedToShare: nil,
                isApprovedRequester: false, expirationDate: nil))
    }

    public var userIdentity: CKUserIdentity { CKUserIdentity(sealed.userIdentity) }
    public var participantID: CKShare.Participant.ID { sealed.participantID }
    public var acceptanceStatus: AcceptanceStatus { .init(rawValue: sealed.acceptanceStatus.rawValue) ?? .unknown }
    /// Asked for access before it was invited. The server's word.
    public var isApprovedRequester: Bool { sealed.isApprovedRequester }
    public var dateAddedToShare: Date? { sealed.dateAddedToShare }

    /// The owner makes private users administrators, and back, once they have accepted.
    public var role: Role {
        get { content.value.role }
        set {
            content.withLock { content in
                content.moment += 1
                (content.role, content.roleSet) = (newValue, content.moment)
            }
        }
    }

    public var permission: Permission {
        get { content.value.permission }
        set {
            content.withLock { content in
                content.moment += 1
                (content.permission, content.permissionSet) = (newValue, content.moment)
            }
        }
    }

    @available(*, deprecated, renamed: "role")
    public var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(rawValue: role.rawValue) ?? .privateUser }
        set { role = Role(rawValue: newValue.rawValue) ?? .unknown }
    }

    var sealed: SealKit.Share.Participant { content.value.sealed }

    /// To invite this one its keys have to be looked up again.
    var lacksKeys: Bool {
        let content = content.value
        let identity = content.sealed.userIdentity
        return content.isArchived && !content.sealed.hasKeys && content.sealed.acceptanceStatus == .pending
            && (identity.hasAccount || identity.lookupInfo != nil)
    }

    func isFromArchive() { content.withLock { $0.isArchived = true } }

    func isSamePerson(as other: SealKit.Share.Participant) -> Bool { sealed.isSamePerson(as: other) }

    // MARK: Saving

    /// - Returns: what a save sends, and up to which moment that is what was set.
    /// - Throws: `invalidArguments` for a role or permission that is unknown.
    func sent() throws(SealKitError) -> (participant: SealKit.Share.Participant, moment: Int) {
        try content.withLock { content throws(SealKitError) in
            guard let role = SealKit.Share.Participant.Role(rawValue: content.role.rawValue),
                let permission = SealKit.Share.Participant.Permission(rawValue: content.permission.rawValue)
            else {
                throw SealKitError(
                    .invalidArguments, "a participant's role or permission is unknown",
                    remedy: "give one that there is")
            }
            var sent = content.sealed
            (sent.role, sent.permission) = (role, permission)
            return (sent, content.moment)
        }
    }

    /// Somebody is added who is invited already.
    func renew(as added: SealKit.Share.Participant) { content.withLock { $0.sealed.renew(as: added) } }

    /// With the keys of whoever was looked up anew.
    func take(keysOf found: SealKit.Share.Participant) {
        content.withLock { $0.sealed = $0.sealed.withKeys(of: found) }
    }

    /// Takes over what was saved. What the app has set since it was sent stays, to be sent by the next save, also where
    /// that has begun already: it may fail.
    func take(_ stored: SealKit.Share.Participant, of sent: Int) {
        content.withLock { content in
            content.sealed = stored
            content.isArchived = false
            if content.roleSet.map({ $0 <= sent }) ?? true {
                (content.role, content.roleSet) = (Role(rawValue: stored.role.rawValue) ?? .unknown, nil)
            }
            if content.permissionSet.map({ $0 <= sent }) ?? true {
                content.permission = Permission(rawValue: stored.permission.rawValue) ?? .unknown
                content.permissionSet = nil
            }
        }
    }

    // MARK: Copies and archives

    private init(_ content: Content) { self.content = Shared(content) }

    public func copy(with zone: NSZone? = nil) -> Any { CKShareParticipant(content.value) }

    public static var supportsSecureCoding: Bool { true }

    /// Without keys: they are looked up again where this one is to be invited.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.bytes("Participant"),
            let archived = try? JSONDecoder().decode(ArchivedParticipant.self, from: data), let read = archived.object
        else { return nil }
        self.init(read.content.value)
    }

    public func encode(with coder: NSCoder) {
        guard let data = try? JSONEncoder().encode(ArchivedParticipant(self)) else { return }
        coder.encode(NSData(data: data), forKey: "Participant")
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return other === self || isSamePerson(as: other.sealed)
    }

    /// The same person may be known by different words.
    public override var hash: Int { 0 }

    /// Without the address.
    public override var description: String { "<CKShareParticipant: \(participantID), \(role), \(permission)>" }
}
