package import Foundation
import SealStatements

/// For faces of the SDK that archive shares: what an app has kept, given back. Nothing in it is believed more than what
/// a user sets: saving compares it with the roster, and whoever is to be invited is looked up first.
extension Share {
    /// The share's record with the app's own fields, and without title, type and thumbnail.
    package var record: Record {
        get { fields }
        set { fields = newValue }
    }

    /// What was fetched, or saved last, and goes with what was changed since.
    package struct Kept {
        package var rootRecordName: String?
        package var participants: [Participant] = []
        package var publicPermission = Participant.Permission.none
        package var allowsAccessRequests = false
        package var requesters: [AccessRequester] = []
        package var blockedIdentities: [BlockedIdentity] = []
        package var url: String?
        package var oneTimeURLs: [String: String] = [:]
        package var currentUserRecordName: String?
        /// What was decided about people and not saved yet, by their names.
        package var denied: [String] = []
        package var blocked: [String] = []
        package var unblocked: [String] = []
        /// nil where they were kept without.
        package var description: (title: String, shareType: String, thumbnail: Data?)?

        package init() {}
    }

    package var kept: Kept {
        var kept = Kept()
        kept.rootRecordName = rootRecordID?.recordName
        kept.participants = saved
        kept.publicPermission = edits.publicPermission
        kept.allowsAccessRequests = edits.allowsAccessRequests
        kept.requesters = requesters
        kept.blockedIdentities = blockedIdentities
        kept.url = url
        kept.oneTimeURLs = oneTimeURLs
        kept.currentUserRecordName = currentUser?.recordName
        kept.denied = edits.denied.map(\.recordName).sorted()
        kept.blocked = edits.blocked.map(\.recordName).sorted()
        kept.unblocked = edits.unblocked.map(\.recordName).sorted()
        kept.description = (title, shareType, thumbnailImageData)
        return kept
    }

    /// - Parameter record: of the type ``recordType``.
    package init(_ kept: Kept, record: Record) {
        self.init(recordZoneID: record.recordID.zoneID, recordID: record.recordID, root: kept.rootRecordName)
        fields = record
        participants = kept.participants
        saved = kept.participants
        publicPermission = kept.publicPermission
        allowsAccessRequests = kept.allowsAccessRequests
        edits.publicPermission = kept.publicPermission
        edits.allowsAccessRequests = kept.allowsAccessRequests
        edits.denied = Set(kept.denied.compactMap { try? UserID(recordName: $0) })
        edits.blocked = Set(kept.blocked.compactMap { try? UserID(recordName: $0) })
        edits.unblocked = Set(kept.unblocked.compactMap { try? UserID(recordName: $0) })
        requesters = kept.requesters
        blockedIdentities = kept.blockedIdentities
        url = kept.url
        oneTimeURLs = kept.oneTimeURLs
        currentUser = kept.currentUserRecordName.flatMap { try? UserID(recordName: $0) }
        if let description = kept.description {
            (title, shareType, thumbnailImageData) = description
            asRead = preview
        }
    }

    private init(recordZoneID zoneID: RecordZone.ID, recordID: Record.ID, root: String?) {
        if let root {
            self.init(rootRecordID: Record.ID(recordName: root, zoneID: zoneID), shareID: recordID)
        } else {
            self.init(recordZoneID: zoneID)
        }
    }

    /// Saved whatever was read: of a share that was kept without, nobody knows what that was.
    package mutating func setTitle(_ title: String) {
        self.title = title
        setKeys.insert("title")
    }

    package mutating func setShareType(_ type: String) {
        shareType = type
        setKeys.insert("shareType")
    }

    package mutating func setThumbnail(_ data: Data?) {
        thumbnailImageData = data
        setKeys.insert("thumbnailImageData")
    }
}

extension Share.Participant {
    /// Who this is by name; nil for a placeholder.
    var userID: UserID? {
        chain?.userID ?? userIdentity.userRecordID.flatMap { try? UserID(recordName: $0.recordName) }
    }

    /// Its keys are at hand: it can be invited.
    package var hasKeys: Bool { chain != nil }

    /// Somebody as kept, without keys.
    package init(
        participantID: String, userRecordName: String?, lookupInfo: Share.LookupInfo?, isVerified: Bool, role: Role,
        permission: Permission, acceptanceStatus: AcceptanceStatus, dateAddedToShare: Date?, isApprovedRequester: Bool,
        expirationDate: Date?
    ) {
        self.init(
            participantID: participantID,
            userIdentity: Share.UserIdentity(
                userRecordID: userRecordName.map { Record.ID(recordName: $0) }, lookupInfo: lookupInfo,
                isVerified: isVerified),
            role: role, permission: permission, acceptanceStatus: acceptanceStatus, dateAddedToShare: dateAddedToShare,
            isApprovedRequester: isApprovedRequester, expirationDate: expirationDate)
    }

    /// The same participant with the keys of somebody who was looked up anew; itself where that is another person.
    package func withKeys(of other: Share.Participant) -> Share.Participant {
        guard let found = other.chain, userID == nil || userID == found.userID else { return self }
        var participant = self
        participant.chain = found
        participant.userIdentity.userRecordID = other.userIdentity.userRecordID
        participant.userIdentity.isVerified = other.userIdentity.isVerified
        return participant
    }
}

extension Share.AccessRequester {
    /// - Returns: nil for what is no user's name.
    package init?(userRecordName: String, contact: String, dateRequested: Date) {
        guard let user = try? UserID(recordName: userRecordName) else { return nil }
        self.init(
            userIdentity: Share.UserIdentity(
                userRecordID: Record.ID(recordName: userRecordName), lookupInfo: .userRecordName(userRecordName)),
            contact: contact, dateRequested: dateRequested, userID: user)
    }
}

extension Share.BlockedIdentity {
    /// - Returns: nil for what is no user's name.
    package init?(userRecordName: String) {
        guard let user = try? UserID(recordName: userRecordName) else { return nil }
        self.init(user)
    }
}

extension Share.Kept: CustomReflectable {
    /// Its URLs open the share to whoever has them: they show nowhere.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
