import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The zone-wide share of a zone.
    /// - Throws: `unknownItem` when the zone is not shared; `zoneNotFound`.
    public func share(for zoneID: RecordZone.ID) async throws(SealKitError) -> Share {
        let keeper = try keeper(zoneID)
        let view = try await keeper.refresh()
        guard !view.roster.isClosed else { throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)") }
        guard view.roster.isShared else {
            throw SealKitError(.unknownItem, "the zone \(zoneID) is not shared", remedy: "save a Share for it first")
        }
        var share = Share(recordZoneID: zoneID)
        if let record = try await shareRecord(share.recordID) {
            share.title = record.encryptedValues["title"] ?? ""
            share.shareType = record.encryptedValues["shareType"] ?? ""
            share.thumbnailImageData = record.encryptedValues["thumbnailImageData"]
        }
        share.participants = participants(of: view.roster)
        share.saved = share.participants
        if scope == .private {
            let links = try await OwnerLinks.fetch(self, view: view)
            links.write(to: &share, view: view, origin: core.account.server)
        }
        return share
    }

    /// Saves a share: makes it, and sends what has changed in its participants since it was fetched.
    ///
    /// - Returns: the share as it is now, with its URL and the one-time URLs of placeholders.
    /// - Throws: `badDatabase` in the shared database; `permissionFailure`; `tooManyParticipants`; `invalidArguments`.
    @discardableResult
    public func save(_ share: Share) async throws(SealKitError) -> Share {
        guard scope == .private else {
            throw SealKitError(
                .badDatabase, "only the owner changes a share, in the private database",
                remedy: "a participant may leave with leaveShare(of:)")
        }
        if share.rootRecordID != nil { return try await saveHierarchical(share) }
        guard share.zoneID.zoneName != RecordZone.defaultName else {
            throw SealKitError(.invalidArguments, "the default zone cannot be shared", remedy: "put shared records in a custom zone")
        }
        try await saveShareRecord(share)
        let keeper = try keeper(share.zoneID)
        _ = try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            let links = try await OwnerLinks.fetch(self, view: view)
            return try await ShareEditor(database: self, share: share, view: view, links: links).apply(keeper)
        }
        return try await self.share(for: share.zoneID)
    }

    /// Title, type and thumbnail live in the share's own record, as encrypted values.
    func saveShareRecord(_ share: Share) async throws(SealKitError) {
        var record = Record(recordType: Share.recordType, recordID: share.recordID)
        if let existing = try await shareRecord(share.recordID) { record = existing }
        let isNew = record.base == nil
        let before: [String?] = [record.encryptedValues["title"], record.encryptedValues["shareType"]]
        let thumbnail: Data? = record.encryptedValues["thumbnailImageData"]
        guard isNew || before != [share.title, share.shareType] || thumbnail != share.thumbnailImageData else { return }
        share.describe(&record)
        let results = try await modifyRecords(saving: [record], savePolicy: .changedKeys)
        _ = try results.saveResults[share.recordID]?.get()
    }

    /// nil only when it is verifiably not there: one that does not verify is an error, not an empty title.
    func shareRecord(_ id: Record.ID) async throws(SealKitError) -> Record? {
        switch try await look(up: [id], desiredKeys: nil).first?.1 {
        case .success(.record(let record)): return record
        case .failure(let error) where error.code != .unknownItem: throw error
        default: return nil
        }
    }

    /// What the verified roster says; addresses are opened where they were sealed to this account.
    func participants(of roster: Roster) -> [Share.Participant] {
        // The owner first, then in the order in which people joined the log; invitations stand by id, so that lists are stable.
        let members = roster.members.values.sorted { $0.since < $1.since }.map { member in
            Share.Participant(
                participantID: member.invitationID?.hex ?? member.userID.recordName,
                userIdentity: Share.UserIdentity(
                    userRecordID: Record.ID(recordName: member.userID.recordName),
                    lookupInfo: member.invitation.flatMap { lookupInfo(of: $0, roster) }),
                role: Share.Participant.Role(member.role), permission: .init(member.permission), acceptanceStatus: .accepted,
                chain: member.identity)
        }
        let invited = roster.invitations.values.sorted { $0.id < $1.id }.map { invitation in
            Share.Participant(
                participantID: invitation.id.hex,
                userIdentity: Share.UserIdentity(
                    userRecordID: invitation.invitee.map { Record.ID(recordName: $0.userID.recordName) },
                    lookupInfo: lookupInfo(of: invitation, roster)),
                role: .privateUser, permission: .init(invitation.permission), acceptanceStatus: .pending, chain: invitation.invitee)
        }
        return members + invited
    }

    /// The address that somebody was invited by, where it was sealed to this account.
    private func lookupInfo(of invitation: Invitation, _ roster: Roster) -> Share.LookupInfo? {
        let address = try? SealedAddresses<XWingHPKE>.open(
            invitation, scopeID: roster.scopeID, as: core.userID(), keys: core.identity().keys)
        return address.map { $0.hasPrefix("+") ? .phoneNumber($0) : .emailAddress($0) }
    }

    // MARK: Leaving

    /// Leaves all that the zone's owner shares in it: the zone disappears from the shared database, and the next member who writes opens a new key.
    public func leaveShare(of zoneID: RecordZone.ID) async throws(SealKitError) {
        guard scope == .shared else {
            throw SealKitError(.badDatabase, "an owner cannot leave its own share", remedy: "remove the participants instead")
        }
        for view in try await zoneGround(zoneID).views.values { try await leave(view.scope) }
    }

    func append(
        _ draft: RosterAuthor<XWingHPKE>.Draft, view: ZoneView, links: [Sealkit_V1_Link] = [],
        addresses: [Sealkit_V1_PlaceholderAddress] = []
    ) async throws(SealKitError) {
        let request = Sealkit_V1_AppendRosterRequest.with {
            $0.operationID = newOperationID()
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
            $0.entry = draft.entry.wire
            $0.grants = draft.grants.map { Sealkit_V1_Grant(subject: $0.subject, epoch: $0.epoch, sealed: $0.sealed) }
            $0.links = links
            $0.addresses = addresses
        }
        let _: Sealkit_V1_AppendRosterResponse = try await core.call(scope, "rosters/append", request)
    }
}
