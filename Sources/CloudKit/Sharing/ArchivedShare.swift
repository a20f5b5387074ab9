import Foundation
import SealKit

/// Participants in archives: names and numbers, and no keys.
struct ArchivedParticipant: Codable {
    var id: String
    var user: String?
    var email: String?
    var phone: String?
    var lookupName: String?
    /// As it was fetched, and as the app has set it.
    var role: Int
    var permission: Int
    var setRole: Int
    var setPermission: Int
    var status: Int
    /// Seconds since 2001.
    var added: Double?
    var expires: Double?
    var asked: Bool

    init(_ object: CKShareParticipant) {
        self.init(object.sealed)
        (setRole, setPermission) = (object.role.rawValue, object.permission.rawValue)
    }

    init(_ participant: SealKit.Share.Participant) {
        id = participant.participantID
        user = participant.userIdentity.userRecordID?.recordName
        switch participant.userIdentity.lookupInfo {
        case .emailAddress(let address): email = address
        case .phoneNumber(let number): phone = number
        case .userRecordName(let name): lookupName = name
        case nil: break
        }
        (role, permission) = (participant.role.rawValue, participant.permission.rawValue)
        (setRole, setPermission) = (role, permission)
        status = participant.acceptanceStatus.rawValue
        added = participant.dateAddedToShare?.timeIntervalSinceReferenceDate
        expires = participant.expirationDate?.timeIntervalSinceReferenceDate
        asked = participant.isApprovedRequester
    }

    /// nil for numbers that stand for nothing.
    var sealed: SealKit.Share.Participant? {
        typealias Participant = SealKit.Share.Participant
        guard let role = Participant.Role(rawValue: role),
            let permission = Participant.Permission(rawValue: permission),
            let status = Participant.AcceptanceStatus(rawValue: status)
        else { return nil }
        let lookupInfo: SealKit.Share.LookupInfo? =
            email.map { .emailAddress($0) } ?? phone.map { .phoneNumber($0) } ?? lookupName.map { .userRecordName($0) }
        return Participant(
            participantID: id, userRecordName: user, lookupInfo: lookupInfo, isVerified: false, role: role,
            permission: permission, acceptanceStatus: status,
            dateAddedToShare: added.map { Date(timeIntervalSinceReferenceDate: $0) }, isApprovedRequester: asked,
            expirationDate: expires.map { Date(timeIntervalSinceReferenceDate: $0) })
    }

    var object: CKShareParticipant? {
        guard let sealed, let role = CKShare.ParticipantRole(rawValue: setRole),
            let permission = CKShare.ParticipantPermission(rawValue: setPermission)
        else { return nil }
        let object = CKShareParticipant(sealed)
        object.isFromArchive()
        if object.role != role { object.role = role }
        if object.permission != permission { object.permission = permission }
        return object
    }
}

struct ArchivedRequester: Codable {
    var user: String
    var contact: String
    /// Seconds since 2001.
    var date: Double

    init(_ requester: SealKit.Share.AccessRequester) {
        user = requester.userIdentity.userRecordID?.recordName ?? ""
        contact = requester.contact
        date = requester.dateRequested.timeIntervalSinceReferenceDate
    }

    var sealed: SealKit.Share.AccessRequester? {
        SealKit.Share.AccessRequester(
            userRecordName: user, contact: contact, dateRequested: Date(timeIntervalSinceReferenceDate: date))
    }
}

/// A share in archives, beside its record.
struct ArchivedShare: Codable {
    static let key = "Share"

    struct Description: Codable {
        var title: String
        var type: String
        var thumbnail: Data?
        var changed: [String]
    }

    var root: String?
    var url: String?
    var oneTimeURLs: [String: String]
    var currentUser: String?
    var saved: [ArchivedParticipant]
    var participants: [ArchivedParticipant]
    /// As it was fetched, and as the app has set it.
    var savedPermission: Int
    var permission: Int
    var savedAllowsRequests: Bool
    var allowsRequests: Bool
    var requesters: [ArchivedRequester]
    var blockedIdentities: [String]
    var denied: [String]
    var blocked: [String]
    var unblocked: [String]
    /// nil for system fields alone.
    var description: Description?

    /// - Parameter isWhole: with what was set since, and what the share says of itself.
    init(_ content: CKShare.Content, isWhole: Bool) {
        let (share, kept) = (content.share, content.share.kept)
        root = kept.rootRecordName
        url = kept.url
        oneTimeURLs = kept.oneTimeURLs
        currentUser = kept.currentUserRecordName
        saved = kept.participants.map { ArchivedParticipant($0) }
        participants = isWhole ? content.participants.map { ArchivedParticipant($0) } : saved
        savedPermission = kept.publicPermission.rawValue
        permission = isWhole ? share.publicPermission.rawValue : savedPermission
        savedAllowsRequests = kept.allowsAccessRequests
        allowsRequests = isWhole ? share.allowsAccessRequests : savedAllowsRequests
        requesters = kept.requesters.map { ArchivedRequester($0) }
        blockedIdentities = kept.blockedIdentities.map(\.userRecordID.recordName)
        (denied, blocked, unblocked) = isWhole ? (kept.denied, kept.blocked, kept.unblocked) : ([], [], [])
        guard isWhole, let words = kept.description else { return }
        description = Description(
            title: words.title, type: words.shareType, thumbnail: words.thumbnail, changed: content.changed.sorted())
    }
}

extension CKShare.Content {
    /// nil for what stands for nothing.
    init?(_ archived: ArchivedShare, _ record: SealKit.Record) {
        var kept = SealKit.Share.Kept()
        kept.rootRecordName = archived.root
        kept.participants = archived.saved.compactMap(\.sealed)
        guard kept.participants.count == archived.saved.count,
            let savedPermission = SealKit.Share.Participant.Permission(rawValue: archived.savedPermission),
            let permission = SealKit.Share.Participant.Permission(rawValue: archived.permission)
        else { return nil }
        kept.publicPermission = savedPermission
        kept.allowsAccessRequests = archived.savedAllowsRequests
        kept.requesters = archived.requesters.compactMap(\.sealed)
        kept.blockedIdentities = archived.blockedIdentities.compactMap {
            SealKit.Share.BlockedIdentity(userRecordName: $0)
        }
        kept.url = archived.url
        kept.oneTimeURLs = archived.oneTimeURLs
        kept.currentUserRecordName = archived.currentUser
        (kept.denied, kept.blocked, kept.unblocked) = (archived.denied, archived.blocked, archived.unblocked)
        kept.description = archived.description.map { ($0.title, $0.type, $0.thumbnail) }
        var share = SealKit.Share(kept, record: record)
        share.publicPermission = permission
        share.allowsAccessRequests = archived.allowsRequests
        if let description = archived.description {
            let changed = Set(description.changed)
            if changed.contains(CKShareTitleKey) { share.setTitle(description.title) }
            if changed.contains(CKShareTypeKey) { share.setShareType(description.type) }
            if changed.contains(CKShareThumbnailImageDataKey) { share.setThumbnail(description.thumbnail) }
        }
        let objects = archived.participants.compactMap(\.object)
        guard objects.count == archived.participants.count else { return nil }
        self.init(share, participants: objects.isEmpty ? [.ownerToBe()] : objects)
        changed = Set(archived.description?.changed ?? [])
    }
}
