import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// The owner's URLs of a share: kept on the server under the account's storage key, which the server does not have.
struct OwnerLinks {
    struct Link {
        let routingID: ID16
        let secret: LinkSecret
        /// nil for the share-wide URL.
        let invitationID: ID16?

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
    static func stored(_ database: Database, view: ZoneView) async throws(SealKitError) -> [Sealkit_V1_Link] {
        let request = Sealkit_V1_LinksRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
        }
        let response: Sealkit_V1_LinksResponse = try await database.core.call(database.scope, "links/fetch", request)
        return response.links
    }

    static func fetch(_ database: Database, view: ZoneView) async throws(SealKitError) -> OwnerLinks {
        do { return try await opened(database, view: view) } catch { throw await database.core.noted(error, scope: view.scope) }
    }

    private static func opened(_ database: Database, view: ZoneView) async throws(SealKitError) -> OwnerLinks {
        let storageKey = database.core.account.seed.storageKey()
        var links: [Link] = []
        for link in try await stored(database, view: view) {
            links.append(
                try verifying("a kept share URL") { () throws(SealError) in
                    let routingID = try ID16(link.routingID)
                    let secret = try StorageBox.open(
                        [UInt8](link.keptSecret), purpose: purpose, context: context(view.roster.scopeID, routingID), under: storageKey)
                    let invitation = link.invitationID.isEmpty ? nil : try ID16(link.invitationID)
                    return Link(routingID: routingID, secret: try LinkSecret(secret), invitationID: invitation)
                })
        }
        let shareWide = links.first {
            $0.invitationID == nil && $0.secret.id(in: view.roster.scopeID) == view.roster.linkID
        }
        return OwnerLinks(links: links.filter { $0.invitationID != nil }, shareWide: shareWide)
    }

    /// A new link and what the server keeps of it.
    static func make(
        _ database: Database, scopeID: Digest, invitationID: ID16?, preview: SharePreview
    ) throws(SealKitError) -> (Link, Sealkit_V1_Link) {
        var random = SystemRandom()
        let link = Link(routingID: ID16(random: &random), secret: LinkSecret(random: &random), invitationID: invitationID)
        let kept = StorageBox.seal(
            link.secret.bytes, purpose: purpose, context: context(scopeID, link.routingID),
            under: database.core.account.seed.storageKey(), random: &random)
        let sealedPreview = try verifying("the share's preview") { () throws(SealError) in
            try link.secret.sealPreview(preview, scopeID: scopeID, random: &random)
        }
        let wire = Sealkit_V1_Link.with {
            $0.routingID = Data(link.routingID.bytes)
            $0.invitationID = Data(invitationID?.bytes ?? [])
            $0.keptSecret = Data(kept)
            $0.preview = Data(sealedPreview)
        }
        return (link, wire)
    }

    private static func context(_ scopeID: Digest, _ routingID: ID16) -> [UInt8] { scopeID.bytes + routingID.bytes }

    /// Puts the URLs where the app looks for them.
    func write(to share: inout Share, view: ZoneView, origin: String) {
        let scopeID = view.roster.scopeID
        share.url = shareWide?.url(origin: origin, scopeID: scopeID)
        for link in links {
            guard let invitation = link.invitationID, view.roster.invitations[invitation] != nil else { continue }
            share.oneTimeURLs[invitation.hex] = link.url(origin: origin, scopeID: scopeID)
        }
    }
}
