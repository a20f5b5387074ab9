import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The zone-wide share of a zone.
    ///
    /// Everybody in it sees all participants, since everybody checks the roster; addresses, requests for access and
    /// URLs are the owner's and administrators' to see.
    /// - Throws: `unknownItem` when the zone is not shared; `zoneNotFound`.
    public func share(for zoneID: RecordZone.ID) async throws(SealKitError) -> Share {
        let keeper = try keeper(zoneID)
        let view = await revokingExpired(try await keeper.refresh(), keeper)
        guard !view.roster.isClosed else { throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)") }
        guard view.roster.isShared else {
            throw SealKitError(.unknownItem, "the zone \(zoneID) is not shared", remedy: "save a Share for it first")
        }
        return try await filled(Share(recordZoneID: zoneID), view, keeper)
    }

    /// With all that the share's record and roster say.
    /// - Throws: `unknownItem` without a record.
    func filled(_ share: Share, _ view: ZoneView, _ keeper: ZoneKeeper) async throws(SealKitError) -> Share {
        var share = share
        guard let record = try await shareRecord(share.recordID) else {
            throw SealKitError(
                .unknownItem,
                "the share \(share.recordID.recordName) in the zone \(share.zoneID) is not there any more",
                remedy: "save a Share anew")
        }
        share.title = record.encryptedValues["title"] ?? ""
        share.shareType = record.encryptedValues["shareType"] ?? ""
        share.thumbnailImageData = record.encryptedValues["thumbnailImageData"]
        share.participants = try await marked(try await dated(participants(of: view.roster), view.roster, keeper))
        share.currentUser = core.userID()
        share.publicPermission = .init(view.roster.publicSeat?.permission)
        share.edits.publicPermission = share.publicPermission
        share.blockedIdentities = view.roster.blocked.sorted().map { Share.BlockedIdentity($0) }
        if view.mayAdminister {
            let links = try await OwnerLinks.fetch(self, view: view)
            links.write(to: &share, view: view, origin: core.account.server)
            // Best effort: what the URLs show is no part of what is fetched, and the next call does it. A record that
            // does not open says nothing that they could show.
            if record.base?.recordKey != nil {
                try? await links.renewPreviews(share.preview, self, view: view, isNewest: false)
            }
            try await addAccess(to: &share, view: view)
        }
        share.saved = share.participants
        return share
    }

    /// With the day on which each was invited, or joined by the public URL.
    private func dated(
        _ participants: [Share.Participant], _ roster: Roster, _ keeper: ZoneKeeper
    ) async throws(SealKitError) -> [Share.Participant] {
        var sequences: [String: UInt64] = [:]
        for participant in participants {
            let invitation = (try? Hex.decode(participant.participantID)).flatMap { try? ID16($0) }
            let invited = invitation.flatMap { roster.sequence(ofInvitation: $0) }
            sequences[participant.participantID] =
                invited ?? participant.chain.flatMap { roster.members[$0.userID]?.since }
        }
        let times = await keeper.times(of: Set(sequences.values))
        return participants.map { participant in
            var participant = participant
            participant.dateAddedToShare = sequences[participant.participantID].flatMap { times[$0] }.map {
                Date(microseconds: $0)
            }
            return participant
        }
    }

    /// With what this device knows of the people: whose safety number was compared.
    private func marked(_ participants: [Share.Participant]) async throws(SealKitError) -> [Share.Participant] {
        let verified = try await core.contacts.verified(among: participants.compactMap { $0.chain?.userID })
        return participants.map { participant in
            var participant = participant
            participant.userIdentity.isVerified = participant.chain.map { verified.contains($0.userID) } ?? false
            return participant
        }
    }

    /// Saves a share: makes it, and sends what has changed in its participants and settings since it was fetched.
    ///
    /// The owner saves in the private database, administrators in the shared one: they change participants, title and
    /// requests; roles and the public permission are the owner's.
    ///
    /// - Returns: the share as it is now, with its URL and the one-time URLs that this account made.
    /// - Throws: `badDatabase` in the public database; `permissionFailure` for somebody who administers nothing here,
    ///   or changes what only the owner may; `tooManyParticipants`; `invalidArguments`, as for inviting while the share
    ///   is public.
    @discardableResult
    public func save(_ share: Share) async throws(SealKitError) -> Share {
        if share.rootRecordID != nil { return try await saveHierarchical(share) }
        guard share.zoneID.zoneName != RecordZone.defaultName else {
            throw SealKitError(
                .invalidArguments, "the default zone cannot be shared", remedy: "put shared records in a custom zone")
        }
        let keeper = try keeper(share.zoneID)
        let isURLRenewed = try await saveChanges(of: share, keeper)
        var saved = try await self.share(for: share.zoneID)
        saved.isURLRenewed = isURLRenewed
        return saved
    }

    /// Sends what has changed in a share since it was fetched.
    /// - Returns: whether the share-wide URL is another one than before.
    func saveChanges(of share: Share, _ keeper: ZoneKeeper) async throws(SealKitError) -> Bool {
        let known = try await keeper.refresh()
        guard !known.roster.isClosed else { throw SealKitError(.zoneNotFound, "there is no zone \(share.zoneID)") }
        guard known.mayAdminister else {
            throw SealKitError(
                .permissionFailure, "only the owner and administrators change a share",
                remedy: "ask the owner to be made an administrator")
        }
        let record = try await changedRecord(of: share)
        if let record {
            let results = try await modifyRecords(saving: [record], savePolicy: .changedKeys)
            _ = try results.saveResults[share.recordID]?.get()
        }
        let view = try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            let links = try await OwnerLinks.fetch(self, view: view)
            return try await ShareEditor(database: self, share: share, view: view, links: links).apply(keeper)
        }
        if record != nil, known.roster.isShared {
            // Also of a share that was ended and is made again: its URLs are the same. Were this to fail, whoever
            // administers the share and fetches it next would do it.
            let links = try await OwnerLinks.fetch(self, view: view)
            try await links.renewPreviews(share.preview, self, view: try await keeper.refresh(), isNewest: true)
        }
        try await saveAccess(of: share, view: view)
        return known.roster.linkID != nil && view.roster.linkID != known.roster.linkID
    }

    /// Title, type and thumbnail live in the share's own record, as encrypted values.
    /// - Returns: nil when the record has them already.
    private func changedRecord(of share: Share) async throws(SealKitError) -> Record? {
        var record = Record(recordType: Share.recordType, recordID: share.recordID)
        if let existing = try await shareRecord(share.recordID) { record = existing }
        let isNew = record.base == nil
        let before: [String?] = [record.encryptedValues["title"], record.encryptedValues["shareType"]]
        let thumbnail: Data? = record.encryptedValues["thumbnailImageData"]
        guard isNew || before != [share.title, share.shareType] || thumbnail != share.thumbnailImageData else {
            return nil
        }
        share.describe(&record)
        return record
    }

    /// nil only when it is verifiably not there: one that does not verify is an error, not an empty title. One that an
    /// administrator has signed and that does not open is there without title, so that nobody is kept from putting that
    /// one out.
    func shareRecord(_ id: Record.ID) async throws(SealKitError) -> Record? {
        switch try await look(up: [id], desiredKeys: nil).first?.1 {
        case .success(let found): return found.present
        case .failure(let error) where error.code != .unknownItem: throw error
        default: return nil
        }
    }

    /// What the verified roster says; addresses are opened where they were sealed to this account.
    func participants(of roster: Roster) -> [Share.Participant] {
        // The owner first, then in the order in which people joined the log; invitations stand by id, so that lists are
        // stable.
        let members = roster.members.values.sorted { $0.since < $1.since }.map { member in
            Share.Participant(
                participantID: member.invitationID?.hex ?? member.userID.recordName,
                userIdentity: Share.UserIdentity(
                    userRecordID: Record.ID(recordName: member.userID.recordName),
                    lookupInfo: member.invitation.flatMap { lookupInfo(of: $0, roster) }),
                role: Share.Participant.Role(member.role), permission: .init(member.permission),
                acceptanceStatus: .accepted,
                expirationDate: member.invitation.flatMap(expiration), chain: member.identity)
        }
        let invited = roster.invitations.values.sorted { $0.id < $1.id }.map { invitation in
            Share.Participant(
                participantID: invitation.id.hex,
                userIdentity: Share.UserIdentity(
                    userRecordID: invitation.invitee.map { Record.ID(recordName: $0.userID.recordName) },
                    lookupInfo: lookupInfo(of: invitation, roster)),
                role: .privateUser, permission: .init(invitation.permission), acceptanceStatus: .pending,
                expirationDate: expiration(of: invitation), chain: invitation.invitee)
        }
        return members + invited
    }

    private func expiration(of invitation: Invitation) -> Date? {
        invitation.expires == 0 ? nil : Date(microseconds: invitation.expires)
    }

    /// The address that somebody was invited by, where it was sealed to this account.
    private func lookupInfo(of invitation: Invitation, _ roster: Roster) -> Share.LookupInfo? {
        let address = try? core.identity().open { keys throws(SealError) in
            try SealedAddresses<XWingHPKE>.open(invitation, scopeID: roster.scopeID, as: core.userID(), keys: keys)
        }
        return address.map { $0.hasPrefix("+") ? .phoneNumber($0) : .emailAddress($0) }
    }

    // MARK: Leaving

    /// Leaves all that the zone's owner shares in it: the zone disappears from the shared database, and the next member
    /// who writes opens a new key.
    /// - Throws: `zoneNotFound` where nothing of it is shared with this account (any more); `badDatabase`.
    public func leaveShare(of zoneID: RecordZone.ID) async throws(SealKitError) {
        guard scope == .shared else {
            throw SealKitError(
                .badDatabase, "an owner cannot leave its own share", remedy: "remove the participants instead")
        }
        var ground = try await zoneGround(zoneID)
        // What another device has joined is left too. Where this one goes by shares beside the zone as a whole, that is
        // over, and others may have come.
        if ground.own == nil || ground.views.count > 1 { try await discoverShares(of: ground.zone, into: &ground) }
        var hasLeft = try await leaveAll(of: ground)
        // The zone may be shared in another way than this device has known.
        if !hasLeft, let now = try await regrounded(ground, zoneID) { hasLeft = try await leaveAll(of: now) }
        guard hasLeft else {
            throw SealKitError(
                .zoneNotFound, "there is no zone \(zoneID)",
                remedy: "this account has left it, or its owner has ended that")
        }
    }

    /// - Returns: false where this account was in none of it any more.
    private func leaveAll(of ground: ZoneGround) async throws(SealKitError) -> Bool {
        var hasLeft = false
        for view in ground.views.values where !view.scope.shareRecordName.isEmpty {
            if try await leave(view.scope) { hasLeft = true }
        }
        if !hasLeft, let own = ground.own { hasLeft = try await leave(own.scope) }
        return hasLeft
    }

    func append(_ draft: RosterAuthor<XWingHPKE>.Draft, view: ZoneView) async throws(SealKitError) {
        try await append(ShareEditor.Entry(draft: draft), view: view)
    }

    func append(_ entry: ShareEditor.Entry, view: ZoneView) async throws(SealKitError) {
        var request = entry.onWire
        request.operationID = newOperationID()
        request.zone = view.scope.zoneIDOnWire
        request.shareRecordName = view.scope.shareRecordName
        let _: Sealkit_V1_AppendRosterResponse = try await core.call(scope, Endpoints.sharing.appendRoster, request)
    }
}
