import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks on the ends and beginnings of zones and seats.
extension TimeAttacks {
    @Test(
        "The server says that a zone or share was deleted or purged: what is known is kept and the claim reported, without a verified end."
    )
    func attack59_anEndThatNobodySigned() async throws {
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        let (bob, his) = try world.bob.behindAttacker()
        network.inject(.deletedZone(world.zone, isPurged: true))
        his.inject(.deletedZone(world.joined, isPurged: true))
        await expectRefused(.rollback) { _ = try await ann.own.databaseChanges() }
        await expectRefused(.rollback) { _ = try await ann.own.recordZone(for: world.zone) }
        await expectRefused(.rollback) { _ = try await bob.shared.databaseChanges() }
        await expectRefused(.rollback) { _ = try await bob.shared.recordZone(for: world.joined) }
        // The roster withheld as well.
        network.inject(.deniedZone(world.zone))
        his.inject(.deniedZone(world.joined))
        await expectRefused(.rollback) { _ = try await ann.own.databaseChanges() }
        await expectRefused(.rollback) { try await ann.own.save(RecordZone(zoneID: world.zone)) }
        #expect(try await ann.container.core.trust.entries(scope: world.view(ann).roster.scopeID).count > 0)
        network.beHonest()
        his.beHonest()
        #expect(try await bob.body(of: world.shared) == "from Ann")
        // A removal and a deletion that somebody signed are taken for what they are.
        try await AttackedZone.remove(world.bob, from: world.zone, of: world.ann)
        #expect(try await bob.shared.databaseChanges().deletions.map(\.reason) == [.unshared])
        try await world.ann.own.deleteRecordZone(withID: world.zone)
        #expect(await failure { _ = try await ann.own.recordZone(for: world.zone) } == .zoneNotFound)
    }

    @Test(
        "A zone is deleted and made again under its name: clients go on; its old roster, records and grants, replayed, are refused."
    )
    func attack60_aZonesEarlierLife() async throws {
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        let (fresh, recording) = try world.ann.freshBehindAttacker()
        _ = try await fresh.own.record(for: world.note.recordID)
        let old = try #require(recording.records.last)
        let before = try await world.view(ann)
        let tail = try #require(
            recording.exchanges.first { $0.path.hasSuffix("rosters/fetch") }.map {
                try Sealkit_V1_FetchRostersResponse(serializedBytes: $0.response)
            })
        try await ann.own.deleteRecordZone(withID: world.zone)
        try await ann.own.save(RecordZone(zoneID: world.zone))
        let again = try await ann.own.save(ann.note(in: world.zone, "second life", name: "note"))
        #expect(try await ann.body(of: again.recordID) == "second life")
        // In its life all of it held.
        #expect(try Forgery.verifies(old, before.roster) && Forgery.opens(old, with: try before.currentKey()))
        network.show([old])
        await expectRefused(.integrityFailure, by: .staleEpoch) { _ = try await ann.own.record(for: again.recordID) }
        let (novice, hers) = try world.ann.freshBehindAttacker()
        hers.show([old])
        await expectRefused(.integrityFailure, by: .staleEpoch) { _ = try await novice.own.record(for: again.recordID) }
        // The roster of then, with its head: shorter than what this device knows.
        network.beHonest()
        network.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            answer.scopes[0].sequence = before.roster.sequence
            answer.scopes[0].head = Data(before.roster.head.bytes)
            answer.results = [.with { $0.record = old }]
        }
        await expectRefused(.rollback) { _ = try await ann.own.record(for: again.recordID) }
        // The grant of then: of another life of the same epoch number.
        let (third, grants) = try world.ann.freshBehindAttacker()
        let stale = tail.rosters[0].grants
        #expect(!stale.isEmpty)
        grants.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { $0.rosters[0].grants = stale }
        await expectRefused(.integrityFailure, by: .missingKey) { _ = try await third.own.record(for: again.recordID) }
        await expectRefused(.permissionFailure) { try await third.own.save(third.note(in: world.zone, "x")) }
        // Those who were in the first life are not in the second.
        await expectRefused(.zoneNotFound) { _ = try await world.bob.shared.record(for: world.shared) }
        network.beHonest()
        #expect(try await ann.body(of: again.recordID) == "second life")
    }

    @Test(
        "The server gives a placeholder's seat to another account that holds the share-wide URL: no grant opens, and no higher permission."
    )
    func attack61_aPlaceholdersSeatForSomebodyElse() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await LinkAttacks.Placeholder(server)
        let bob = try await Person(server)
        var share = try await place.ann.own.share(for: place.zone)
        share.addParticipant(
            try await place.ann.container.shareParticipant(
                forUserRecordID: bob.container.userRecordID(), permission: .readOnly))
        share = try await place.ann.own.save(share)
        // Bob's own seat is for reading; the server offers him the placeholder's, which is for writing, with its grant.
        let roster = try await place.roster()
        let (mallory, network) = try bob.behindAttacker()
        let honest = try await bob.container.shareMetadata(for: try #require(share.url))
        #expect(honest.participantPermission == .readOnly)
        #expect(roster.invitations[place.seat]?.permission == .readWrite)
        network.inject(.offeredSeat(of: place.seat.hex))
        let offered = try await mallory.container.shareMetadata(for: try #require(share.url))
        #expect(offered.seat?.id == place.seat)
        await expectRefused(.invalidArguments) { _ = try await mallory.container.accept(offered) }
        #expect(network.sent(to: "share/accept").isEmpty)
        // By hand: what the share-wide secret gives for that seat are not its keys.
        let wide = try ShareURL(place.shareWide).secret.invitationKeys(
            scopeID: roster.scopeID, invitationID: place.seat)
        let own = try ShareURL(place.url).secret.invitationKeys(scopeID: roster.scopeID, invitationID: place.seat)
        var copy = roster
        #expect(throws: Never.self) {
            try copy.append(LinkAttacks.acceptance(of: place.seat, by: bob, on: roster, signedBy: own.signingKey))
        }
        let forged = LinkAttacks.acceptance(of: place.seat, by: bob, on: roster, signedBy: wide.signingKey)
        let (ann, hostile) = try place.ann.behindAttacker()
        hostile.serve([forged])
        await expectRefused(.integrityFailure, by: .invalidSignature) { _ = try await ann.own.share(for: place.zone) }
        // The seat's grant, from the owner's own request, does not open with them either.
        hostile.beHonest()
        try await ann.own.rotateKeys(of: place.zone)
        let append = try Sealkit_V1_AppendRosterRequest(
            serializedBytes: try #require(hostile.sent(to: "rosters/append").last))
        let grant = try #require(try append.grants.first { try $0.grantSubject() == .invitation(place.seat) })
        let epoch = try await ann.view(of: place.zone).roster.currentEpoch
        #expect(throws: Never.self) {
            try Grants<XWingHPKE>.open([UInt8](grant.sealed), epoch: epoch, invitation: own, keys: nil)
        }
        for keys in [nil, bob.identity.keys] {
            expectRefused(.authenticationFailed) {
                _ = try Grants<XWingHPKE>.open([UInt8](grant.sealed), epoch: epoch, invitation: wide, keys: keys)
            }
        }
        network.beHonest()
        _ = try await mallory.join(share)
        #expect(try await place.roster().permission(of: bob.userID) == .readOnly)
    }
}
