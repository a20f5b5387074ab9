public import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Share {
    /// What a URL leads to: CloudKit's `CKShare.Metadata`, verified against the URL's secret part.
    public struct Metadata: Sendable {
        public let containerIdentifier: String
        public let zoneID: RecordZone.ID
        /// The record that is shared with all that has it as parent; nil for a zone's share.
        public let hierarchicalRootRecordID: Record.ID?
        /// What the share shows before it is accepted, and who says so; nil where nobody vouches for it: its author
        /// administers the share no more, and nobody who does has renewed it yet. That keeps nobody from accepting.
        public let preview: Preview?
        public internal(set) var ownerIdentity: UserIdentity
        public let participantRole: Participant.Role
        public let participantPermission: Participant.Permission
        public let participantStatus: Participant.AcceptanceStatus

        /// Of ``preview``; empty where there is none.
        public var title: String { preview?.title ?? "" }
        /// Of ``preview``; empty where there is none.
        public var shareType: String { preview?.shareType ?? "" }
        public var thumbnailImageData: Data? { preview?.thumbnailImageData }

        let url: ShareURL
        let roster: Roster
        let entries: [SignedRosterEntry]
        /// What accepting takes; nil for a participant.
        let seat: Seat?
        let grant: [UInt8]
    }

    /// Title, type and thumbnail as the owner or an administrator signed them, by the verified roster.
    public struct Preview: Sendable, Hashable {
        public let title: String
        public let shareType: String
        public let thumbnailImageData: Data?
        public let authorRecordID: Record.ID
        public let authorRole: Participant.Role
        /// When it was signed, by the author's clock.
        public let date: Date
    }

    /// A seat of the verified roster.
    enum Seat: Sendable {
        case invitation(Invitation)
        case everybody(PublicSeat)

        var id: ID16 {
            switch self {
            case .invitation(let invitation): invitation.id
            case .everybody(let seat): seat.id
            }
        }

        var permission: SealStatements.Permission {
            switch self {
            case .invitation(let invitation): invitation.permission
            case .everybody(let seat): seat.permission
            }
        }

        var signingKey: VerificationKey {
            switch self {
            case .invitation(let invitation): invitation.signingKey
            case .everybody(let seat): seat.signingKey
            }
        }

        /// Whether the grant opens with the acceptor's own key as well.
        var isForKnownPerson: Bool {
            if case .invitation(let invitation) = self { invitation.invitee != nil } else { false }
        }
    }
}

extension Container {
    /// Looks at a share without accepting it.
    ///
    /// - Throws: `participantMayNeedVerification` when the share waits for somebody without an account, who may be the
    ///   caller: prove the address with `beginVerification(of:for:)`; `unknownItem` for the uninvited;
    ///   `invalidArguments` for a URL that is cut short, altered, or answered with another share; `integrityFailure`
    ///   where roster or preview do not verify, as for a title by somebody who administers nothing there; `rollback`
    ///   for an older preview than this device has seen behind the URL.
    public func shareMetadata(for url: String) async throws(SealKitError) -> Share.Metadata {
        let url = try shareURL(url)
        let first = try await metadataPage(behind: url, from: 0)
        let core = core
        return try await core.witnessing { () async throws(SealKitError) in
            let (roster, response) = try await roster(behind: url, first)
            let preview = try await preview(behind: url, response, roster)
            var metadata = try metadata(url, response, roster, preview)
            try await core.contacts.observe(roster.knownIdentities)
            metadata.ownerIdentity.isVerified = try await !core.contacts.verified(among: [roster.owner]).isEmpty
            return metadata
        }
    }

    /// - Throws: `invalidArguments` for a URL that is cut short, altered, or of another server.
    func shareURL(_ text: String) throws(SealKitError) -> ShareURL {
        let url = try verifying("the URL") { () throws(SealError) in try ShareURL(text) }
        guard url.origin == core.account.server else {
            throw SealKitError(
                .invalidArguments, "the share is on another server: \(url.origin)",
                remedy: "use an account on that server, or make one there")
        }
        return url
    }

    /// - Throws: `badContainer`.
    func checkPlace(container: String, environment: String) throws(SealKitError) {
        guard container == core.identifier, environment == core.environment.name else {
            throw SealKitError(
                .badContainer, "the share is in the container \(container), \(environment)",
                remedy: "open it with that container")
        }
    }

    /// The scope that the server names for a URL.
    ///
    /// The URL commits to it: another share or owner behind it is refused before anything else.
    func scope(
        _ zone: Sealkit_V1_ZoneID, _ shareRecordName: String, behind url: ShareURL
    ) throws(SealError) -> Scope {
        let scope = Scope(
            container: core.identifier, environment: core.environment, owner: try UserID(recordName: zone.ownerName),
            zoneName: zone.zoneName, shareRecordName: shareRecordName)
        try url.check(scopeID: scope.id)
        return scope
    }

    private func metadataPage(
        behind url: ShareURL, from first: UInt64
    ) async throws(SealKitError) -> Sealkit_V1_ShareMetadataResponse {
        let request = Sealkit_V1_ShareMetadataRequest.with {
            $0.routingID = Data(url.routingID.bytes)
            $0.firstSequence = first
        }
        let response: Sealkit_V1_ShareMetadataResponse
        do throws(SealKitError) {
            response = try await core.call(Endpoints.sharing.metadata, request)
        } catch let error where error.code == .unknownItem {
            // Both look alike to who is not in it, as everything that leads nowhere.
            throw SealKitError(
                error.code, error.reason,
                remedy:
                    "ask whoever sent the URL: the invitation may have been taken back, or the share have a newer URL")
        }
        try checkPlace(container: response.container, environment: response.environment)
        return response
    }

    /// The whole roster, each page verified before the next is asked for, and the last page, which says what the caller
    /// may do, with the entries of all.
    private func roster(
        behind url: ShareURL, _ first: Sealkit_V1_ShareMetadataResponse
    ) async throws(SealKitError) -> (Roster, Sealkit_V1_ShareMetadataResponse) {
        var page = first
        var wires = first.entries
        var roster = try verifying("the share") { () throws(SealError) in
            let scope = try self.scope(first.zone, first.shareRecordName, behind: url)
            guard let roster = try Roster(replaying: first.entries.lazy.map { SignedRosterEntry($0) }, scope: scope)
            else {
                throw .invalidURL
            }
            return roster
        }
        while page.moreComing {
            page = try await metadataPage(behind: url, from: roster.nextSequence)
            guard !page.entries.isEmpty || !page.moreComing, page.zone == first.zone,
                page.shareRecordName == first.shareRecordName
            else {
                throw SealKitError(
                    .serverRejectedRequest,
                    "the server says that the share's roster goes on, and gives nothing more of it",
                    remedy: "try again, and distrust a server that keeps doing so")
            }
            let entries = page.entries.map { SignedRosterEntry($0) }
            roster = try verifying("the share") { [roster] () throws(SealError) in
                var next = roster
                for entry in entries { try next.append(entry) }
                return next
            }
            wires += page.entries
        }
        page.entries = wires
        _ = try verifying("the share") { [roster] () throws(SealError) in
            guard !roster.isClosed else { throw .changeNotApplicable }
        }
        return (roster, page)
    }

    /// - Returns: nil where nobody vouches for it.
    private func preview(
        behind url: ShareURL, _ response: Sealkit_V1_ShareMetadataResponse, _ roster: Roster
    ) async throws(SealKitError) -> Share.Preview? {
        let (signed, shown) = try verifying("the share's preview") { () throws(SealError) in
            let signed = try url.secret.openPreview([UInt8](response.preview), scopeID: roster.scopeID)
            return (signed, try signed.verified(in: roster))
        }
        guard let shown, let author = roster.members[signed.author] else { return nil }
        guard try await core.trust.admit(signed, behind: url.routingID, scope: roster.scopeID) else {
            throw SealKitError(
                .rollback, "the share's title and type are older than those that this device has seen behind the URL",
                remedy: "do not go by this server's answer; ask whoever sent the URL what is shared")
        }
        return Share.Preview(
            title: shown.title, shareType: shown.shareType,
            thumbnailImageData: shown.thumbnail.isEmpty ? nil : Data(shown.thumbnail),
            authorRecordID: Record.ID(recordName: signed.author.recordName), authorRole: .init(author.role),
            date: Date(microseconds: signed.time))
    }

    private func metadata(
        _ url: ShareURL, _ response: Sealkit_V1_ShareMetadataResponse, _ roster: Roster, _ preview: Share.Preview?
    ) throws(SealKitError) -> Share.Metadata {
        let member = roster.members[core.userID()]
        let seat = member == nil ? try seat(response.invitationID, roster) : nil
        let zoneID = core.zoneID(of: roster.scope)
        return Share.Metadata(
            containerIdentifier: core.identifier, zoneID: zoneID,
            hierarchicalRootRecordID: roster.rootRecordName.map { Record.ID(recordName: $0, zoneID: zoneID) },
            preview: preview,
            ownerIdentity: Share.UserIdentity(userRecordID: Record.ID(recordName: roster.owner.recordName)),
            participantRole: member.map { .init($0.role) }
                ?? (roster.publicSeat?.id == seat?.id ? .publicUser : .privateUser),
            participantPermission: .init(member?.permission ?? seat?.permission),
            participantStatus: member == nil ? .pending : .accepted, url: url, roster: roster,
            entries: response.entries.map { SignedRosterEntry($0) }, seat: seat,
            grant: [UInt8](response.grant.sealed))
    }

    /// The seat that the server says the caller may take, as the verified roster has it.
    private func seat(_ id: Data, _ roster: Roster) throws(SealKitError) -> Share.Seat {
        if let id = try? ID16(id) {
            if let invitation = roster.invitations[id] { return .invitation(invitation) }
            if let seat = roster.publicSeat, seat.id == id { return .everybody(seat) }
        }
        throw SealKitError(
            .unknownItem, "the share has no open invitation for this account", remedy: "ask its owner for one")
    }

    /// Accepts a share: opens the invitation's grant, joins the roster, and seals the zone's key to oneself.
    ///
    /// - Parameter metadata: what `shareMetadata(for:)` has given.
    /// - Parameter token: from the verification flow, where the address was proven for this share just now.
    /// - Returns: the zone, which is in the shared database from now on.
    /// - Throws: `integrityFailure` when grant or roster do not verify; `unknownItem` when the invitation is gone;
    ///   `verificationFailed` for a token that is spent, late, or of somebody else.
    @discardableResult
    public func accept(_ metadata: Share.Metadata, token: VerificationToken? = nil) async throws(SealKitError)
        -> RecordZone.ID
    {
        try await whileRosterMoves { round throws(SealKitError) in
            let metadata = round == 1 ? metadata : try await shareMetadata(for: metadata.url.text())
            guard let seat = metadata.seat else {
                try await adopt(metadata, then: nil)
                return metadata.zoneID
            }
            let draft = try await core.witnessing { () async throws(SealKitError) in try acceptance(of: seat, metadata)
            }
            let request = Sealkit_V1_AcceptShareRequest.with {
                $0.operationID = newOperationID()
                $0.routingID = Data(metadata.url.routingID.bytes)
                $0.entry = draft.entry.wire
                $0.token = token?.text ?? ""
                if let grant = draft.grants.first {
                    $0.grant = Sealkit_V1_Grant(subject: grant.subject, epoch: grant.epoch, sealed: grant.sealed)
                }
            }
            let _: Sealkit_V1_AcceptShareResponse = try await core.call(Endpoints.sharing.accept, request)
            try await adopt(metadata, then: draft.entry)
            return metadata.zoneID
        }
    }

    private func acceptance(
        of seat: Share.Seat, _ metadata: Share.Metadata
    ) throws(SealKitError) -> RosterAuthor<XWingHPKE>.Draft {
        let roster = metadata.roster
        let epoch = roster.currentEpoch
        let keys = try verifying("the invitation") { () throws(SealError) in
            let keys = try metadata.url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: seat.id)
            guard keys.signingKey.verificationKey == seat.signingKey else { throw .invalidURL }
            // Only a grant that a permitted entry committed to is opened, and only the key that the entry names is
            // used.
            guard epoch.grantHashes[.invitation(seat.id)] == GrantHash.of(metadata.grant) else { throw .keyMismatch }
            return keys
        }
        let key: EpochKey
        do throws(SealError) {
            // Whoever invited may have known earlier keys of this account.
            key = try core.identity().open { own throws(SealError) in
                try Grants<XWingHPKE>.open(
                    metadata.grant, epoch: epoch, invitation: keys, keys: seat.isForKnownPerson ? own : nil)
            }
        } catch {
            throw SealKitError(
                .integrityFailure,
                "the invitation's grant does not open (\(error)): it is the one that was signed for, by whoever invited or has opened key \(epoch.number) since",
                remedy: "ask the owner to open another key with rotateKeys(of:), and accept then")
        }
        return try verifying("the invitation") { () throws(SealError) in
            try core.author.accept(
                keys, on: roster, identity: core.identity().chain, epochKey: key, time: currentTime())
        }
    }

    /// From now on this device knows the roster: it starts from what was verified before joining.
    private func adopt(_ metadata: Share.Metadata, then entry: SignedRosterEntry?) async throws(SealKitError) {
        guard !metadata.zoneID.isCurrentUsers else { return }
        let keeper = core.keeper(of: metadata.roster.scope)
        _ = try await keeper.adopt(metadata.entries + (entry.map { [$0] } ?? []), grants: [])
        _ = try await keeper.refresh()
    }
}
