import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// The URLs of a share that its owner or an administrator has: kept on the server under the account's storage key,
/// which the server does not have; the share-wide one that somebody else made, as it was sealed to the account.
struct OwnerLinks {
    struct Link {
        let routingID: ID16
        let secret: LinkSecret
        /// nil for the share-wide URL.
        let invitationID: ID16?
        /// What the server keeps for whoever looks at it, opened and not verified; nil for a new one, and for what is
        /// no preview.
        var shown: SignedPreview?

        func url(origin: String, scopeID: Digest) -> String {
            ShareURL(origin: origin, routingID: routingID, secret: secret, scopeID: scopeID).text()
        }
    }

    static let purpose = "link-secret"
    /// The one-time URLs.
    let links: [Link]
    /// The one whose secret the roster's settings name: another one that the server keeps is no link of this share.
    let shareWide: Link?

    /// What the server keeps of a share's links, sealed as it is.
    static func stored(_ database: Database, view: ZoneView) async throws(SealKitError) -> Sealkit_V1_LinksResponse {
        let request = Sealkit_V1_LinksRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
        }
        return try await database.core.call(database.scope, Endpoints.sharing.fetchLinks, request)
    }

    static func fetch(_ database: Database, view: ZoneView) async throws(SealKitError) -> OwnerLinks {
        do { return try await opened(database, view: view) } catch {
            throw await database.core.noted(error, scope: view.scope)
        }
    }

    private static func opened(_ database: Database, view: ZoneView) async throws(SealKitError) -> OwnerLinks {
        let seeds = database.core.account.seeds
        let response = try await stored(database, view: view)
        var links: [Link] = []
        for link in response.links where !link.keptSecret.isEmpty {
            links.append(
                try verifying("a kept share URL") { () throws(SealError) in
                    let routingID = try ID16(link.routingID)
                    let secret = try open(
                        [UInt8](link.keptSecret), context: context(view.roster.scopeID, routingID), keptBy: seeds)
                    let invitation = link.invitationID.isEmpty ? nil : try ID16(link.invitationID)
                    return Link(
                        routingID: routingID, secret: try LinkSecret(secret), invitationID: invitation,
                        showing: link.preview, in: view.roster)
                })
        }
        let shareWide = links.first {
            $0.invitationID == nil && $0.secret.id(in: view.roster.scopeID) == view.roster.linkID
        }
        return OwnerLinks(
            links: links.filter { $0.invitationID != nil },
            shareWide: shareWide ?? sealed(response, database, view: view))
    }

    /// What was kept before the account took new keys is sealed by those before.
    private static func open(
        _ sealed: [UInt8], context: [UInt8], keptBy seeds: [AccountSeed]
    ) throws(SealError) -> SecretBytes {
        for seed in seeds.dropFirst().reversed() {
            let opened = try? StorageBox.open(sealed, purpose: purpose, context: context, under: seed.storageKey())
            if let opened { return opened }
        }
        guard let first = seeds.first else { throw .missingKey }
        return try StorageBox.open(sealed, purpose: purpose, context: context, under: first.storageKey())
    }

    /// The share-wide link of another maker. One that does not open is none: a copy that somebody sealed badly must not
    /// keep the owner from putting that somebody out.
    private static func sealed(_ response: Sealkit_V1_LinksResponse, _ database: Database, view: ZoneView) -> Link? {
        let core = database.core
        guard let linkID = view.roster.linkID, let wire = response.links.first(where: { $0.invitationID.isEmpty }),
            let routingID = try? ID16(wire.routingID)
        else { return nil }
        let opened = try? core.identity().open { keys throws(SealError) in
            try SealedLinks<XWingHPKE>.open(
                [UInt8](response.sealedLink), scopeID: view.roster.scopeID, linkID: linkID, as: core.userID(),
                keys: keys)
        }
        guard let secret = opened else { return nil }
        return Link(routingID: routingID, secret: secret, invitationID: nil, showing: wire.preview, in: view.roster)
    }

    /// A new link and what the server keeps of it.
    static func make(
        _ database: Database, scopeID: Digest, invitationID: ID16?, preview: SignedPreview
    ) throws(SealKitError) -> (Link, Sealkit_V1_Link) {
        var random = SystemRandom()
        let link = Link(
            routingID: ID16(random: &random), secret: LinkSecret(random: &random), invitationID: invitationID)
        return (link, try keep(link, database, scopeID: scopeID, preview: preview))
    }

    /// What the server keeps of a link.
    static func keep(
        _ link: Link, _ database: Database, scopeID: Digest, preview: SignedPreview
    ) throws(SealKitError) -> Sealkit_V1_Link {
        var random = SystemRandom()
        let kept = StorageBox.seal(
            link.secret.bytes, purpose: purpose, context: context(scopeID, link.routingID),
            under: database.core.account.seed.storageKey(), random: &random)
        var wire = try show(preview, behind: link, scopeID: scopeID)
        wire.invitationID = Data(link.invitationID?.bytes ?? [])
        wire.keptSecret = Data(kept)
        return wire
    }

    private static func show(
        _ preview: SignedPreview, behind link: Link, scopeID: Digest
    ) throws(SealKitError) -> Sealkit_V1_Link {
        var random = SystemRandom()
        let sealed: [UInt8]
        do throws(SealError) {
            sealed = try link.secret.seal(preview, scopeID: scopeID, random: &random)
        } catch {
            throw SealKitError(
                .limitExceeded, "title, type and thumbnail of the share are too long for what its URL shows",
                remedy: "keep them under \(Limits.previewBytes) bytes in all: take a smaller thumbnail")
        }
        return .with {
            $0.routingID = Data(link.routingID.bytes)
            $0.preview = Data(sealed)
        }
    }

    /// What the URLs are to show, signed by this account as one who administers the share.
    func sign(_ preview: SharePreview, _ database: Database, view: ZoneView) -> SignedPreview {
        let author = database.core.author(on: view.roster)
        return SignedPreview(
            preview, by: author.user, key: author.keys.signingKey, on: view.roster, time: currentTime(),
            after: newestShown(in: view.roster))
    }

    /// Seals what the URLs show anew where it is not this, or where nobody vouches for it who administers the share
    /// now: after its title, type or thumbnail changed, and after whoever signed it lost that role.
    /// - Parameter isNewest: the roster was asked for after the links: a preview that cites a later head is nobody's.
    ///   Otherwise whoever signed it knows better, and one by an older head would be a step back to who has seen it.
    /// - Returns: of how many.
    @discardableResult
    func renewPreviews(
        _ preview: SharePreview, _ database: Database, view: ZoneView, isNewest: Bool
    ) async throws(SealKitError) -> Int {
        let stale = all.filter { link in
            if !isNewest, let shown = link.shown, shown.rosterSequence >= view.roster.nextSequence { return false }
            return (try? link.shown?.verified(in: view.roster)) != preview
        }
        guard !stale.isEmpty else { return 0 }
        let signed = sign(preview, database, view: view)
        var wires: [Sealkit_V1_Link] = []
        for link in stale { wires.append(try OwnerLinks.show(signed, behind: link, scopeID: view.roster.scopeID)) }
        try await OwnerLinks.update(wires, database, view: view)
        return wires.count
    }

    private var all: [Link] { links + [shareWide].compactMap { $0 } }

    /// Of what verifies: another one's time binds nobody.
    private func newestShown(in roster: Roster) -> SignedPreview? {
        let shown = Set(all.compactMap(\.shown)).filter { (try? $0.verified(in: roster)) != nil }
        return shown.max { $0.isOlder(than: ($1.rosterSequence, $1.time)) }
    }

    /// Seals by the account's newest keys what was kept by those before.
    static func keepAnew(_ database: Database, view: ZoneView) async throws(SealKitError) {
        let response = try await stored(database, view: view)
        let (seeds, scopeID) = (database.core.account.seeds, view.roster.scopeID)
        guard seeds.count > 1, let newest = seeds.last else { return }
        var random = SystemRandom()
        var wires: [Sealkit_V1_Link] = []
        for var link in response.links where !link.keptSecret.isEmpty {
            guard let routingID = try? ID16(link.routingID) else { continue }
            let (kept, context) = ([UInt8](link.keptSecret), context(scopeID, routingID))
            // What does not open is nothing that this account has kept: a link less, and no reason to stop.
            guard (try? open(kept, context: context, keptBy: [newest])) == nil,
                let secret = try? open(kept, context: context, keptBy: seeds)
            else { continue }
            link.keptSecret = Data(
                StorageBox.seal(secret, purpose: purpose, context: context, under: newest.storageKey(), random: &random)
            )
            wires.append(link)
        }
        try await update(wires, database, view: view)
    }

    private static func update(
        _ wires: [Sealkit_V1_Link], _ database: Database, view: ZoneView
    ) async throws(SealKitError) {
        guard !wires.isEmpty else { return }
        let request = Sealkit_V1_UpdateLinksRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
            $0.links = wires
        }
        let _: Sealkit_V1_UpdateLinksResponse = try await database.core.call(
            database.scope, Endpoints.sharing.updateLinks, request)
    }

    private static func context(_ scopeID: Digest, _ routingID: ID16) -> [UInt8] { scopeID.bytes + routingID.bytes }

    /// Puts the URLs where the app looks for them.
    func write(to share: inout Share, view: ZoneView, origin: String) {
        let scopeID = view.roster.scopeID
        share.url = shareWide?.url(origin: origin, scopeID: scopeID)
        for link in links {
            guard let invitation = link.invitationID,
                view.roster.invitations[invitation] != nil
                    || view.roster.members.values.contains(where: { $0.invitationID == invitation })
            else { continue }
            share.oneTimeURLs[invitation.hex] = link.url(origin: origin, scopeID: scopeID)
        }
    }
}

extension OwnerLinks.Link {
    /// - Parameter sealed: the preview that the server keeps; what does not open is none, and is made anew.
    fileprivate init(routingID: ID16, secret: LinkSecret, invitationID: ID16?, showing sealed: Data, in roster: Roster)
    {
        self.init(
            routingID: routingID, secret: secret, invitationID: invitationID,
            shown: try? secret.openPreview([UInt8](sealed), scopeID: roster.scopeID))
    }
}
