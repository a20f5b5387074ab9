import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks with links and invitations that are used, revoked, renewed, or not accepted yet.
extension LinkAttacks {
    @Test(
        "An invitation used twice or after its revocation is refused by clients too, from the roster; after its expiry by the server."
    )
    func attack43_anInvitationUsedAgain() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await Placeholder(server)
        let (carol, mallory) = (try await Person(server), try await Person(server))
        let before = try await place.roster()
        // Mallory has the very URL, read over Carol's shoulder.
        let url = try ShareURL(place.url)
        let keys = try url.secret.invitationKeys(scopeID: before.scopeID, invitationID: place.seat)
        var copy = before
        #expect(throws: Never.self) {
            try copy.append(Self.acceptance(of: place.seat, by: mallory, on: before, signedBy: keys.signingKey))
        }
        _ = try await place.accept(carol)
        var roster = try await place.roster()
        let (ann, network) = try place.ann.behindAttacker()
        network.serve([Self.acceptance(of: place.seat, by: mallory, on: roster, signedBy: keys.signingKey)])
        await expectRefused(.integrityFailure, by: .changeNotApplicable) {
            _ = try await ann.own.share(for: place.zone)
        }
        await expectRefused(.unknownItem) { _ = try await mallory.container.shareMetadata(for: place.url) }
        // Revoked before anybody took it.
        let revoked = try await Placeholder(server, ann: place.ann)
        let theirs = try ShareURL(revoked.url)
        var share = try await place.ann.own.share(for: revoked.zone)
        share.removeParticipant(try #require(share.participants.last))
        _ = try await place.ann.own.save(share)
        roster = try await revoked.roster()
        let seat = try theirs.secret.invitationKeys(scopeID: roster.scopeID, invitationID: revoked.seat)
        network.beHonest()
        network.serve([Self.acceptance(of: revoked.seat, by: mallory, on: roster, signedBy: seat.signingKey)])
        await expectRefused(.integrityFailure, by: .changeNotApplicable) {
            _ = try await ann.own.share(for: revoked.zone)
        }
        await expectRefused(.unknownItem) { _ = try await mallory.container.shareMetadata(for: revoked.url) }
        network.beHonest()

        // Expired: the server offers no seat whose time is over, and the owner's device revokes it when it next saves
        // the share.
        let bob = try await Person(server)
        let open = try await Placeholder(server, ann: place.ann)
        let view = try await place.ann.keeper(of: open.zone).refresh()
        let shareWide = try ShareURL(open.shareWide)
        var random = SystemRandom()
        let late = try InvitationDraft(
            keys: shareWide.secret.invitationKeys(scopeID: view.roster.scopeID, invitationID: ID16(random: &random)),
            permission: .readOnly,
            invitee: bob.identity.chain, expires: 1, using: XWingHPKE.self)
        let draft = try ann.container.core.author.next(
            on: view.roster, changes: [], invitations: [late], rotating: false, current: view.currentKey(), time: 1,
            random: &random)
        try await place.ann.own.append(draft, view: view)
        await expectRefused(.unknownItem) { _ = try await bob.container.shareMetadata(for: open.shareWide) }
        let unrevoked = try await open.roster()
        let over = try shareWide.secret.invitationKeys(scopeID: unrevoked.scopeID, invitationID: late.id)
        var taken = unrevoked
        #expect(throws: Never.self, "until then a dishonest server could let it pass") {
            try taken.append(Self.acceptance(of: late.id, by: bob, on: unrevoked, signedBy: over.signingKey))
        }
        _ = try await place.ann.own.save(try await place.ann.own.share(for: open.zone))
        let revokedNow = try await open.roster()
        #expect(revokedNow.invitations[late.id] == nil)
        #expect(revokedNow.currentEpoch.number == unrevoked.currentEpoch.number + 1)
        network.serve([Self.acceptance(of: late.id, by: bob, on: revokedNow, signedBy: over.signingKey)])
        await expectRefused(.integrityFailure, by: .changeNotApplicable) { _ = try await ann.own.share(for: open.zone) }
        network.beHonest()
        #expect(
            try await ann.own.share(for: place.zone).participants.map(\.acceptanceStatus) == [.accepted, .accepted])
    }

    @Test("A link that was revoked or renewed opens nothing that is written afterwards.")
    func attack44_aRevokedLinkWithTheWholeDatabase() async throws {
        let ann = try await Person()
        let bob = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(ann.note(in: zone, "before", name: "before"))
        let share = try await ann.share(zone, [(bob, .readOnly)])
        let url = try ShareURL(try #require(share.url))
        // What Bob can have of the invitation, by his URL and a server that keeps its grant for him.
        let before = try await ann.view(of: zone).roster
        let invitation = try #require(before.invitations.values.first)
        let metadata = try await bob.container.shareMetadata(for: url.text())
        let keys = try url.secret.invitationKeys(scopeID: before.scopeID, invitationID: invitation.id)
        let key = try Grants<XWingHPKE>.open(
            metadata.opening.grant, epoch: before.currentEpoch, invitation: keys, keys: bob.identity.keys)
        try await AttackedZone.remove(bob, from: zone, of: ann)
        _ = try await ann.own.save(ann.note(in: zone, "after", name: "after"))
        let (fresh, network) = try ann.freshBehindAttacker()
        for name in ["before", "after"] {
            _ = try await fresh.own.record(for: Record.ID(recordName: name, zoneID: zone))
        }
        let wires = Dictionary(network.records.map { ($0.recordName, $0) }) { $1 }
        #expect(Forgery.opens(try #require(wires["before"]), with: key))
        #expect(!Forgery.opens(try #require(wires["after"]), with: key))
        let after = try await ann.view(of: zone)
        #expect(after.roster.subjects == [.member(ann.userID)])
        expectRefused(.authenticationFailed) {
            _ = try key.openPrevious(after.roster.currentEpoch.previousKey, epoch: after.roster.currentEpoch)
        }
        // Renewed: the new link's seats are other keys, and the roster names the new secret.
        var random = SystemRandom()
        let renewed = LinkSecret(random: &random)
        let draft = try ann.container.core.author.next(
            on: after.roster, changes: [],
            settings: SettingsDraft(secret: renewed, publicAccess: (ID16(random: &random), .readOnly)),
            rotating: true, current: after.currentKey(), time: 1, random: &random)
        var roster = after.roster
        try roster.append(draft.entry)
        let seat = try #require(roster.publicSeat)
        let grant = try #require(draft.grants.first { $0.subject == .invitation(seat.id) })
        #expect(throws: Never.self) {
            try Grants<XWingHPKE>.open(
                grant.sealed, epoch: roster.currentEpoch,
                invitation: renewed.invitationKeys(scopeID: roster.scopeID, invitationID: seat.id), keys: nil)
        }
        expectRefused(.authenticationFailed) {
            _ = try Grants<XWingHPKE>.open(
                grant.sealed, epoch: roster.currentEpoch,
                invitation: url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: seat.id), keys: nil)
        }
        let linkID = try #require(roster.linkID)
        expectRefused(.keyMismatch) { try url.secret.check(linkID: linkID, scopeID: roster.scopeID) }
    }

    @Test("Link previews (GET, HEAD) consume nothing.")
    func attack45_linkPreviewsConsumeNothing() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await Placeholder(server)
        let before = try await place.roster().head
        let connection = try HTTPConnection(port: server.port)
        for url in [place.url, place.shareWide, place.url] {
            let path = "/s/\(Base64URL.encode(try ShareURL(url).routingID.bytes))"
            for _ in 0..<5 {
                let page = try await HTTPTransport(server: server.origin).get(path, token: nil)
                #expect(page.status == 200)
                try connection.send(Array("HEAD \(path) HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".utf8))
                try connection.receiveSome()
            }
        }
        #expect(try await place.roster().head == before)
        let carol = try await Person(server)
        for _ in 0..<3 {
            #expect(
                await failure { _ = try await carol.container.shareMetadata(for: place.url) }
                    == .participantMayNeedVerification)
        }
        let joined = try await place.accept(carol)
        #expect(try await carol.body(of: Record.ID(recordName: "note", zoneID: joined)) == "for the invited")
        AttackOutcome.held("after 30 previews the one-time URL is as good as before")
    }

    @Test("Invited and not accepted: no reading, writing, listing or deleting.")
    func attack49_invitedAndNotAccepted() async throws {
        let ann = try await Person()
        let (bob, network) = try await Person().behindAttacker()
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(ann.note(in: zone, "from Ann", name: "note"))
        let share = try await ann.share(zone, [(bob, .readWrite)])
        let foreign = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        let id = Record.ID(recordName: "note", zoneID: foreign)
        await expectRefused(.zoneNotFound) { _ = try await bob.shared.record(for: id) }
        await expectRefused(.zoneNotFound) { try await bob.shared.save(bob.note(in: foreign, "x")) }
        await expectRefused(.zoneNotFound) { try await bob.shared.deleteRecord(withID: id) }
        await expectRefused(.zoneNotFound) { _ = try await bob.shared.recordZoneChanges(inZoneWith: foreign) }
        await expectRefused(.zoneNotFound) { _ = try await bob.shared.share(for: foreign) }
        #expect(try await bob.shared.allRecordZones().isEmpty)
        #expect(try await bob.shared.databaseChanges().modifications.isEmpty)

        // A modified client opens the invitation's grant without accepting, and writes: the server and everybody refuse
        // it.
        let view = try await ann.view(of: zone)
        let url = try ShareURL(try #require(share.url))
        let invitation = try #require(view.roster.invitations.values.first)
        let metadata = try await bob.container.shareMetadata(for: url.text())
        let keys = try url.secret.invitationKeys(scopeID: view.roster.scopeID, invitationID: invitation.id)
        let key = try Grants<XWingHPKE>.open(
            metadata.opening.grant, epoch: view.roster.currentEpoch, invitation: keys, keys: bob.identity.keys)
        let forged = try Forgery.record(
            Forgery.statement(by: bob, view, name: "forged"), [("body", .encrypted(.string("not accepted")))], by: bob,
            key: key)
        #expect(Forgery.opens(forged, with: try view.currentKey()))
        let request = Sealkit_V1_ModifyRecordsRequest.with {
            $0.operationID = newOperationID()
            $0.zone = view.scope.zoneIDOnWire
            $0.atomic = true
            $0.signature = forged.proof.signature
            $0.records = [
                .with {
                    $0 = forged
                    $0.clearProof()
                }
            ]
        }
        await expectRefused(.zoneNotFound) {
            let _: Sealkit_V1_ModifyRecordsResponse = try await bob.container.core.call(
                .shared, Endpoints.records.modify, request)
        }
        let (reader, hostile) = try ann.behindAttacker()
        hostile.show([forged])
        await expectRefused(.integrityFailure, by: .authorNotPermitted) {
            _ = try await reader.own.record(for: Record.ID(recordName: "forged", zoneID: zone))
        }
        _ = try await bob.join(share)
        #expect(try await bob.body(of: id) == "from Ann")
        #expect(!network.exchanges.isEmpty)
    }
}
