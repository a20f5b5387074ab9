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

/// An invitation with the secret of its link.
struct TestInvitation: Sendable {
    let keys: InvitationKeys
    let draft: InvitationDraft
    let routingID: [UInt8]
    var link: Sealkit_V1_Link
}

extension Person {
    /// For a known person with the share-wide link, for nobody known with a one-time link.
    func invitation(
        to person: Person?, in zone: TestZone, permission: Permission = .readWrite, expires: Int64 = 0
    ) throws -> TestInvitation {
        var random = SystemRandom()
        let secret = LinkSecret(random: &random)
        let keys = try secret.invitationKeys(scopeID: zone.roster.scopeID, invitationID: ID16(random: &random))
        let draft = try InvitationDraft(
            keys: keys, permission: permission, invitee: person?.chain, expires: expires, using: XWingHPKE.self)
        let routingID = randomBytes(16)
        var link = Sealkit_V1_Link()
        link.routingID = Data(routingID)
        if person == nil { link.invitationID = Data(keys.id.bytes) }
        link.keptSecret = Data([1, 2, 3])
        link.preview = Data([4, 5])
        return TestInvitation(keys: keys, draft: draft, routingID: routingID, link: link)
    }

    func metadata(_ routingID: [UInt8]) async throws -> Sealkit_V1_ShareMetadataResponse {
        try await client.call(
            "/1/share/metadata", Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(routingID) },
            as: Sealkit_V1_ShareMetadataResponse.self)
    }

    /// The acceptance that this person would send on a roster.
    func acceptRequest(
        _ invitation: TestInvitation, in zone: TestZone, token: String = "", routingID: [UInt8]? = nil
    ) throws -> (Sealkit_V1_AcceptShareRequest, RosterAuthor<XWingHPKE>.Draft) {
        guard zone.roster.invitations[invitation.keys.id] != nil else { throw TestFailure("no such invitation") }
        let draft = try author.accept(
            invitation.keys, on: zone.roster, identity: chain, epochKey: zone.key, time: 4)
        var request = Sealkit_V1_AcceptShareRequest()
        request.operationID = Data(randomBytes(16))
        request.routingID = Data(routingID ?? invitation.routingID)
        request.entry = draft.entry.wire
        request.grant = draft.grants[0].wire
        request.token = token
        return (request, draft)
    }

    func send(_ request: Sealkit_V1_AcceptShareRequest) async throws -> Sealkit_V1_AcceptShareResponse {
        try await client.call("/1/share/accept", request, as: Sealkit_V1_AcceptShareResponse.self)
    }

    func accept(
        _ invitation: TestInvitation, in zone: inout TestZone, token: String = ""
    ) async throws {
        let (request, draft) = try acceptRequest(invitation, in: zone, token: token)
        _ = try await send(request)
        try zone.roster.append(draft.entry)
    }

    /// Invites a known person and lets it accept.
    @discardableResult
    func share(
        _ zone: inout TestZone, with person: Person, _ permission: Permission = .readWrite
    ) async throws -> TestInvitation {
        let invitation = try invitation(to: person, in: zone, permission: permission)
        try await append(try next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
        try await person.accept(invitation, in: &zone)
        return invitation
    }

    func remove(_ person: Person, from zone: inout TestZone) async throws {
        try await append(try next(on: zone, [.remove(person.user)], rotating: true), to: &zone)
    }
}
