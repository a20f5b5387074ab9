import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// How shares begin, change their looks, and end.
@Suite(.timeLimit(.minutes(60))) struct ShareLifeTests {
    /// Semantics 47: only the share goes; the owner's records stay.
    @Test func whoDeletesTheShareInTheSharedDatabaseLeaves() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readOnly), (carol, .readWrite)])
        let joined = try await bob.join(share.url)
        let carols = try await carol.join(share.url)
        let token = try await bob.shared.databaseChanges().changeToken
        try await bob.shared.deleteRecord(withID: try await bob.share(of: joined).recordID)
        #expect(try await bob.shared.allRecordZones().isEmpty)
        #expect(try await bob.shared.databaseChanges(since: token).deletions.map(\.reason) == [.unshared])
        #expect(
            await failure {
                try await bob.shared.deleteRecord(withID: Record.ID(recordName: Share.recordName, zoneID: joined))
            } == .zoneNotFound)
        #expect(try await ann.own.record(for: note.recordID).encryptedValues["body"] == "from the owner")
        #expect(try await ann.share(of: zone).participants.count == 2)
        let saved = try await carol.shared.save(carol.note(in: carols, "under a new key"))
        #expect(saved.base?.statement.epoch == 1)
        // Invited again, it comes back.
        let invitee = try await ann.participant(bob, .readWrite)
        try await ann.edit(zone) { $0.addParticipant(invitee) }
        try await bob.join(share.url)
    }

    /// The share moves on between looking at it and accepting it: it is looked at again, not refused.
    @Test func aShareThatMovedOnSinceItWasLookedAtIsAccepted() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let metadata = try await bob.container.shareMetadata(for: try #require(share.url))
        try await ann.edit(zone) { $0.addParticipant(.oneTimeURLParticipant()) }
        try await ann.own.rotateKeys(of: zone)
        let joined = try await bob.container.accept(metadata)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(try await bob.shared.record(for: id).encryptedValues["body"] == "from the owner")
        #expect(try await ann.share(of: zone).participant(bob)?.acceptanceStatus == .accepted)
    }

    /// So it is where the invitation itself was replaced by another one behind the same URL.
    @Test func anInvitationThatWasRenewedSinceItWasLookedAtIsAccepted() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let metadata = try await bob.container.shareMetadata(for: try #require(share.url))
        try await ann.edit(zone) { share in
            for index in share.participants.indices where share.participants[index].role != .owner {
                share.participants[index].permission = .readOnly
            }
        }
        let joined = try await bob.container.accept(metadata)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(try await bob.shared.record(for: id).encryptedValues["body"] == "from the owner")
        #expect(try await ann.share(of: zone).participant(bob)?.permission == .readOnly)
    }

    /// The owner's view of the share is older than the acceptance.
    @Test func whatAPlaceholderLosesIsLostByWhoHasAcceptedMeanwhile() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        let single = Share.Participant.oneTimeURLParticipant(permission: .readWrite)
        var share = try await ann.edit(zone) { $0.addParticipant(single) }
        try await bob.join(share.oneTimeURL(for: single.participantID))
        for index in share.participants.indices where share.participants[index].participantID == single.participantID {
            share.participants[index].permission = .readOnly
        }
        try await ann.own.save(share)
        #expect(try await ann.share(of: zone).participant(bob)?.permission == .readOnly)
    }

    /// What two devices change of a share goes together: what one has not changed it does not put back.
    @Test func aDevicePutsNothingBackThatItHasNotChanged() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readOnly)])
        let joined = try await bob.join(share.url)
        var seen = try await ann.share(of: zone)
        try await ann.onFreshDevice().edit(zone) { share in
            var participant = try #require(share.participant(bob))
            participant.permission = .readWrite
            share.addParticipant(participant)
        }
        seen.title = "Vegetables"
        let saved = try await ann.own.save(seen)
        #expect(saved.title == "Vegetables")
        #expect(saved.participant(bob)?.permission == .readWrite)
        try await bob.shared.save(bob.note(in: joined, "written by right"))
    }

    /// Carol leaves, so that a new key is due. The owner opens it, and deletes the zone then; bob's device has heard of
    /// the first alone.
    @Test func aZoneThatWentAfterItsKeyWasRenewedIsNotThere() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readWrite)])
        try await carol.shared.leaveShare(of: zone.id(for: carol))
        try await zone.view(of: bob)
        try await ann.own.save(ann.note(in: zone.zoneID, "under a new key"))
        try await ann.own.deleteRecordZone(withID: zone.zoneID)
        #expect(await failure { try await bob.shared.save(bob.note(in: zone.id(for: bob), "late")) } == .zoneNotFound)
    }

    /// Bob leaves, and is invited to the zone's next life. His other device has heard of the first alone: it learns the
    /// rest in the middle of a save, and what it has a copy of is gone.
    @Test func aCopyOfAnEarlierLifeOfASharedZoneIsGone() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(share.url)
        let other = try bob.onFreshDevice()
        var copy = try await other.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        try await bob.shared.leaveShare(of: joined)
        #expect(await failure { _ = try await other.shared.record(for: copy.recordID) } == .zoneNotFound)
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneName: zone.zoneName))
        var again = Share(recordZoneID: zone)
        again.addParticipant(try await ann.participant(bob, .readWrite))
        try await bob.join(try await ann.own.save(again).url)
        copy.encryptedValues["body"] = "late"
        #expect(await failure { try await other.shared.save(copy) } == .unknownItem)
        #expect(try await other.container.violations().isEmpty)
    }

    /// Semantics 46: the records stay, and sharing again works, with the same URL.
    @Test func whenTheOwnerDeletesTheShareEverybodyIsOut() async throws {
        let (ann, bob, carol, dave) = (try await Person(), try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite), (carol, .readOnly)])
        let joined = try await bob.join(share.url)
        let single = Share.Participant.oneTimeURLParticipant()
        let before = try await ann.edit(zone) { share in
            share.addParticipant(single)
            share.allowsAccessRequests = true
        }
        try await dave.container.requestShareAccess(try #require(share.url), contact: "Dave")
        let epoch = try await ann.epoch(of: zone)
        try await ann.own.deleteRecord(withID: share.recordID)
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        #expect(await failure { _ = try await ann.share(of: zone) } == .unknownItem)
        #expect(try await ann.own.recordZone(for: zone).isShared == false)
        #expect(try await bob.shared.allRecordZones().isEmpty)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(await failure { _ = try await bob.shared.record(for: id) } == .zoneNotFound)
        #expect(await failure { try await carol.join(share.url) } == .unknownItem)
        #expect(await failure { try await dave.join(before.oneTimeURL(for: single.participantID)) } == .unknownItem)
        let url = try #require(share.url)
        #expect(await failure { try await dave.container.requestShareAccess(url, contact: "Dave") } == .unknownItem)
        #expect(try await ann.own.record(for: note.recordID).encryptedValues["body"] == "from the owner")
        // Deleting it again changes nothing.
        try await ann.own.deleteRecord(withID: share.recordID)
        #expect(try await ann.epoch(of: zone) == epoch + 1)

        var again = Share(recordZoneID: zone)
        again.title = "Shared again"
        again.addParticipant(try await ann.participant(bob))
        let saved = try await ann.own.save(again)
        #expect(saved.url == share.url)
        #expect(saved.participants.count == 2)
        #expect(saved.requesters.isEmpty)
        #expect(!saved.allowsAccessRequests)
        #expect(try await bob.container.shareMetadata(for: url).title == "Shared again")
        let back = try await bob.join(saved.url)
        #expect(
            try await bob.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: back))
                .encryptedValues["body"] == "from the owner")
    }

    /// What was done is told, though the rest of the call fails as a whole.
    @Test func aShareThatWasLeftIsToldBesideWhatFailed() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (_, _, share) = try await ann.share(with: [(bob, .readWrite)])
        let (_, _, closed) = try await carol.share(with: [(bob, .readWrite)])
        let (left, other) = (try await bob.join(share.url), try await bob.join(closed.url))
        let device = try bob.onFreshDevice(transport: try ClosedZone(other, HTTPTransport(server: bob.server.origin)))
        let (note, ended) = (bob.note(in: other, "body"), Record.ID(recordName: Share.recordName, zoneID: left))
        let results = try await device.shared.modifyRecords(saving: [note], deleting: [ended])
        try results.deleteResults[ended]?.get()
        #expect(results.deleteResults.count == 1)
        #expect(results.saveResults[note.recordID]?.failureCode == .incompatibleVersion)
    }

    /// A server that takes nothing more in one zone from a version like this.
    private final class ClosedZone: PassingTransport {
        let next: any Transport
        private let zone: RecordZone.ID

        init(_ zone: RecordZone.ID, _ next: HTTPTransport) { (self.zone, self.next) = (zone, next) }

        func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
            if path.hasSuffix("records/modify"),
                let request = try? Sealkit_V1_ModifyRecordsRequest(serializedBytes: body),
                request.zone.ownerName == zone.ownerName
            {
                throw SealKitError(.incompatibleVersion, "this version is too old")
            }
            return try await next.post(path, body: body, token: token)
        }
    }

    @Test func stoppingPutsThePublicOutAsWell() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        let open = try await ann.edit(zone) { $0.publicPermission = .readWrite }
        try await bob.join(open.url)
        let results = try await ann.own.modifyRecords(deleting: [open.recordID])
        #expect(results.deleteResults[open.recordID]?.failureCode == nil)
        #expect(try await bob.shared.allRecordZones().isEmpty)
        #expect(await failure { try await bob.join(open.url) } == .unknownItem)
    }

    @Test func aNewTitleIsShownByTheURLsThatWereSent() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readOnly)], title: "Old title")
        let single = Share.Participant.oneTimeURLParticipant()
        let saved = try await ann.edit(zone) { $0.addParticipant(single) }
        let url = try #require(share.url)
        let oneTime = try #require(saved.oneTimeURL(for: single.participantID))
        let first = try await bob.container.shareMetadata(for: url)
        #expect(first.title == "Old title")
        #expect(first.thumbnailImageData == nil)
        let renamed = try await ann.edit(zone) { share in
            share.title = "New title"
            share.shareType = "org.example.plan"
            share.thumbnailImageData = Data([1, 2, 3])
        }
        #expect(renamed.url == url)
        for (person, url) in [(bob, url), (carol, oneTime)] {
            let metadata = try await person.container.shareMetadata(for: url)
            #expect(metadata.title == "New title")
            #expect(metadata.shareType == "org.example.plan")
            #expect(metadata.thumbnailImageData == Data([1, 2, 3]))
            #expect(metadata.containerIdentifier == "org.example.notes")
        }
        let joined = try await bob.join(url)
        let seen = try await bob.share(of: joined)
        #expect(seen.title == "New title")
        #expect(seen.thumbnailImageData == Data([1, 2, 3]))
    }

    @Test func zonesOfSeveralOwnersMayHaveOneName() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        for owner in [ann, bob] {
            let zone = try await owner.makeZone("Notes")
            try await owner.own.save(owner.note(in: zone, "of \(owner.name)", name: "same"))
            var share = Share(recordZoneID: zone)
            share.addParticipant(try await owner.participant(carol, .readWrite))
            share = try await owner.own.save(share)
            let metadata = try await carol.container.shareMetadata(for: try #require(share.url))
            #expect(metadata.zoneID == RecordZone.ID(zoneName: "Notes", ownerName: owner.name))
            try await carol.container.accept(metadata)
        }
        _ = try await carol.makeZone("Notes")
        #expect(Set(try await carol.shared.allRecordZones().map(\.zoneID.ownerName)) == [ann.name, bob.name])
        for owner in [ann, bob] {
            let id = Record.ID(recordName: "same", zoneID: RecordZone.ID(zoneName: "Notes", ownerName: owner.name))
            var note = try await carol.shared.record(for: id)
            #expect(note.encryptedValues["body"] == "of \(owner.name)")
            note.encryptedValues["body"] = "Carol was here, \(owner.name)"
            try await carol.shared.save(note)
            let seen = try await owner.own.record(
                for: Record.ID(recordName: "same", zoneID: RecordZone.ID(zoneName: "Notes")))
            #expect(seen.encryptedValues["body"] == "Carol was here, \(owner.name)")
        }
    }
}
