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
        let view = try await keeper.refresh()
        guard !view.roster.isClosed else { throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)") }
        guard view.roster.isShared else {
            throw SealKitError(.unknownItem, "the zone \(zoneID) is not shared", remedy: "save a Share for it first")
        }
        let share = Share(recordZoneID: zoneID)
        return try await filled(share, by: try await shareRecord(share.recordID), view, keeper)
    }

    /// With all that the share's record and roster say.
    /// - Parameter renewing: what the URLs show too, as part of a save.
    /// - Throws: `unknownItem` without a record.
    func filled(
        _ share: Share, by record: Record?, _ view: ZoneView, _ keeper: ZoneKeeper, renewing: Bool = false
    ) async throws(SealKitError) -> Share {
        var share = share
        guard let record else {
            throw SealKitError(
                .unknownItem,
                "the share \(share.recordID.recordName) in the zone \(share.zoneID) is not there any more",
                remedy: "save a Share anew")
        }
        try await fill(&share, record, view, keeper)
        if view.mayAdminister {
            let (links, access) = try await together { () async throws(SealKitError) -> ShareLinks in
                try await ShareLinks.fetch(self, view: view)
            } and: { () async throws(SealKitError) -> Sealkit_V1_FetchShareAccessResponse in
                try await self.access(to: view.scope)
            }
            links.write(to: &share, view: view, origin: core.account.server)
            // Best effort: what the URLs show is no part of what was saved, and the next save does it. A record that
            // does not open says nothing that they could show.
            if renewing, record.base?.recordKey != nil {
                _ = try? await links.renewPreviews(share.preview, self, view: view, isNewest: false)
            }
            try add(access, to: &share, view: view)
        }
        share.saved = share.participants
        return share
    }

    /// The share that a record of the type `Share.recordType` describes: one that has come in a feed, a fetch, a
    /// query's page or as the `serverRecord` of a conflict. Whoever looks for it by its id asks the server; this goes
    /// by the roster that the record was verified with, and asks for nothing that this device has.
    ///
    /// It has no URLs, requests for access or addresses that were sealed to others: ``share(withID:)`` has them for
    /// owner and administrators.
    /// - Throws: `invalidArguments` for another record; `unknownItem` where the share has ended.
    public func share(describedBy record: Record) async throws(SealKitError) -> Share {
        guard record.recordType == Share.recordType else {
            throw SealKitError(
                .invalidArguments, "the record \(record.recordID.recordName) is no share's",
                remedy: "a share's record is of the type \(Share.recordType)")
        }
        let id = record.recordID
        var described: Record? = record
        // A description that was not fetched is not an empty one.
        if !record.omittedKeys.isEmpty { described = try await shareRecord(id) }
        let isOfZone = id.recordName == Share.recordName
        let keeper = isOfZone ? try keeper(id.zoneID) : try keeper(ofShare: id)
        let view = try await keeper.current()
        var known: Share?
        if isOfZone, view.roster.isShared, !view.roster.isClosed { known = Share(recordZoneID: id.zoneID) }
        if !isOfZone, view.isMember, let root = view.roster.rootRecordName {
            known = Share(rootRecordID: Record.ID(recordName: root, zoneID: id.zoneID), shareID: id)
        }
        guard var share = known, let described else {
            throw SealKitError(
                .unknownItem, "the share \(id.recordName) in the zone \(id.zoneID) has ended",
                remedy: "save a Share anew")
        }
        try await fill(&share, described, view, keeper)
        share.saved = share.participants
        return share
    }

    /// With what its record and roster say.
    private func fill(
        _ share: inout Share, _ record: Record, _ view: ZoneView, _ keeper: ZoneKeeper
    ) async throws(SealKitError) {
        share.read(record)
        share.participants = try await marked(try await dated(participants(of: view.roster), view.roster, keeper))
        share.currentUser = core.userID()
        share.publicPermission = .init(view.roster.publicSeat?.permission)
        share.edits.publicPermission = share.publicPermission
        share.blockedIdentities = view.roster.blocked.sorted().map { Share.BlockedIdentity($0) }
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
    ///   is public, and for a participant whom another device has removed or invited anew since; `limitExceeded`. What
    ///   is refused here is refused before anything is stored.
    @discardableResult
    public func save(_ share: Share) async throws(SealKitError) -> Share {
        if share.rootRecordID != nil { return try await saveHierarchical(share) }
        guard share.zoneID.zoneName != RecordZone.defaultName else {
            throw SealKitError(
                .invalidArguments, "the default zone cannot be shared", remedy: "put shared records in a custom zone")
        }
        let keeper = try keeper(share.zoneID)
        return try await save(
            share, as: Share(recordZoneID: share.zoneID), knowing: try await keeper.refresh(), keeper)
    }

    /// Sends what has changed in a share since it was fetched.
    /// - Parameters:
    ///   - new: the same without anything in it.
    ///   - known: as the roster is now.
    func save(
        _ share: Share, as new: Share, knowing known: ZoneView, _ keeper: ZoneKeeper
    ) async throws(SealKitError) -> Share {
        guard !known.roster.isClosed else { throw SealKitError(.zoneNotFound, "there is no zone \(share.zoneID)") }
        guard known.mayAdminister else {
            throw SealKitError(
                .permissionFailure, "only the owner and administrators change a share",
                remedy: "ask the owner to be made an administrator")
        }
        var share = share
        let (existing, kept) = try await together { [id = share.recordID] () async throws(SealKitError) -> Record? in
            try await shareRecord(id)
        } and: { () async throws(SealKitError) -> Sealkit_V1_LinksResponse in
            try await ShareLinks.stored(self, view: known)
        }
        if let existing { share.complete(by: existing) }
        let changed = try changedRecord(of: share, from: existing)
        // What is refused is refused before anything is stored.
        let links = try await ShareLinks.opened(kept, self, view: known)
        if changed != nil { try share.requireShowable() }
        let planned = try entry(of: share, in: known, links: links)
        var record = existing
        if let changed {
            var batch = ZoneBatch(
                database: self, zoneID: share.zoneID, savePolicy: .changedKeys, isAtomic: true, progress: .nobody)
            batch.keepsExpired = true
            try await batch.run(saving: [changed], deleting: [])
            record = try batch.saveResults[share.recordID]?.get()
            // Another device may have set something else of it meanwhile.
            if let record { share.read(record) }
        }
        let view = try await whileRosterMoves { [share] round throws(SealKitError) in
            let view = round == 1 ? try await keeper.current() : try await keeper.refresh()
            let entry =
                view.roster.head == known.roster.head
                ? planned
                : try self.entry(of: share, in: view, links: try await ShareLinks.fetch(self, view: view))
            guard let entry else { return view }
            try await append(entry, view: view)
            return try await keeper.adopt(entry.draft)
        }
        try await saveAccess(of: share, view: view)
        if changed != nil, known.roster.isShared {
            // Also of a share that was ended and is made again: its URLs are the same.
            try await ShareLinks.renewPreviews(share.preview, self, keeper)
        }
        var saved = try await filled(new, by: record, try await keeper.current(), keeper, renewing: true)
        saved.isURLRenewed = known.roster.linkID != nil && view.roster.linkID != known.roster.linkID
        return saved
    }

    /// - Returns: nil when the record says already what the share does.
    private func changedRecord(of share: Share, from existing: Record?) throws(SealKitError) -> Record? {
        var record = existing ?? Record(recordType: Share.recordType, recordID: share.recordID)
        guard record.base == nil || share.differs(from: record) else { return nil }
        try share.describe(&record)
        return record
    }

    /// nil only when it is verifiably not there: one that does not verify is an error, not an empty title. One that an
    /// administrator has signed and that does not open is there without title, so that nobody is kept from putting that
    /// one out.
    func shareRecord(_ id: Record.ID) async throws(SealKitError) -> Record? { try await shownShareRecord(id).get() }

    /// - Returns: what is wrong with this record alone, apart from what is thrown.
    func shownShareRecord(_ id: Record.ID) async throws(SealKitError) -> Result<Record?, SealKitError> {
        switch try await look(up: [id], desiredKeys: nil).first?.1 {
        case .success(let found): .success(found.present)
        case .failure(let error) where error.code != .unknownItem: .failure(error)
        default: .success(nil)
        }
    }

    /// What the verified roster says; addresses are opened where they were sealed to this account.
    func participants(of roster: Roster) -> [Share.Participant] {
        Share.Participant.all(of: roster) { lookupInfo(of: $0, roster) }
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
        try await append(ShareEntry(draft), view: view)
    }

    /// - Throws: `rosterChanged` where the server's roster ends elsewhere; `rollback` once where the server has lost
    ///   keys, before anything is sent.
    func append(_ entry: ShareEntry<XWingHPKE>, view: ZoneView) async throws(SealKitError) {
        try await tellOfLostKeys(view)
        var request = entry.onWire
        request.operationID = newOperationID()
        request.zone = view.scope.zoneIDOnWire
        request.shareRecordName = view.scope.shareRecordName
        let _: Sealkit_V1_AppendRosterResponse = try await core.call(scope, Endpoints.sharing.appendRoster, request)
    }
}
