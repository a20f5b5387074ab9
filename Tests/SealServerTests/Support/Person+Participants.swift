import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealKit
@testable import SealServer
@testable import SealService

/// A public seat with the secret of its link.
struct TestSeat: Sendable {
    let keys: InvitationKeys
    let draft: RosterAuthor<XWingHPKE>.Draft
    let link: Sealkit_V1_Link
    var routingID: [UInt8] { [UInt8](link.routingID) }
}

extension Person {
    func links(_ zone: TestZone) async throws -> Sealkit_V1_LinksResponse {
        let request = Sealkit_V1_LinksRequest.with {
            $0.zone = zone.id(for: self)
            $0.shareRecordName = zone.roster.scope.shareRecordName
        }
        return try await client.call(
            path("links/fetch", shared: zone.owner != user), request, as: Sealkit_V1_LinksResponse.self)
    }

    func updateLinks(_ zone: TestZone, _ message: Sealkit_V1_UpdateLinksRequest = .init()) async throws {
        var message = message
        message.zone = zone.id(for: self)
        message.shareRecordName = zone.roster.scope.shareRecordName
        _ = try await client.call(
            path("links/update", shared: zone.owner != user), message, as: Sealkit_V1_UpdateLinksResponse.self)
    }

    /// What somebody sealed to this person; the server cannot tell what it holds.
    func sealedLink() -> Sealkit_V1_SealedLink {
        .with {
            $0.reader = Data(user.id.bytes)
            $0.sealed = Data(randomBytes(100))
        }
    }

    // MARK: The public

    /// Opens a zone to the public with a link of its own.
    func publicSeat(
        in zone: TestZone, _ permission: Permission = .readOnly, rotating: Bool = false
    ) throws -> TestSeat {
        var random = SystemRandom()
        let secret = LinkSecret(random: &random)
        let id = ID16(random: &random)
        let draft = try author.next(
            on: zone.roster, changes: [], settings: SettingsDraft(secret: secret, publicAccess: (id, permission)),
            rotating: rotating, current: zone.key, time: 3, random: &random)
        var link = Sealkit_V1_Link()
        link.routingID = Data(randomBytes(16))
        link.keptSecret = Data([1, 2, 3])
        link.preview = Data([4, 5])
        return TestSeat(
            keys: try secret.invitationKeys(scopeID: zone.roster.scopeID, invitationID: id), draft: draft, link: link)
    }

    func publicAcceptance(
        _ seat: TestSeat, in zone: TestZone
    ) throws -> (request: Sealkit_V1_AcceptShareRequest, draft: RosterAuthor<XWingHPKE>.Draft) {
        let draft = try author.accept(seat.keys, on: zone.roster, identity: chain, epochKey: zone.key, time: 4)
        let request = Sealkit_V1_AcceptShareRequest.with {
            $0.operationID = Data(randomBytes(16))
            $0.routingID = seat.link.routingID
            $0.entry = draft.entry.wire
            $0.grant = draft.grants[0].wire
        }
        return (request, draft)
    }

    func acceptPublic(_ seat: TestSeat, in zone: inout TestZone) async throws {
        let (request, draft) = try publicAcceptance(seat, in: zone)
        _ = try await send(request)
        try zone.roster.append(draft.entry)
    }

    // MARK: Access

    func shareOwner(_ routingID: [UInt8]) async throws -> Sealkit_V1_ShareOwnerResponse {
        try await client.call(
            "/1/share/owner", Sealkit_V1_ShareOwnerRequest.with { $0.routingID = Data(routingID) },
            as: Sealkit_V1_ShareOwnerResponse.self)
    }

    func ask(_ routingID: [UInt8], id: Int = 16, contact: Int = 40) async throws {
        let request = Sealkit_V1_RequestShareAccessRequest.with {
            $0.routingID = Data(routingID)
            $0.requestID = Data(randomBytes(id))
            $0.sealedContact = Data(count: contact)
        }
        _ = try await client.call("/1/share/request", request, as: Sealkit_V1_RequestShareAccessResponse.self)
    }

    func access(_ zone: TestZone) async throws -> Sealkit_V1_FetchShareAccessResponse {
        let request = Sealkit_V1_FetchShareAccessRequest.with {
            $0.zone = zone.id(for: self)
            $0.shareRecordName = zone.roster.scope.shareRecordName
        }
        return try await client.call(
            path("share/access/fetch", shared: zone.owner != user), request,
            as: Sealkit_V1_FetchShareAccessResponse.self)
    }

    func updateAccess(_ zone: TestZone, allows: Bool? = nil, denied: [String] = []) async throws {
        let request = Sealkit_V1_UpdateShareAccessRequest.with {
            $0.zone = zone.id(for: self)
            $0.shareRecordName = zone.roster.scope.shareRecordName
            if let allows { $0.allowsRequests = allows }
            $0.denied = denied
        }
        _ = try await client.call(
            path("share/access/update", shared: zone.owner != user), request,
            as: Sealkit_V1_UpdateShareAccessResponse.self)
    }
}
