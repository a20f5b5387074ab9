import Foundation
import SealClient
import SealKitTesting
import SealStatements
import Testing

@testable import SealKit

/// Invitations whose time is over, by a clock that the test moves.
@Suite(.timeLimit(.minutes(60))) struct ExpiryTests {
    private static let day: Int64 = 86_400_000_000

    /// Invitations of two lengths into a zone: one to a person, for a day, and a one-time URL for a week.
    private func invited(_ ann: Person, _ bob: Person) async throws -> (
        zone: RecordZone.ID, share: Share, lasting: Share.Participant
    ) {
        let (zone, _, _) = try await ann.share()
        var short = try await ann.participant(bob)
        short.expirationDate = Date(timeIntervalSinceNow: 86_400)
        var long = Share.Participant.oneTimeURLParticipant()
        long.expirationDate = Date(timeIntervalSinceNow: 7 * 86_400)
        let (expiring, lasting) = (short, long)
        let share = try await ann.edit(zone) { share in
            share.addParticipant(expiring)
            share.addParticipant(lasting)
        }
        return (zone, share, lasting)
    }

    /// What another device reads in the roster, by its own clock.
    private func open(_ person: Person, _ zone: RecordZone.ID, share: String? = nil) async throws -> Int {
        let core = try person.onFreshDevice().container.core
        let scope = try core.scope(of: zone)
        return try await core.keeper(of: share.map { scope.ofShare($0) } ?? scope).refresh().roster.invitations.count
    }

    @Test func savingTheShareTakesBackWhatIsOver() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, share, lasting) = try await invited(ann, bob)
        #expect(share.participants.count == 3)
        #expect(try await ann.share(of: zone).participants.count == 3)
        let epoch = try await ann.epoch(of: zone)
        // Fetching it does not.
        _ = try await WallClock.$offset.withValue(2 * Self.day) { try await ann.share(of: zone) }
        #expect(try await open(ann, zone) == 2)
        let after = try await WallClock.$offset.withValue(2 * Self.day) { try await ann.edit(zone) { _ in } }
        #expect(after.participants.map(\.participantID) == [ann.name, lasting.participantID])
        #expect(try await open(ann, zone) == 1)
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        #expect(await failure { try await bob.join(share.url) } == .unknownItem)
        let date = try #require(after.participants.last?.expirationDate)
        #expect(abs(date.timeIntervalSince(try #require(lasting.expirationDate))) < 0.001)
        // Nothing is left to do: no further key is opened.
        _ = try await WallClock.$offset.withValue(2 * Self.day) { try await ann.edit(zone) { _ in } }
        #expect(try await ann.epoch(of: zone) == epoch + 1)
    }

    /// The usual course: it is over, and is to be sent again.
    @Test func whatIsOverBeginsAgain() async throws {
        let changes: [(inout Share, Share.Participant) -> Void] = [
            { share, invitee in share.addParticipant(invitee) },
            { share, _ in
                share.title = "Vegetables"
                for var participant in share.participants where participant.expirationDate != nil {
                    participant.expirationDate = Date(timeIntervalSinceNow: 9 * 86_400)
                    share.addParticipant(participant)
                }
            },
            { share, invitee in
                share = Share(recordZoneID: share.zoneID)
                share.addParticipant(invitee)
            },
        ]
        for change in changes {
            let (ann, bob) = (try await Person(), try await Person())
            let (zone, share, _) = try await invited(ann, bob)
            let invitee = try await ann.participant(bob)
            let after = try await WallClock.$offset.withValue(2 * Self.day) {
                try await ann.edit(zone) { change(&$0, invitee) }
            }
            #expect(after.participants.count == 3)
            #expect(after.participant(bob)?.acceptanceStatus == .pending)
            try await bob.join(share.url)
        }
    }

    @Test func nobodyIsInvitedUntilADateThatIsOver() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await invited(ann, bob)
        var late = Share.Participant.oneTimeURLParticipant()
        late.expirationDate = Date(timeIntervalSinceNow: 86_400)
        let invitee = late
        let invites = await WallClock.$offset.withValue(2 * Self.day) {
            await failure { try await ann.edit(zone) { $0.addParticipant(invitee) } }
        }
        #expect(invites == .invalidArguments)
        // Nor is one that is over given another permission.
        let raises = await WallClock.$offset.withValue(2 * Self.day) {
            await failure {
                try await ann.edit(zone) { share in
                    var participant = try #require(share.participant(bob))
                    participant.permission = .readWrite
                    share.addParticipant(participant)
                }
            }
        }
        #expect(raises == .invalidArguments)
    }

    @Test func savingARecordTakesBackWhatIsOver() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await invited(ann, bob)
        let token = try await ann.own.recordZoneChanges(inZoneWith: zone).changeToken
        _ = try await WallClock.$offset.withValue(8 * Self.day) {
            try await ann.own.recordZoneChanges(inZoneWith: zone, since: token)
        }
        #expect(try await open(ann, zone) == 2, "reading takes nothing back")
        _ = try await WallClock.$offset.withValue(8 * Self.day) { try await ann.own.save(ann.note(in: zone, "note")) }
        #expect(try await open(ann, zone) == 0)
    }

    @Test func ofHierarchiesToo() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var new = Share(rootRecord: list)
        var once = Share.Participant.oneTimeURLParticipant()
        once.expirationDate = Date(timeIntervalSinceNow: 86_400)
        new.addParticipant(once)
        let share = try await ann.own.save(new, rootRecord: list).share
        let name = share.recordID.recordName
        #expect(try await open(ann, zone, share: name) == 1)
        // On a device that knows nothing of the share.
        let device = try ann.onFreshDevice()
        _ = try await device.own.allRecordZones()
        let maintenance = try await WallClock.$offset.withValue(2 * Self.day) { try await device.own.maintain(zone) }
        #expect(maintenance.outcomes.map(\.work) == [.revokingExpired])
        #expect(maintenance.outcomes.map(\.shareRecordName) == [name])
        #expect(maintenance.outcomes.map(\.count) == [1])
        #expect(try await open(ann, zone, share: name) == 0)
    }

    /// A server that hides the record of a share keeps nobody from taking invitations back, there or elsewhere.
    @Test func hiddenShareRecordsHoldBackNothing() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var shares: [Record.ID] = []
        for name in ["one", "two"] {
            let root = try await ann.own.save(ann.note(in: zone, name, name: name))
            var new = Share(rootRecord: root)
            var once = Share.Participant.oneTimeURLParticipant()
            once.expirationDate = Date(timeIntervalSinceNow: 86_400)
            new.addParticipant(once)
            new.addParticipant(.oneTimeURLParticipant())
            shares.append(try await ann.own.save(new, rootRecord: root).share.recordID)
        }
        let (device, network) = try ann.behindAttacker()
        for share in shares {
            _ = try await device.own.share(withID: share)
            network.inject(.deniedRecord(share))
        }
        let maintenance = try await WallClock.$offset.withValue(2 * Self.day) { try await device.own.maintain(zone) }
        let hidden = maintenance.outcomes.filter { $0.error?.code == .rollback }
        #expect(hidden.map(\.work) == [.renewingPreviews, .renewingPreviews])
        #expect(Set(hidden.map(\.shareRecordName)) == Set(shares.map(\.recordName)))
        #expect(maintenance.outcomes.filter { $0.work == .revokingExpired }.map(\.count) == [1, 1])
        for share in shares { #expect(try await open(ann, zone, share: share.recordName) == 1) }
    }

    @Test func administratorsTakeThemBackAndOthersDoNot() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, first) = try await ann.share(with: [(bob, .readWrite), (carol, .readWrite)])
        let joined = try await bob.join(first.url)
        _ = try await carol.join(first.url)
        try await ann.promote(bob, in: zone)
        _ = try await ann.edit(zone) { share in
            var once = Share.Participant.oneTimeURLParticipant()
            once.expirationDate = Date(timeIntervalSinceNow: 86_400)
            share.addParticipant(once)
        }
        _ = try await WallClock.$offset.withValue(2 * Self.day) {
            try await carol.shared.maintain(joined)
        }
        #expect(try await open(ann, zone) == 1)
        _ = try await WallClock.$offset.withValue(2 * Self.day) {
            try await bob.shared.maintain(joined)
        }
        #expect(try await open(ann, zone) == 0)
    }

    /// Two devices come across it at once: one revocation, no error for anybody.
    @Test func twoDevicesAtOnceAgree() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await invited(ann, bob)
        let other = try ann.onFreshDevice()
        #expect(try await other.share(of: zone).participants.count == 3)
        let epoch = try await ann.epoch(of: zone)
        let (one, two) = try await WallClock.$offset.withValue(2 * Self.day) {
            async let one = ann.own.maintain(zone)
            async let two = other.own.maintain(zone)
            return (try await one, try await two)
        }
        #expect(one.isComplete)
        #expect(two.isComplete)
        #expect((one.outcomes + two.outcomes).map(\.count) == [1])
        #expect(try await ann.share(of: zone).participants.count == 2)
        #expect(try await ann.epoch(of: zone) == epoch + 1)
    }
}
