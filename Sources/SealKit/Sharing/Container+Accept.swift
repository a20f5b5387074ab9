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
        /// The container that the share is in.
        public let containerIdentifier: String
        /// The zone that is shared, or in which the root is.
        public let zoneID: RecordZone.ID
        /// The record that is shared with all that has it as parent; nil for a zone's share.
        public let hierarchicalRootRecordID: Record.ID?
        /// What the share shows before it is accepted, and who says so; nil where nobody vouches for it: its author
        /// administers the share no more, and nobody who does has renewed it yet. That keeps nobody from accepting.
        public let preview: Preview?
        /// Who owns it, by the roster that the URL's secret vouches for.
        public internal(set) var ownerIdentity: UserIdentity
        /// What whoever asks is in the share, or would be.
        public let participantRole: Participant.Role
        /// What whoever asks may do in it, or might.
        public let participantPermission: Participant.Permission
        /// Whether whoever asks has accepted it.
        public let participantStatus: Participant.AcceptanceStatus

        /// Of ``preview``; empty where there is none.
        public var title: String { preview?.title ?? "" }
        /// Of ``preview``; empty where there is none.
        public var shareType: String { preview?.shareType ?? "" }
        /// Of ``preview``; nil where there is none.
        public var thumbnailImageData: Data? { preview?.thumbnailImageData }

        let opening: ShareOpening
        /// What accepting takes; nil for a participant.
        let seat: Seat?
    }

    /// Title, type and thumbnail as the owner or an administrator signed them, by the verified roster.
    public struct Preview: Sendable, Hashable {
        /// What the share is called.
        public let title: String
        /// A uniform type identifier for what is shared; empty where none was given.
        public let shareType: String
        /// A small picture; nil where there is none.
        public let thumbnailImageData: Data?
        /// Who signed it.
        public let authorRecordID: Record.ID
        /// What the author is in the share: owner or administrator.
        public let authorRole: Participant.Role
        /// When it was signed, by the author's clock.
        public let date: Date
    }
}

extension Container {
    /// Looks at a share without accepting it.
    ///
    /// - Throws: `participantMayNeedVerification` when the share waits for somebody without an account, who may be the
    ///   caller: prove the address with `beginVerification(of:for:)`; `unknownItem` for the uninvited;
    ///   `invalidArguments` for a URL that is cut short, altered, or answered with another share; `integrityFailure`
    ///   where roster or preview do not verify, as for a title by somebody who administers nothing there; `rollback`
    ///   for an older preview than this device has seen behind the URL, and for another or an older roster than it has
    ///   verified.
    public func shareMetadata(for url: String) async throws(SealKitError) -> Share.Metadata {
        let url = try await shareURL(url)
        let core = core
        let known = try await core.trust.rosterEnds()
        let first = try await metadataPage(behind: url, from: 0)
        let opening = try await core.witnessing { () async throws(SealKitError) -> ShareOpening in
            try await self.opening(behind: url, first)
        }
        // Who administers the share, and what this account is in it, is not for an older roster to say.
        let scope = opening.roster.scope
        try await core.keeper(of: scope).check(opening.roster, asked: known[scope])
        return try await core.witnessing { () async throws(SealKitError) in
            let preview = try await preview(opening)
            var metadata = try metadata(opening, preview)
            try await core.contacts.observe(opening.roster.knownIdentities)
            metadata.ownerIdentity.isVerified = try await !core.contacts.verified(among: [opening.roster.owner]).isEmpty
            return metadata
        }
    }

    /// - Throws: `invalidArguments` for a URL that is cut short, altered, or of another server, and for one of this
    ///   account's that has another name now.
    func shareURL(_ text: String) async throws(SealKitError) -> ShareURL {
        let url = try verifying("the URL") { () throws(SealError) in try ShareURL(text) }
        do throws(ShareRefusal) { try ShareOpening.check(url, origin: core.account.server) } catch {
            let own = core.account.server
            // Its own server tells whether the URL has its new name; of a former one in the URL nobody tells.
            guard (try? await core.account.serverInformation().origin) == url.origin else {
                throw SealKitError(
                    .invalidArguments, "the share is on another server: \(url.origin)",
                    remedy: "use an account on that server, or make one there; where that is a former name of \(own), "
                        + "this account is on it: put \(own) in its place in the URL")
            }
            throw SealKitError(
                .invalidArguments,
                "the share's URL has the server's new name, \(url.origin), and this account's address is still \(own)",
                remedy: "the account stays what it is: move its address to \(url.origin) with move(in:to:trust:)")
        }
        return url
    }

    /// What is refused of an answer about a URL, in the SDK's words.
    func judging<T>(_ url: ShareURL, _ body: () throws(ShareRefusal) -> T) throws(SealKitError) -> T {
        do { return try body() } catch { throw SealKitError(error, behind: url) }
    }

    private func metadataPage(
        behind url: ShareURL, from first: UInt64
    ) async throws(SealKitError) -> SharePage {
        let request = Sealkit_V1_ShareMetadataRequest.with {
            $0.routingID = Data(url.routingID.bytes)
            $0.firstSequence = first
        }
        do throws(SealKitError) {
            return SharePage(try await core.call(Endpoints.sharing.metadata, request))
        } catch let error where error.code == .unknownItem {
            // Both look alike to who is not in it, as everything that leads nowhere.
            throw SealKitError(
                error.code, error.reason,
                remedy:
                    "ask whoever sent the URL: the invitation may have been taken back, or the share have a newer URL")
        }
    }

    /// The whole roster, each page verified before the next is asked for.
    private func opening(behind url: ShareURL, _ first: SharePage) async throws(SealKitError) -> ShareOpening {
        let core = core
        var opening = try judging(url) { () throws(ShareRefusal) in
            try ShareOpening(
                url, askedOf: core.account.server, container: core.identifier, environment: core.environment,
                page: first)
        }
        while let next = opening.next {
            let page = try await metadataPage(behind: url, from: next)
            opening = try judging(url) { [opening] () throws(ShareRefusal) in
                var longer = opening
                try longer.append(page)
                return longer
            }
        }
        return opening
    }

    /// - Returns: nil where nobody vouches for it.
    private func preview(_ opening: ShareOpening) async throws(SealKitError) -> Share.Preview? {
        guard let shown = try judging(opening.url, { () throws(ShareRefusal) in try opening.preview() }) else {
            return nil
        }
        let signed = shown.signed
        guard try await core.trust.admit(signed, behind: opening.url.routingID, scope: opening.roster.scopeID) else {
            throw SealKitError(
                .rollback, "the share's title and type are older than those that this device has seen behind the URL",
                remedy: "do not go by this server's answer; ask whoever sent the URL what is shared")
        }
        let preview = signed.preview
        return Share.Preview(
            title: preview.title, shareType: preview.shareType,
            thumbnailImageData: preview.thumbnail.isEmpty ? nil : Data(preview.thumbnail),
            authorRecordID: Record.ID(recordName: signed.author.recordName), authorRole: .init(shown.role),
            date: Date(microseconds: signed.time))
    }

    private func metadata(_ opening: ShareOpening, _ preview: Share.Preview?) throws(SealKitError) -> Share.Metadata {
        let roster = opening.roster
        let standing = try judging(opening.url) { () throws(ShareRefusal) in try opening.standing(of: core.userID()) }
        let (member, seat): (Roster.Member?, Seat?) =
            switch standing {
            case .member(let member): (member, nil)
            case .invited(let seat): (nil, seat)
            }
        let zoneID = core.zoneID(of: roster.scope)
        return Share.Metadata(
            containerIdentifier: core.identifier, zoneID: zoneID,
            hierarchicalRootRecordID: roster.rootRecordName.map { Record.ID(recordName: $0, zoneID: zoneID) },
            preview: preview,
            ownerIdentity: Share.UserIdentity(userRecordID: Record.ID(recordName: roster.owner.recordName)),
            participantRole: member.map { .init($0.role) }
                ?? (roster.publicSeat?.id == seat?.id ? .publicUser : .privateUser),
            participantPermission: .init(member?.permission ?? seat?.permission),
            participantStatus: member == nil ? .pending : .accepted, opening: opening, seat: seat)
    }

    /// Accepts a share: opens the invitation's grant, joins the roster, and seals the zone's key to oneself.
    ///
    /// - Parameter metadata: what `shareMetadata(for:)` has given.
    /// - Parameter token: from the verification flow, where the address was proven for this share just now.
    /// - Returns: the zone, which is in the shared database from now on.
    /// - Throws: `integrityFailure` when grant or roster do not verify; `unknownItem` when the invitation is gone;
    ///   `verificationFailed` for a token that is spent, late, or of somebody else, where the address is not linked to
    ///   this account. What is accepted already is accepted: once more is nothing.
    @discardableResult
    public func accept(_ metadata: Share.Metadata, token: VerificationToken? = nil) async throws(SealKitError)
        -> RecordZone.ID
    {
        try await whileRosterMoves { round throws(SealKitError) in
            let metadata = round == 1 ? metadata : try await shareMetadata(for: metadata.opening.url.text())
            guard let seat = metadata.seat else {
                try await adopt(metadata)
                return metadata.zoneID
            }
            let opening = metadata.opening
            let draft = try await core.witnessing { () async throws(SealKitError) in
                try judging(opening.url) { () throws(ShareRefusal) in
                    try opening.acceptance(
                        of: seat, as: core.identity(), using: XWingHPKE.self, time: currentTime())
                }
            }
            let request = Sealkit_V1_AcceptShareRequest.with {
                $0.operationID = newOperationID()
                $0.routingID = Data(opening.url.routingID.bytes)
                $0.entry = draft.entry.wire
                $0.token = token?.text ?? ""
                if let grant = draft.grants.first {
                    $0.grant = grant.wire
                }
            }
            do throws(SealKitError) { try await take(request) } catch {
                // Another device has accepted it, or this one, and did not hear of it.
                guard error.code == .invalidArguments else { throw error }
                let now = try await shareMetadata(for: opening.url.text())
                guard now.seat == nil else { throw error }
                try await adopt(now)
                return now.zoneID
            }
            try await core.keeper(of: opening.roster.scope).join(opening.entries, by: draft)
            return metadata.zoneID
        }
    }

    /// A token is of one invitation. Where another one has taken that one's place, it is of no use, and the address is
    /// linked to this account by now.
    private func take(_ request: Sealkit_V1_AcceptShareRequest) async throws(SealKitError) {
        do throws(SealKitError) {
            let _: Sealkit_V1_AcceptShareResponse = try await core.call(Endpoints.sharing.accept, request)
        } catch let refusal {
            guard refusal.code == .verificationFailed, !request.token.isEmpty else { throw refusal }
            var request = request
            (request.operationID, request.token) = (newOperationID(), "")
            do throws(SealKitError) { try await take(request) } catch {
                throw error.code == .participantMayNeedVerification ? refusal : error
            }
        }
    }

    /// From now on this device knows the roster that another one has joined: it starts from what was verified behind
    /// the URL.
    private func adopt(_ metadata: Share.Metadata) async throws(SealKitError) {
        guard !metadata.zoneID.isCurrentUsers else { return }
        let keeper = core.keeper(of: metadata.opening.roster.scope)
        _ = try await keeper.adopt(metadata.opening.entries, grants: [])
        _ = try await keeper.refresh()
    }
}

extension SharePage {
    init(_ wire: Sealkit_V1_ShareMetadataResponse) {
        self.init(
            place: SharePlace(
                container: wire.container, environment: wire.environment, wire.zone, wire.shareRecordName),
            entries: wire.entries.map { SignedRosterEntry($0) }, isMoreComing: wire.moreComing,
            invitationID: [UInt8](wire.invitationID), grant: [UInt8](wire.grant.sealed), preview: [UInt8](wire.preview))
    }
}

extension SharePlace {
    init(container: String, environment: String, _ zone: Sealkit_V1_ZoneID, _ shareRecordName: String) {
        self.init(
            container: container, environment: environment, zoneName: zone.zoneName, ownerName: zone.ownerName,
            shareRecordName: shareRecordName)
    }
}
