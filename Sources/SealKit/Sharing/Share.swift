public import Foundation
import SealEnvelope
import SealStatements

/// A share of a zone or of a hierarchy of records in one: CloudKit's `CKShare(recordZoneID:)` and
/// `CKShare(rootRecord:)`.
///
/// Its participants are what the zone's signed roster says, verified on this device; a server cannot add one, raise a
/// permission or swap a key. Change the participants and save the share; removing or demoting somebody opens a new key
/// in the same step.
public struct Share: Sendable {
    /// The record of a zone's share.
    public static let recordName = Names.zoneWideShare
    /// The type of every share's record.
    public static let recordType = Names.shareType

    /// The zone that is shared, or in which the root is.
    public let zoneID: RecordZone.ID
    /// The share's record in its zone.
    public let recordID: Record.ID
    /// The record whose descendants are shared with it; nil for a zone's share.
    public let rootRecordID: Record.ID?
    /// Sealed for participants and for whoever has a URL; never visible to the server.
    public var title: String = ""
    /// A uniform type identifier for what is shared; sealed like the title.
    public var shareType: String = ""
    /// A small picture; sealed like the title.
    public var thumbnailImageData: Data?
    /// Everybody in the share and everybody who is invited, the owner first.
    public internal(set) var participants: [Participant] = []
    /// What anybody with the URL may do: nothing, unless the owner opens the share to the public.
    ///
    /// Changing it takes open invitations back; ``Participant/Permission/none`` removes everybody who joined by the
    /// URL. While it is another one nobody can be invited, and removing or blocking somebody replaces the URL.
    public var publicPermission: Participant.Permission = .none
    /// Whether strangers with the URL may ask for access. Where not, they are not told that the share exists.
    public var allowsAccessRequests = false
    /// Who asked for access and waits: for owner and administrators.
    public internal(set) var requesters: [AccessRequester] = []
    /// Who can neither join nor ask.
    public internal(set) var blockedIdentities: [BlockedIdentity] = []
    /// The share-wide URL, with the secret after `#`: for participants who have an account. Owner and administrators
    /// have it here; nil until the share is saved.
    public internal(set) var url: String?
    /// Saving has put another ``url`` in the place of the one that was sent out: that one leads nowhere any more.
    /// Whoever was invited by user name, and has not accepted yet, was invited anew behind the new one, and has to be
    /// sent it (``waitingForURL``).
    public internal(set) var isURLRenewed = false

    /// The app's own fields of the share's record, beside ``title``, ``shareType`` and ``thumbnailImageData``. They are
    /// sealed like those, and shown to nobody who has not accepted; only who administers the share changes them. What
    /// was not set stays as it is.
    public var encryptedValues: Record.EncryptedValues {
        get { fields.encryptedValues }
        set { fields.encryptedValues = newValue }
    }

    /// Of the share's record, all but its description.
    var fields: Record
    /// Title, type and thumbnail as they were read: saving sends those that differ, and leaves the others as they are.
    var asRead = SharePreview(title: "")
    /// Those of them that are sent whatever was read.
    var setKeys: Set<String> = []
    /// Placeholders' one-time URLs, by participant id.
    var oneTimeURLs: [String: String] = [:]
    /// The participants that the share was fetched with: saving sends the difference.
    var saved: [Participant] = []
    /// The settings that it was fetched with, and what is to be done beyond its participants.
    var edits = Edits()
    /// Who looks at it.
    var currentUser: UserID?

    /// A share of a whole zone.
    /// - Parameter recordZoneID: of the zone, which is saved already.
    public init(recordZoneID: RecordZone.ID) {
        zoneID = recordZoneID
        recordID = Record.ID(recordName: Share.recordName, zoneID: recordZoneID)
        rootRecordID = nil
        fields = Record(recordType: Share.recordType, recordID: recordID)
    }

    /// Shares a record with all that has it as parent, directly or not. Save the share together with the record
    /// (`save(_:rootRecord:)`, `modifyRecords(saving:shares:)`).
    /// - Parameter rootRecord: a record of a custom zone, saved or to be saved with the share.
    /// - Parameter shareID: a name of your own for the share's record; nil makes one.
    public init(rootRecord: Record, shareID: Record.ID? = nil) {
        self.init(rootRecordID: rootRecord.recordID, shareID: shareID ?? Record.ID(zoneID: rootRecord.recordID.zoneID))
    }

    init(rootRecordID: Record.ID, shareID: Record.ID) {
        zoneID = shareID.zoneID
        recordID = shareID
        self.rootRecordID = rootRecordID
        fields = Record(recordType: Share.recordType, recordID: shareID)
    }

    /// Whose zone it is.
    public var owner: Participant? { participants.first { $0.role == .owner } }

    /// Whoever fetched the share; nil before it was saved.
    public var currentUserParticipant: Participant? {
        guard let name = currentUser?.recordName else { return nil }
        return participants.first {
            $0.userIdentity.userRecordID?.recordName == name && $0.acceptanceStatus == .accepted
        }
    }

    /// Adds somebody, or updates permission and expiry of somebody who is there already; the role where it is the
    /// share's own participant that was changed.
    ///
    /// Whoever was removed before, and not saved since, is invited anew: by address or by nothing, with another URL. So
    /// is who came by the public URL, once ``publicPermission`` is none.
    public mutating func addParticipant(_ participant: Participant) {
        let known = participants.firstIndex { $0.participantID == participant.participantID }
        guard let index = known ?? participants.firstIndex(where: { $0.isSamePerson(as: participant) }) else {
            participants.append(participant)
            return
        }
        guard known != nil || participants[index].role != .publicUser || publicPermission != .none else {
            participants[index] = participant
            return
        }
        participants[index].permission = participant.permission
        participants[index].expirationDate = participant.expirationDate
        if known != nil { participants[index].role = participant.role }
    }

    /// Open invitations that accept with ``url``: those by user name.
    public var waitingForURL: [Participant] {
        participants.filter {
            $0.acceptanceStatus == .pending && $0.userIdentity.hasAccount && $0.userIdentity.lookupInfo?.address == nil
        }
    }

    /// Open invitations that no account is named in: whoever has such a URL, and controls the address where one was
    /// invited, may take the seat. Nobody but you knows whom they were sent to.
    public var openOneTimeInvitations: [Participant] {
        participants.filter { $0.acceptanceStatus == .pending && !$0.userIdentity.hasAccount }
    }

    /// Removes a participant or an open invitation. Save the share to apply it.
    ///
    /// Somebody who is removed and has the URL of one of the ``openOneTimeInvitations`` comes back with that, as
    /// another account if need be: after a removal or a block, look at them, and remove those that this person may
    /// have.
    public mutating func removeParticipant(_ participant: Participant) {
        // One person may have two places: invited a second time, or by an address that is another account's now.
        let isKnown = participants.contains { $0.participantID == participant.participantID }
        participants.removeAll { other in
            other.role != .owner
                && (isKnown ? other.participantID == participant.participantID : other.isSamePerson(as: participant))
        }
    }

    /// The URL for one invitee: whoever was invited by address, or by nothing but this URL. It is good for one
    /// acceptance; afterwards it leads that participant to the share like ``url``. Give it to nobody else.
    /// - Returns: nil until the share is saved, for participants who use the share-wide URL, and for invitees of
    ///   somebody else: only who made the URL has it.
    public func oneTimeURL(for participantID: String) -> String? { oneTimeURLs[participantID] }
}

extension Share: CustomStringConvertible {
    /// Without title and URLs.
    public var description: String { "Share(\(zoneID), participants: \(participants.count))" }
}

extension Share {
    /// Somebody who is in a share, or invited to it.
    public struct Participant: Sendable {
        /// What somebody is in a share.
        public enum Role: Int, Sendable {
            /// Whose zone it is.
            case owner = 1
            /// Invites, removes, blocks and changes permissions beside the owner.
            case administrator = 2
            /// Came by an invitation.
            case privateUser = 3
            /// Came by the share's URL while the share was public.
            case publicUser = 4
        }
        /// What somebody may do with the records of a share.
        public enum Permission: Int, Sendable {
            /// Of ``Share/publicPermission`` alone: whoever is in a share may read it.
            case none = 1
            /// Read them.
            case readOnly = 2
            /// Read, make, change and delete them.
            case readWrite = 3
        }
        /// How far an invitation is.
        public enum AcceptanceStatus: Int, Sendable {
            /// Invited, and has not accepted yet.
            case pending = 1
            /// Is in the share.
            case accepted = 2
            /// Was in the share.
            case removed = 3
        }

        /// The invitation's id, for as long as the participant is in the share; the owner's is its user name. A change
        /// of an open invitation's permission or expiry makes another invitation of it.
        public internal(set) var participantID: String
        /// Who it is.
        public internal(set) var userIdentity: UserIdentity
        /// The owner makes private users administrators, and back, once they have accepted. An administrator has
        /// readWrite.
        public var role: Role
        /// What they may do. Changes count from the save of the share on.
        public var permission: Permission
        /// How far the invitation is.
        public internal(set) var acceptanceStatus: AcceptanceStatus
        /// When the invitation, or the acceptance of the public URL, was signed, by its author's clock.
        public internal(set) var dateAddedToShare: Date?
        /// Asked for access before it was invited. The server's word.
        public internal(set) var isApprovedRequester = false
        /// After this an open invitation is over: the server takes no acceptance, and the owner's or an administrator's
        /// device, by its own clock, revokes it when it next saves there, or maintains the zone
        /// (`Database.maintain(_:)`). Set it before the invitation is saved.
        public var expirationDate: Date?

        /// Verified keys of somebody who is known.
        var chain: IdentityChain?

        /// CloudKit's notion: the same participant id, user or look-up address.
        package func isSamePerson(as other: Participant) -> Bool {
            if participantID == other.participantID { return true }
            if let user = userIdentity.userRecordID, user.recordName == other.userIdentity.userRecordID?.recordName {
                return true
            }
            if let handle = userIdentity.lookupInfo, let others = other.userIdentity.lookupInfo,
                handle.isSame(as: others)
            {
                return true
            }
            return false
        }

        /// An invitation that is over begins again, and ends when the added one does.
        package mutating func renew(as added: Share.Participant) {
            guard let end = expirationDate, end <= Date(microseconds: currentTime()) else { return }
            expirationDate = added.expirationDate
        }
    }

    /// Who a participant is, as far as that is known.
    public struct UserIdentity: Sendable {
        /// nil for a placeholder: somebody without an account in this container, or whoever claims a one-time URL.
        public internal(set) var userRecordID: Record.ID?
        /// What the participant was looked up by; of others it is known to owner and administrators only.
        public internal(set) var lookupInfo: LookupInfo?
        /// The user has compared this person's safety number on this device, and the keys are still those
        /// (``Contacts``).
        ///
        /// Of somebody who was looked up by address, and is not verified, the server alone says whose keys these are:
        /// ask ``Contacts/refreshedContact(for:)`` for the number, compare it, and tell ``Contacts/verify(_:)``.
        public internal(set) var isVerified = false
        /// Whether it is known which account it is.
        public var hasAccount: Bool { userRecordID != nil }
    }

    /// What somebody was looked up by.
    public enum LookupInfo: Sendable, Hashable {
        /// An e-mail address.
        case emailAddress(String)
        /// A phone number, with the country's code.
        case phoneNumber(String)
        /// The name of their account.
        case userRecordName(String)

        var address: String? {
            switch self {
            case .emailAddress(let address), .phoneNumber(let address): address
            case .userRecordName: nil
            }
        }
    }
}

extension Share.Participant.Permission {
    init(_ permission: SealStatements.Permission?) {
        self =
            switch permission {
            case nil: .none
            case .readOnly: .readOnly
            case .readWrite: .readWrite
            }
    }

    var onRoster: SealStatements.Permission? {
        switch self {
        case .none: nil
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        }
    }
}

extension Share.Participant.Role {
    init(_ role: SealStatements.Role) {
        switch role {
        case .owner: self = .owner
        case .administrator: self = .administrator
        case .privateUser: self = .privateUser
        case .publicUser: self = .publicUser
        }
    }
}
