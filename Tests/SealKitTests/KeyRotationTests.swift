import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// New keys for an account, and what follows from them everywhere.
@Suite(.timeLimit(.minutes(60))) struct KeyRotationTests {
    /// Ann owns a zone that Bob writes in, and writes in one of his.
    struct World {
        let (ann, bob): (Person, Person)
        let (anns, bobs): (SharedZone, SharedZone)
        let kept: KeptKeys

        /// - Parameter alone: on a server of its own, which counts nobody else's recoveries.
        init(alone: Bool = false) async throws {
            let server = alone ? try ServerProcess(mail: false) : try ServerProcess.shared.get()
            (ann, bob) = (try await Person(server), try await Person(server))
            anns = try await SharedZone(of: ann, with: [(bob, .readWrite)])
            bobs = try await SharedZone(of: bob, with: [(ann, .readWrite)])
            try await ann.own.save(ann.note(in: anns.zoneID, "before", name: "old"))
            kept = KeptKeys(ann)
        }

        /// A device that has begun a rotation and heard nothing of it, and its network, on which nothing more is lost.
        func rotatedInVain(losing loss: LossyTransport.Loss) async throws -> (device: Person, network: LossyTransport) {
            let network = LossyTransport(
                try HTTPTransport(server: ann.server.origin), losing: "accounts/rotate",
                Array(repeating: loss, count: 1_000))
            let device = try ann.through(network, pacing: FakePacing().pacing)
            #expect(await failure { try await device.rotateKeys(kept) } == .networkFailure)
            network.lose([])
            return (device, network)
        }

        /// What has to hold once a rotation is through, whatever happened on the way.
        func check(_ device: Person) async throws {
            #expect(device.account.seeds.count == 2)
            #expect(device.name == ann.name)
            #expect(!device.account.hasUntoldKeys)
            for (zone, people) in [(anns, [device, bob]), (bobs, [bob, device])] {
                let view = try await zone.view(of: people[1])
                let member = try #require(view.roster.members[device.container.core.userID()])
                #expect(member.identity == device.container.core.identity().chain)
                #expect(member.identity.signed.count == 2)
                #expect(!view.roster.rotationDue)
                #expect(view.roster.currentEpoch.number == 1)
            }
            // Both read what was written before, and write to one another.
            #expect(try await device.body(of: anns.recordID("old", for: device), in: device.own) == "before")
            let saved = try await device.own.save(device.note(in: anns.zoneID, "after", name: "new"))
            #expect(saved.base?.statement.epoch == 1)
            #expect(try await device.body(of: anns.recordID("new", for: bob), in: bob.shared) == "after")
            try await device.shared.save(device.note(in: bobs.id(for: device), "for bob", name: "mine"))
            #expect(try await device.body(of: bobs.recordID("mine", for: bob), in: bob.own) == "for bob")
        }
    }

    @Test func everyRosterFollowsAndEverybodyReadsOn() async throws {
        let world = try await World(alone: true)
        let (ann, bob) = (world.ann, world.bob)
        let contact = try await bob.container.contacts.contact(for: ann.container.userRecordID())
        _ = try await bob.container.contacts.verify(contact)
        let url = try await ann.own.share(for: world.anns.zoneID).url
        let phone = try ann.onFreshDevice()
        _ = try await phone.own.allRecordZones()
        let old = try await ann.account.renewRecoveryKey()

        let progress = Mutex<[Account.KeyRotationProgress]>([])
        try await ann.account.rotateKeys(
            trust: ann.container.core.trust, keep: { seeds async throws(SealKitError) in try world.kept.keep(seeds) },
            show: { key async throws(SealKitError) in world.kept.show(key) },
            progress: { step in progress.withLock { $0.append(step) } })
        #expect(progress.withLock { $0.last?.done == $0.last?.total && $0.count >= 2 })
        try await world.check(ann)

        // The other device is told to enrol again, whatever it asks; the old recovery key finds nothing.
        #expect(await failure { _ = try await phone.own.allRecordZones() } == .keysReplaced)
        #expect(try await phone.account.status() == .temporarilyUnavailable)
        #expect(await failure { _ = try await ann.recovered(with: old) } == .unknownItem)
        // The new one brings everything back on a device that has nothing.
        let recovered = try await ann.recovered(with: try #require(world.kept.shown.last))
        #expect(recovered.name == ann.name)
        #expect(try await recovered.body(of: world.anns.recordID("old", for: ann), in: recovered.own) == "before")
        // The share's URL is the same, opened by the new storage key alone.
        let share = try await recovered.own.share(for: world.anns.zoneID)
        #expect(share.url == url)
        #expect(url != nil)
        let core = ann.container.core
        let links = try await ShareLinks.stored(ann.own, view: try await world.anns.view(of: ann))
        let link = try #require(links.links.first)
        let context = try core.scope(of: world.anns.zoneID).id.bytes + [UInt8](link.routingID)
        let seeds = ann.account.seeds
        let opened = seeds.map { seed in
            let key = seed.storageKey()
            return
                (try? StorageBox.open(
                    [UInt8](link.keptSecret), purpose: ShareLinks.purpose, context: context, under: key)) != nil
        }
        #expect(opened == [false, true])
        // Bob is told to compare again.
        let now = try await bob.container.contacts.contact(for: ann.container.userRecordID())
        #expect(now.generation == 1)
        #expect(!now.isVerified)
        #expect(now.keysChanged != nil)
        #expect(now.conflict == nil)
        let audit = try await ann.container.audit()
        #expect(audit.failures.isEmpty)
        #expect(audit.scopes.allSatisfy { $0.badGrants.isEmpty && $0.uncovered.isEmpty })
    }

    /// Killed while it goes from zone to zone, at each request: started again, it ends in the same state.
    @Test(arguments: [1, 2, 3]) func cutOffBetweenRosters(_ round: Int) async throws {
        let world = try await World()
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "rosters/append",
            Array(repeating: .answer, count: 3 * round - 3) + Array(repeating: .request, count: 12))
        let device = try world.ann.through(network)
        #expect(await failure { try await device.rotateKeys(world.kept) } != nil)
        #expect(world.kept.seeds.count == 2)
        let again = try device.restarted(world.kept)
        try await again.finishKeyRotation()
        try await world.check(again)
        #expect(world.kept.shown.count == 1)
        // Once finished, nothing is asked any more.
        let watched = LossyTransport(try HTTPTransport(server: world.ann.server.origin), losing: "/", [])
        try await again.restarted(world.kept, transport: watched).finishKeyRotation()
        #expect(watched.calls.isEmpty)
    }

    /// One roster's refusal is told once everything else was done, and is not taken for done.
    @Test func aRosterThatIsNotToldIsToldNextTime() async throws {
        let world = try await World()
        let refusal = LossyTransport.Loss.refusal(SealKitError(.permissionFailure, "the test's server says so"))
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "rosters/append", [refusal])
        let device = try world.ann.through(network)
        #expect(await failure { try await device.rotateKeys(world.kept) } == .permissionFailure)
        #expect(world.kept.seeds.count == 2)
        #expect(!device.account.hasUntoldKeys)
        var told: [Int?] = []
        for zone in [world.anns, world.bobs] {
            told.append(
                try await zone.view(of: world.bob).roster.members[world.ann.container.core.userID()]?.identity.signed
                    .count)
        }
        #expect(told.contains(1))
        #expect(told.contains(2))
        let calls = network.calls.count
        try await device.finishKeyRotation()
        #expect(network.calls.count > calls)
        try await world.check(device)
    }

    /// The device never finishes: what it writes next does it, for that zone.
    @Test func theNextWriterStatesTheKeysFirst() async throws {
        let world = try await World()
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "rosters/append",
            Array(repeating: .request, count: 20))
        #expect(await failure { try await world.ann.through(network).rotateKeys(world.kept) } != nil)
        let again = try world.ann.restarted(world.kept)
        // Reading needs no new keys in the roster.
        #expect(try await again.body(of: world.anns.recordID("old", for: again), in: again.own) == "before")
        let view = try await world.anns.view(of: again)
        #expect(view.roster.members[view.user]?.identity.signed.count == 1)
        try await again.own.save(again.note(in: world.anns.zoneID, "next"))
        try await again.shared.save(again.note(in: world.bobs.id(for: again), "next"))
        try await world.check(again)
    }

    /// What an owner's devices take back by themselves does not wait for that.
    @Test func whatIsOverIsTakenBackBeforeTheKeysAreStated() async throws {
        let world = try await World()
        _ = try await world.ann.edit(world.anns.zoneID) { share in
            var once = Share.Participant.oneTimeURLParticipant()
            once.expirationDate = Date(timeIntervalSinceNow: 86_400)
            share.addParticipant(once)
        }
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "rosters/append",
            Array(repeating: .request, count: 20))
        #expect(await failure { try await world.ann.through(network).rotateKeys(world.kept) } != nil)
        let again = try world.ann.restarted(world.kept)
        _ = try await again.own.recordZoneChanges(inZoneWith: world.anns.zoneID)
        #expect(try await world.anns.view(of: world.bob).roster.invitations.count == 1)
        _ = try await WallClock.$offset.withValue(2 * 86_400_000_000) {
            try await again.own.maintain(world.anns.zoneID)
        }
        let roster = try await world.anns.view(of: world.bob).roster
        #expect(roster.invitations.isEmpty)
        #expect(roster.members[again.container.core.userID()]?.identity.signed.count == 1)
    }

    // MARK: Before the server has heard of it

    @Test func whatCannotBeKeptIsNotTold() async throws {
        let world = try await World()
        world.kept.fail(with: SealKitError(.storageFull, "the test's disk is full"))
        #expect(await failure { try await world.ann.rotateKeys(world.kept) } == .storageFull)
        #expect(world.ann.account.seeds.count == 1)
        #expect(world.kept.shown.isEmpty)
        try await world.ann.own.save(world.ann.note(in: world.anns.zoneID, "as before"))
        world.kept.fail(with: nil)
        try await world.ann.rotateKeys(world.kept)
        try await world.check(world.ann)
        // The server was told of the very seed that was kept: the account starts from what its device has.
        #expect(world.kept.seeds.count == 2)
        let again = try world.ann.restarted(world.kept)
        #expect(try await again.body(of: world.anns.recordID("new", for: again), in: again.own) == "after")
    }

    @Test func aRecoveryKeyThatWasNotShownChangesNothing() async throws {
        let world = try await World(alone: true)
        let old = try await world.ann.account.renewRecoveryKey()
        let shown = await failure {
            try await world.ann.rotateKeys(world.kept) { _ async throws(SealKitError) in
                throw SealKitError(.operationCancelled, "the user did not write it down")
            }
        }
        #expect(shown == .operationCancelled)
        #expect(!world.ann.account.hasUntoldKeys)
        #expect(world.kept.seeds.count == 1)
        try await world.ann.own.save(world.ann.note(in: world.anns.zoneID, "as before"))
        #expect(try await world.ann.restarted(world.kept).account.isGood(old))
        try await world.ann.rotateKeys(world.kept)
        try await world.check(world.ann)
    }

    /// The request is lost, or its answer, for good: the device starts again without knowing which.
    @Test(arguments: [LossyTransport.Loss.request, .answer])
    func theServersAnswerIsLost(_ loss: LossyTransport.Loss) async throws {
        let world = try await World(alone: true)
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "accounts/rotate",
            Array(repeating: loss, count: 1_000))
        #expect(
            await failure { try await world.ann.through(network, pacing: FakePacing().pacing).rotateKeys(world.kept) }
                == .networkFailure)
        let again = try world.ann.restarted(world.kept)
        let seed = world.kept.seeds[1].bytes.copyBytes()
        if case .request = loss {
            // It never falls back to keys that it was about to replace: whoever denies the newest ones could bring that
            // about.
            #expect(await failure { try await again.finishKeyRotation() } == .notAuthenticated)
            #expect(await failure { _ = try await again.own.allRecordZones() } == .notAuthenticated)
            #expect(again.account.hasUntoldKeys)
            #expect(again.account.seeds.count == 2)
            try await again.rotateKeys(world.kept)
        } else {
            try await again.finishKeyRotation()
        }
        #expect(world.kept.seeds.count == 2 && world.kept.seeds[1].bytes.copyBytes() == seed)
        try await world.check(again)
        // The recovery key that was shown last is the one that counts.
        #expect(try await again.account.isGood(try #require(world.kept.shown.last)))
    }

    /// In the process that made the rotation, too, whatever the answer would have been.
    @Test(arguments: [LossyTransport.Loss.request, .answer])
    func theProcessGoesOnAfterALostAnswer(_ loss: LossyTransport.Loss) async throws {
        let world = try await World()
        let (device, _) = try await world.rotatedInVain(losing: loss)
        try await device.own.save(device.note(in: world.anns.zoneID, "meanwhile"))
        let isTold = if case .answer = loss { true } else { false }
        #expect(device.account.seeds.count == (isTold ? 2 : 1))
        if isTold { try await device.finishKeyRotation() } else { try await device.rotateKeys(world.kept) }
        #expect(world.kept.seeds.count == 2)
        try await world.check(device)
    }

    /// Only a login tells that the server has taken the new keys: what brings the account back has all of them.
    @Test func aRecoveryKeyOfAfterALostAnswerBringsAllKeysBack() async throws {
        let world = try await World(alone: true)
        let (device, _) = try await world.rotatedInVain(losing: .answer)
        let phone = try await world.ann.recovered(with: try await device.account.renewRecoveryKey())
        #expect(phone.account.seeds.count == 2)
        #expect(try await phone.body(of: world.anns.recordID("old", for: phone), in: phone.own) == "before")
    }

    /// The same of what an enrolment hands over: neither device takes it for an attack.
    @Test func anEnrolmentAfterALostAnswerHandsAllKeysOver() async throws {
        let world = try await World(alone: true)
        let (device, network) = try await world.rotatedInVain(losing: .answer)
        let enrolment = try await EnrolmentInProgress(device.account, server: network)
        let new = try await enrolment.confirm(trust: try TrustStore())
        #expect(new.seeds.count == 2)
    }

    /// What the devices have compared belongs to the keys of then.
    @Test func anEnrolmentEndsWhereTheKeysAreReplacedMeanwhile() async throws {
        let world = try await World(alone: true)
        let server = try HTTPTransport(server: world.ann.server.origin)
        let enrolment = try await EnrolmentInProgress(world.ann.account, server: server)
        _ = try await enrolment.comparisons()
        try await world.ann.rotateKeys(world.kept)
        #expect(await failure { try await enrolment.old.confirm() } == .constraintViolation)
    }

    /// Restored from a backup, the server has forgotten the newest keys. The account does not go back to those before.
    @Test func aServerThatDeniesTheNewestKeysBringsNobodyBackToFormerOnes() async throws {
        let world = try await World()
        try await world.ann.rotateKeys(world.kept)
        let newest = try world.kept.seeds[1].loginKey().verificationKey.bytes
        let denying = DenyingTransport(try HTTPTransport(server: world.ann.server.origin), key: Data(newest))
        let device = try world.ann.restarted(world.kept, transport: denying)
        #expect(
            await failure { try await device.own.save(device.note(in: world.anns.zoneID, "x")) } == .notAuthenticated)
        #expect(device.account.seeds.count == 2)
        #expect(device.account.hasUntoldKeys)
        #expect(denying.logins.withLock { $0 } == [Data(newest)])
        // Asked by its user it would tell the server of the very same keys again; here the server has others put in
        // their place.
        #expect(await failure { try await device.rotateKeys(world.kept) } == .keysReplaced)
        #expect(world.kept.seeds.count == 2)
        denying.isDenying.withLock { $0 = false }
        try await device.own.save(device.note(in: world.anns.zoneID, "as before"))
    }

    // MARK: Two at once

    @Test func ofTwoDevicesAtOnceOneWinsAndTheOtherLosesNothing() async throws {
        let world = try await World(alone: true)
        let other = try world.ann.onFreshDevice()
        _ = try await other.own.allRecordZones()
        let others = KeptKeys(other)
        async let first = failure { try await world.ann.rotateKeys(world.kept) }
        async let second = failure { try await other.rotateKeys(others) }
        let codes = await [first, second]
        #expect(Set(codes) == [nil, .keysReplaced])
        let (winner, kept, loser, lost) =
            codes[0] == nil ? (world.ann, world.kept, other, others) : (other, others, world.ann, world.kept)
        // The loser keeps what it had, without the seed that came to nothing.
        #expect(lost.seeds.count == 1)
        #expect(kept.seeds.count == 2)
        #expect(await failure { _ = try await loser.own.allRecordZones() } == .keysReplaced)
        try await winner.finishKeyRotation()
        try await world.check(winner)
        // Enrolled again, by the winner's recovery key, it is a device as before.
        let again = try await loser.recovered(with: try #require(kept.shown.last))
        #expect(try await again.body(of: world.anns.recordID("new", for: again), in: again.own) == "after")
    }

    @Test func oneAccountRotatesOnceAtATime() async throws {
        let world = try await World()
        let inner = Mutex<SealKitError.Code?>(nil)
        try await world.ann.rotateKeys(world.kept) { _ async throws(SealKitError) in
            let code = await failure { try await world.ann.rotateKeys(world.kept) }
            inner.withLock { $0 = code }
        }
        #expect(inner.withLock { $0 } == .constraintViolation)
        try await world.check(world.ann)
        // And again, and again.
        for count in 3...4 {
            try await world.ann.rotateKeys(world.kept)
            #expect(world.ann.account.seeds.count == count)
            try await world.ann.own.save(world.ann.note(in: world.anns.zoneID, "generation \(count)"))
        }
        #expect(world.ann.container.core.identity().chain.signed.count == 4)
    }
}
