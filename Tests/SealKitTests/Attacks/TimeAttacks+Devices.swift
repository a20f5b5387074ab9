import Foundation
import NIOCore
import SealClient
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks on an account's devices: on those that it has, and on one that comes to it.
extension TimeAttacks {
    @Test("A device or session that I did not add shows up as a warning when I next synchronise.")
    func attack12_aDeviceThatIDidNotAdd() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "mine"))
        #expect(try await ann.account.devices().count == 1)
        #expect(try await ann.account.newDevices().isEmpty)
        // Somebody has got hold of the key file: what it opens is theirs to read, and the server lets them in.
        let thief = try ann.device("Ann's phone", trust: try TrustStore())
        let reading = try Container("org.example.notes", account: thief)
        #expect(try await reading.privateDatabase.record(for: note.recordID).encryptedValues["body"] == "mine")
        // Whatever Ann does next, her device hears of it; it stays so until she has said something to it.
        var changes = ann.container.accountChanges.makeAsyncIterator()
        _ = try await ann.own.databaseChanges()
        guard case .newDevice(let device)? = await changes.next() else {
            Issue.record("no warning")
            return
        }
        #expect(device.name == "Ann's phone")
        #expect(device.isNew)
        let (later, network) = try ann.behindAttacker()
        #expect(try await later.account.newDevices() == [device])
        let audit = try await later.container.audit()
        #expect(audit.outcome == .unacknowledged)
        #expect(audit.newDevices == [device])
        // The server can neither make a device up, nor give the thief's another name or date, nor count one twice.
        let lies: [@Sendable (inout Sealkit_V1_DevicesResponse) -> Void] = [
            { $0.devices[1].name = "the television" }, { $0.devices[1].added -= 1 },
            { $0.devices[1].id = Data(repeating: 2, count: 16) },
            { $0.devices[0].signature = $0.devices[1].signature }, { $0.devices.append($0.devices[1]) },
        ]
        network.inject(.inventedDevice)
        await expectRefused(.integrityFailure) { _ = try await later.account.devices() }
        for lie in lies {
            network.beHonest()
            network.rewrite("devices/list", Sealkit_V1_DevicesResponse.self, lie)
            await expectRefused(.integrityFailure) { _ = try await later.account.devices() }
        }
        let violated = try await later.container.audit()
        #expect(violated.newDevices == [device])
        // With a login's answer it is no other: a device that starts anew believes nothing of such a list.
        let (fresh, hers) = try ann.freshBehindAttacker()
        hers.rewrite("accounts/login", Sealkit_V1_SessionResponse.self) {
            $0.devices.devices[1].name = "the television"
        }
        _ = try await fresh.own.allRecordZones()
        await expectRefused(.integrityFailure) { _ = try await fresh.account.newDevices() }
        network.beHonest()
        // She takes it off: it is out at once.
        try await later.account.revokeDevice(device.id)
        await expectRefused(.notAuthenticated) { _ = try await thief.devices() }
        try await later.account.acknowledge([device])
    }

    /// The devices' half of attack 51.
    static func revocationEndsWhatIsUnderWay(_ bob: Person) async throws {
        let zone = try await bob.makeZone()
        try await bob.own.save(DatabaseSubscription(subscriptionID: "mine"))
        var notifications = bob.container.notifications().makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        let lost = try #require(try await bob.account.devices().first { $0.isCurrent })
        let desk = try bob.device("desk", trust: try TrustStore())
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        try pattern(3_000_000).write(to: file)
        let network = try HostileNetwork(bob.server)
        let uploader = try bob.through(network)
        func record(_ name: String) -> Record {
            var record = bob.note(in: zone, "x", name: name)
            record["file"] = Asset(fileURL: file)
            return record
        }
        // Until then both go on: the upload is of the device that is lost.
        try await uploader.own.save(record("before"))
        let isRevoked = LockedValue(false)
        network.duringUpload {
            guard !isRevoked.value else { return }
            isRevoked.change { $0 = true }
            try await desk.revokeDevice(lost.id)
        }
        network.forget()
        let draft = record("after")
        await expectRefused(.notAuthenticated) { try await uploader.own.save(draft) }
        #expect(isRevoked.value)
        #expect(network.sent(to: "records/modify").isEmpty)
        await expectRefused(.notAuthenticated) {
            while let next = try await notifications.next() {
                if case .fired(let fired) = next.content { #expect(fired.zoneID == zone, "what it did itself, before") }
            }
        }
        await expectRefused(.notAuthenticated) { _ = try await bob.own.allRecordZones() }
        let container = try Container("org.example.notes", account: desk)
        let kept = try await container.privateDatabase.records(for: [record("before").recordID, draft.recordID])
        #expect(kept[draft.recordID]?.failureCode == .unknownItem)
        #expect((try kept[record("before").recordID]?.get()) != nil)
    }

    @Test(
        "The server makes an enrolment fail, again and again, for another try at the digits: no device begins or answers one again by itself."
    )
    func attack74_noSecondTryByItself() async throws {
        let ann = try await Person()
        let (old, network) = try ann.behindAttacker()
        let between = try HostileNetwork(ann.server)
        network.inject(.interceptedEnrolment)
        let enrolment = try await EnrolmentInProgress(old.account, server: between)
        _ = try await enrolment.new.comparison()
        await expectRefused(.integrityFailure) { _ = try await enrolment.old.comparison() }
        // Asked again for the same, both say that it is over.
        for _ in 0..<3 {
            await expectRefused(.unknownItem) { _ = try await enrolment.old.comparison() }
            await expectRefused(.unknownItem) { _ = try await enrolment.new.confirm(trust: try TrustStore()) }
        }
        #expect(network.sent(to: "enrol/claim").count == 1)
        #expect(network.sent(to: "enrol/answer").count == 1)
        #expect(between.sent(to: "enrol/open").count == 1)
        #expect(between.sent(to: "enrol/reveal").count == 1)
        #expect(network.sent(to: "enrol/deliver").isEmpty)
    }

    @Test(
        "The server stands between two devices that enrol and grinds keys for a matching short code: the commitment stops it."
    )
    func attack62_grindingTheShortCode() async throws {
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        let loginKey = try seed.loginKey().verificationKey
        let newDevice = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let attacker = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let answer = Digest(random: &random)
        let honest = try newDevice.transcript(answer: answer, loginKey: loginKey)
        // If the attacker might choose its nonce last, it would look for one whose code ends alike: a thousand tries
        // for three digits, a million for all six.
        var ground: Enrolment.Reveal?
        for _ in 0..<200_000 where ground == nil {
            let reveal = Enrolment.Reveal(grantKey: attacker.reveal.grantKey, nonce: Digest(random: &random))
            let late = try Enrolment.Transcript(
                enrolmentID: newDevice.enrolmentID, commitment: reveal.commitment(enrolmentID: newDevice.enrolmentID),
                answer: answer,
                reveal: reveal, loginKey: loginKey)
            if late.code.suffix(2) == honest.code.suffix(2) { ground = reveal }
        }
        let found = try #require(ground, "grinding works where nothing was committed to")
        // But the old device has the commitment since before it answered.
        for reveal in [
            found, attacker.reveal, Enrolment.Reveal(grantKey: found.grantKey, nonce: newDevice.reveal.nonce),
        ] {
            expectRefused(.keyMismatch) {
                _ = try Enrolment.Transcript(
                    enrolmentID: newDevice.enrolmentID, commitment: newDevice.commitment, answer: answer,
                    reveal: reveal, loginKey: loginKey)
            }
        }
        // A commitment of the attacker's own from the start leads to another code than the new device shows.
        let between = try Enrolment.Transcript(
            enrolmentID: newDevice.enrolmentID, commitment: found.commitment(enrolmentID: newDevice.enrolmentID),
            answer: answer, reveal: found,
            loginKey: loginKey)
        expectRefused(.keyMismatch) { _ = try between.confirmed(byScanning: honest.hash) }
        let package = Enrolment.Package(seeds: [seed], heads: [])
        let sealed = try Enrolment.seal(package, to: honest.confirmedByUser(), using: XWingHPKE.self)
        expectRefused(.authenticationFailed) { _ = try attacker.open(sealed, confirmed: between.confirmedByUser()) }
        #expect(try newDevice.open(sealed, confirmed: honest.confirmedByUser()).seeds.count == 1)
        try await Self.standingBetween()
    }

    /// The same through the SDK, whose server is the attacker.
    private static func standingBetween() async throws {
        let ann = try await Person()
        let direct = try HTTPTransport(server: ann.server.origin)
        var random = SystemRandom()
        let attacker = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let (key, nonce) = (Data(attacker.reveal.grantKey), Data(attacker.reveal.nonce.bytes))
        func revealing(_ network: HostileNetwork) {
            network.rewrite("enrol/state", Sealkit_V1_EnrolmentStateResponse.self) { state in
                if !state.nonce.isEmpty { (state.grantKey, state.nonce) = (key, nonce) }
            }
        }
        // Its key in the place of the new device's, once the answer is known: refused, and nothing is handed over.
        let (late, network) = try ann.behindAttacker()
        revealing(network)
        let first = try await EnrolmentInProgress(late.account, server: direct)
        _ = try await first.new.comparison()
        await expectRefused(.integrityFailure) { _ = try await first.old.comparison() }
        await expectRefused(.unknownItem) { try await first.old.confirm() }
        #expect(network.sent(to: "enrol/deliver").isEmpty)
        // Its own from the start: the old device shows something else than the new one.
        let (early, between) = try ann.behindAttacker()
        let second = try await DeviceEnrolment.onItsOwn(direct)
        let id = try EnrolmentInvitation.parse(second.invitation)
        between.rewrite("enrol/claim", Sealkit_V1_ClaimEnrolmentResponse.self) {
            $0.commitment = Data(attacker.reveal.commitment(enrolmentID: id).bytes)
        }
        revealing(between)
        let approval = try await early.account.approveDevice(second.invitation)
        let shown = try await second.comparison()
        #expect(try await approval.comparison().transcript != shown.transcript)
        await expectRefused(.integrityFailure) { try await approval.confirm(scanned: shown.transcript) }
        #expect(between.sent(to: "enrol/deliver").isEmpty)
        // An account of its own, or an answer of its own, for the new device: that shows something else as well.
        let mallory = try await Person()
        let malloryKey = Data(mallory.account.session.publicKey.bytes)
        for lie: @Sendable (inout Sealkit_V1_EnrolmentStateResponse) -> Void in [
            { $0.loginKey = malloryKey }, { $0.answer = Data(repeating: 9, count: 32) },
        ] {
            let hostile = try HostileNetwork(ann.server)
            hostile.rewrite("enrol/state", Sealkit_V1_EnrolmentStateResponse.self) {
                if !$0.answer.isEmpty { lie(&$0) }
            }
            let third = try await EnrolmentInProgress(ann.account, server: hostile)
            let (here, there) = try await third.comparisons()
            #expect(here.transcript != there.transcript)
            await expectRefused(.integrityFailure) {
                _ = try await third.new.confirm(scanned: there.transcript, trust: try TrustStore())
            }
        }
        // What both have confirmed cannot be exchanged for another package, sealed to the right key.
        let hostile = try HostileNetwork(ann.server)
        let last = try await EnrolmentInProgress(ann.account, server: hostile)
        let (here, there) = try await last.comparisons()
        #expect(here == there)
        let reveal = try Sealkit_V1_RevealEnrolmentRequest(
            serializedBytes: try #require(hostile.sent(to: "enrol/reveal").first))
        let forged = try XWingHPKE.seal([UInt8](repeating: 0, count: 64), to: [UInt8](reveal.grantKey), info: [])
        try await last.old.confirm()
        hostile.rewrite("enrol/state", Sealkit_V1_EnrolmentStateResponse.self) { $0.sealed = Data(forged) }
        let trust = try TrustStore()
        await expectRefused(.integrityFailure) { _ = try await last.new.confirm(trust: trust) }
        hostile.beHonest()
        #expect(try await last.new.confirm(trust: trust).seeds.count == 1)
    }

    @Test("A device that another one enrolled is shown rosters from before a removal: it was given the heads.")
    func attack64_anEnrolledDeviceAndOldRosters() async throws {
        let world = try await AttackedZone()
        let before = try await world.ann.keeper(of: world.zone).refresh().roster
        try await AttackedZone.remove(world.bob, from: world.zone, of: world.ann)
        let roster = try await world.view(world.ann).roster
        var random = SystemRandom()
        let head = Enrolment.Head(scopeID: roster.scopeID, sequence: roster.sequence, hash: roster.head)
        let newDevice = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let transcript = try newDevice.transcript(
            answer: Digest(random: &random), loginKey: world.ann.account.seed.loginKey().verificationKey)
        let package = Enrolment.Package(seeds: [world.ann.account.seed], heads: [head])
        let sealed = try Enrolment.seal(package, to: transcript.confirmedByUser(), using: XWingHPKE.self)
        // The server can neither change nor leave out what came along with the seeds.
        for index in [0, 1_119, 1_120, sealed.count - 1] {
            var altered = sealed
            altered[index] ^= 1
            expectRefused(.authenticationFailed) {
                _ = try newDevice.open(altered, confirmed: transcript.confirmedByUser())
            }
        }
        #expect(try newDevice.open(sealed, confirmed: transcript.confirmedByUser()).heads == [head])
        // The older roster is whole and valid in itself: only the head tells.
        #expect(before.members[world.bob.userID] != nil)
        #expect(before.hashes[...] == roster.hashes[..<before.hashes.count])
        #expect(before.nextSequence <= head.sequence)
        let (fresh, network) = try world.ann.freshBehindAttacker()
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) {
            $0.rosters[0].entries = Array($0.rosters[0].entries.prefix(before.hashes.count))
        }
        #expect(
            try await fresh.keeper(of: world.zone).refresh().roster.head == before.head,
            "a device without heads cannot tell")
        // Through the SDK: the device that Ann's enrols refuses it, and takes what there is.
        let hostile = try HostileNetwork(world.ann.server)
        let trust = try TrustStore()
        let account = try await EnrolmentInProgress(world.ann.account, server: hostile).confirm(trust: trust)
        let enrolled = try Container(world.ann.container.containerIdentifier, account: account, trust: trust)
        hostile.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) {
            $0.rosters[0].entries = Array($0.rosters[0].entries.prefix(before.hashes.count))
        }
        await expectRefused(.rollback) { _ = try await enrolled.privateDatabase.record(for: world.note.recordID) }
        #expect(try await enrolled.violations().map(\.code) == [.rollback])
        // The device that this one enrols in its turn gets the head as well.
        let second = try await EnrolmentInProgress(account, server: hostile).confirm(trust: try TrustStore())
        let store = try #require(second.deviceKeeper.trust)
        let heads = try await store.heads()
        #expect(heads.contains(head), "it has the head, though it has not seen the roster")
        hostile.beHonest()
        #expect(
            try await enrolled.privateDatabase.record(for: world.note.recordID).encryptedValues["body"] == "from Ann")
    }
}
