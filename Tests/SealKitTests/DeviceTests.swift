import Foundation
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealWire
import Synchronization
import Testing

@testable import SealKit

/// An account's devices as its devices see them.
@Suite(.timeLimit(.minutes(60))) struct DeviceTests {
    private let server: ServerProcess

    init() throws { server = try ServerProcess.shared.get() }

    @Test func aDeviceIsTheSameInEveryProcessAndNamedByAny() async throws {
        let ann = try await Person(server)
        let trust = try TrustStore()
        let desk = try ann.device("desk", trust: trust)
        #expect(try await desk.devices().map(\.name) == ["test", "desk"])
        // Another process of it, which calls itself otherwise.
        let process = try ann.device("desk too", trust: trust)
        let listed = try await process.devices()
        #expect(listed.map(\.name) == ["test", "desk"])
        #expect(listed.map(\.isCurrent) == [false, true])
        let renamed = try await ann.account.renameDevice(listed[1].id, to: "Ann's desk")
        #expect(renamed.map(\.name) == ["test", "Ann's desk"])
        #expect(renamed.map(\.isCurrent) == [true, false])
        #expect(abs(renamed[1].added.timeIntervalSinceNow) < 600 && abs(renamed[1].lastSeen.timeIntervalSinceNow) < 600)
        // It hears of its name, and logs in by it from then on.
        _ = try await desk.devices()
        #expect(try await desk.deviceKeeper.identity().name == "Ann's desk")
        #expect(await failure { try await ann.account.renameDevice("0123", to: "x") } == .invalidArguments)
        let nobody = String(repeating: "0", count: 32)
        #expect(await failure { try await ann.account.renameDevice(nobody, to: "x") } == .unknownItem)
        #expect(await failure { try await ann.account.revokeDevice(nobody) } == .unknownItem)
        #expect(await failure { try await ann.account.renameDevice(listed[1].id, to: "a\nb") } == .invalidArguments)
    }

    @Test func aRevokedDeviceIsOutUntilItIsEnrolledAgain() async throws {
        let ann = try await Person(server)
        let (account, recoveryKey) = try await Account.create(
            transport: HTTPTransport(server: server.origin), deviceName: "phone")
        account.deviceKeeper.attach(try TrustStore())
        let trust = try TrustStore()
        let desk = try await Account.recover(
            recoveryKey, transport: HTTPTransport(server: server.origin), deviceName: "desk", trust: trust)
        let own = try #require(try await desk.devices().first { $0.isCurrent })
        #expect(own.name == "desk")
        #expect(try await account.devices().map(\.isNew) == [false, true])
        try await account.revokeDevice(own.id)
        // Its session, and all that it could log in with.
        #expect(await failure { _ = try await desk.devices() } == .notAuthenticated)
        #expect(try await desk.status() == .noAccount)
        #expect(await failure { try await desk.delete(trust: trust) } == .notAuthenticated)
        #expect(try await account.status() == .available)
        let again = try Account(seeds: desk.seeds, transport: HTTPTransport(server: server.origin))
        again.deviceKeeper.attach(trust)
        #expect(await failure { _ = try await again.devices() } == .notAuthenticated)
        #expect(try await account.devices().map(\.name) == ["phone"])
        #expect(try await ann.account.devices().count == 1)
        // The recovery key makes another device of it.
        let back = try await Account.recover(
            recoveryKey, transport: HTTPTransport(server: server.origin), deviceName: "desk", trust: trust)
        let listed = try await back.devices()
        #expect(listed.map(\.name) == ["phone", "desk"])
        #expect(!listed.contains { $0.id == own.id })
        _ = try await account.devices()
        #expect(try await account.newDevices().map(\.name) == ["desk"], "the one that was taken off has been seen")
    }

    @Test func aNewDeviceIsToldOfOnceAndStaysNewUntilItIsAcknowledged() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("trust")
        let ann = try await Person(server, trust: try TrustStore(file: file))
        let told = Mutex<[String]>([])
        ann.account.deviceKeeper.watch(ann.account) { device in told.withLock { $0.append(device.name) } }
        #expect(try await ann.account.newDevices().isEmpty)
        let desk = try ann.device("desk", trust: try TrustStore())
        #expect(
            try await desk.devices().map(\.isNew) == [false, false], "the first list that a device sees is not news")
        // Any call does: its answer names another list.
        _ = try await ann.own.allRecordZones()
        #expect(try await ann.account.newDevices().map(\.name) == ["desk"])
        for _ in 0..<3 { _ = try await ann.account.devices() }
        #expect(told.withLock { $0 } == ["desk"])
        // It survives the process, and the device that it is about.
        let later = try ann.device("test", trust: try TrustStore(file: file))
        let listed = try await later.devices()
        #expect(listed.map(\.isNew) == [false, true])
        #expect(listed.map(\.isCurrent) == [true, false])
        let audit = try await Container("org.example.notes", account: later, trust: try TrustStore(file: file)).audit()
        #expect(audit.outcome == .unacknowledged)
        #expect(audit.newDevices.map(\.name) == ["desk"])
        #expect(audit.violations.isEmpty)
        // One that went before this device's user has seen it stays told of; one that the user takes off is seen.
        let guest = try ann.device("guest", trust: try TrustStore())
        let own = try #require(try await guest.devices().first { $0.isCurrent })
        #expect(try await later.devices().map(\.isNew) == [false, true, true])
        try await guest.revokeDevice(own.id)
        try await later.revokeDevice(listed[1].id)
        #expect(try await later.newDevices().map(\.name) == ["guest"])
        try await later.acknowledge(try await later.newDevices())
        #expect(try await later.newDevices().isEmpty)
        #expect(try await ann.account.newDevices().isEmpty)
        #expect(
            try await Container("org.example.notes", account: later, trust: try TrustStore(file: file)).audit().outcome
                == .clean)
        // Without a store there is nothing to compare with.
        let bare = try Account(
            seeds: ann.account.seeds, transport: HTTPTransport(server: server.origin), deviceName: "bare")
        #expect(try await bare.devices().map(\.isNew) == [false, false])
        #expect(try await bare.newDevices().isEmpty)
    }

    /// Each answer names another list: a device looks once a call, and does not go round.
    @Test func aServerThatNamesEverNewListsIsNotAskedWithoutEnd() async throws {
        let ann = try await Person(server)
        let network = try HostileNetwork(server)
        let revision = Mutex<UInt64>(1_000)
        network.lie { _, _, response in
            response.deviceRevision = revision.withLock { revision in
                revision += 1
                return revision
            }
        }
        let device = try ann.through(network)
        for _ in 0..<3 { _ = try await device.own.allRecordZones() }
        try await Task.sleep(for: .milliseconds(300))
        try await device.account.deviceKeeper.finishLooking()
        let looks = network.sent(to: "devices/list").count
        #expect(looks > 0)
        #expect(looks <= network.exchanges.count - looks)
    }

    @Test func anAppHearsOfANewDeviceAmongTheAccountsChanges() async throws {
        let ann = try await Person(server)
        var changes = ann.container.accountChanges.makeAsyncIterator()
        let desk = try ann.device("desk", trust: try TrustStore())
        _ = try await desk.devices()
        _ = try await ann.own.allRecordZones()
        guard case .newDevice(let device)? = await changes.next() else {
            Issue.record("another change")
            return
        }
        #expect(device.name == "desk")
        #expect(device.isNew)
        #expect(!device.isCurrent)
    }

    // MARK: Enrolment

    @Test func aDeviceIsEnrolledByAnother() async throws {
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "from the phone"))
        let third = try ann.device("third", trust: try TrustStore())
        _ = try await third.devices()
        try await ann.account.acknowledge(try await ann.account.devices().filter(\.isNew))
        let enrolment = try await EnrolmentInProgress(
            ann.account, server: HTTPTransport(server: server.origin), name: "desk")
        #expect(enrolment.new.invitation.hasPrefix("sealkit-enrol:"))
        #expect(enrolment.new.invitation.count == 53)
        #expect(await failure { _ = try await enrolment.new.confirm(trust: try TrustStore()) } == .invalidArguments)
        let trust = try TrustStore()
        let desk = try await enrolment.confirm(trust: trust)
        let container = try Container("org.example.notes", account: desk, trust: trust)
        #expect(
            try await container.privateDatabase.record(for: note.recordID).encryptedValues["body"] == "from the phone")
        let listed = try await desk.devices()
        #expect(listed.map(\.name) == ["test", "third", "desk"])
        #expect(listed.map(\.isCurrent) == [false, false, true])
        #expect(enrolment.new.invitation.filter(\.isHexDigit).hasSuffix(listed[2].id))
        // The device that brought it is not warned of it; every other one is.
        _ = try await ann.account.devices()
        #expect(try await ann.account.newDevices().isEmpty)
        #expect(try await third.devices().filter(\.isNew).map(\.name) == ["desk"])
        // Nothing is left on the server: it is over, and replayed it is refused.
        #expect(await failure { _ = try await ann.account.approveDevice(enrolment.new.invitation) } == .unknownItem)
        #expect(await failure { try await enrolment.old.confirm() } == .unknownItem)
        #expect(await failure { _ = try await enrolment.new.confirm(trust: trust) } == .unknownItem)
    }

    @Test func aTranscriptThatIsScannedNeedsNoDigits() async throws {
        let ann = try await Person(server)
        let enrolment = try await EnrolmentInProgress(ann.account, server: HTTPTransport(server: server.origin))
        let (new, old) = try await enrolment.comparisons()
        #expect(new == old)
        #expect(new.transcript.count == 43)
        #expect(new.code.count == 6)
        try await enrolment.old.confirm(scanned: new.transcript)
        let desk = try await enrolment.new.confirm(scanned: old.transcript, trust: try TrustStore())
        #expect(try await desk.devices().count == 2)
        for wrong in [
            "", "x", String(new.transcript.dropLast()) + (new.transcript.hasSuffix("A") ? "E" : "A"),
            String(repeating: "A", count: 43),
        ] {
            let other = try await EnrolmentInProgress(ann.account, server: HTTPTransport(server: server.origin))
            _ = try await other.comparisons()
            #expect(await failure { try await other.old.confirm(scanned: wrong) } == .integrityFailure)
            #expect(
                await failure { _ = try await other.new.confirm(scanned: wrong, trust: try TrustStore()) }
                    == .integrityFailure)
        }
    }

    @Test func anAccountThatComesByAnEnrolmentIsKeptInAStore() async throws {
        let ann = try await Person(server)
        for isScanned in [false, true] {
            let enrolment = try await EnrolmentInProgress(ann.account, server: HTTPTransport(server: server.origin))
            let (_, old) = try await enrolment.comparisons()
            try await enrolment.old.confirm()
            let (trust, store) = (try TrustStore(), MemoryKeyStore())
            // A store that keeps an account is refused before anything was taken over.
            let full = MemoryKeyStore(try ann.account.secrets)
            let new = enrolment.new
            if isScanned {
                #expect(
                    await failure { _ = try await new.confirm(scanned: old.transcript, trust: trust, in: full) }
                        == .constraintViolation)
                _ = try await new.confirm(scanned: old.transcript, trust: trust, in: store)
            } else {
                #expect(
                    await failure { _ = try await new.confirm(trust: trust, in: full) } == .constraintViolation)
                _ = try await new.confirm(trust: trust, in: store)
            }
            let kept = try #require(try await Account.load(from: store))
            #expect(try await kept.status() == .available)
            #expect(SecretBytes.areEqual(kept.seed.bytes, ann.account.seed.bytes))
        }
    }

    /// What was handed over is sent again as it was, and nothing says that it did not arrive.
    @Test func anApprovalWhoseAnswerIsLostIsGivenAgain() async throws {
        let ann = try await Person(server)
        let transport = try HTTPTransport(server: server.origin)
        let losses: [LossyTransport.Loss] = [.answer] + Array(repeating: .request, count: 100)
        let network = LossyTransport(transport, losing: "enrol/deliver", losses)
        let account = try ann.through(network).account
        let enrolment = try await EnrolmentInProgress(account, server: transport, name: "desk")
        _ = try await enrolment.comparisons()
        #expect(await failure { try await enrolment.old.confirm() } != nil)
        network.lose([])
        try await enrolment.old.confirm()
        _ = try await enrolment.new.confirm(trust: try TrustStore())
        #expect(Set(network.bodies).count == 1)
        #expect(try await account.devices().map(\.name) == ["test", "desk"])
        #expect(try await account.newDevices().isEmpty)
    }

    /// The new device has ended the enrolment, since it has all that it needs.
    @Test func anApprovalThatWasTakenIsOneThoughNoAnswerSaidSo() async throws {
        let ann = try await Person(server)
        let transport = try HTTPTransport(server: server.origin)
        let losses: [LossyTransport.Loss] = [.answer] + Array(repeating: .request, count: 100)
        let network = LossyTransport(transport, losing: "enrol/deliver", losses)
        let account = try ann.through(network).account
        _ = try await account.devices()
        let enrolment = try await EnrolmentInProgress(account, server: transport, name: "desk")
        _ = try await enrolment.comparisons()
        #expect(await failure { try await enrolment.old.confirm() } != nil)
        _ = try await enrolment.new.confirm(trust: try TrustStore())
        network.lose([])
        // Told that it failed, its user is told of the device; told that it did not, no more.
        #expect(try await account.devices().filter(\.isNew).map(\.name) == ["desk"])
        try await enrolment.old.confirm()
        #expect(try await account.newDevices().isEmpty)
    }

    /// Whoever calls it off while it is sent is told of the device that comes of it all the same.
    @Test func anApprovalThatIsCancelledMakesNoDeviceKnown() async throws {
        let ann = try await Person(server)
        let transport = try HTTPTransport(server: server.origin)
        let arrived = AsyncStream<Void>.makeStream()
        let network = LossyTransport(
            transport, losing: "enrol/deliver", [.held { arrived.continuation.finish() }])
        let account = try ann.through(network).account
        _ = try await account.devices()
        let enrolment = try await EnrolmentInProgress(account, server: transport, name: "desk")
        _ = try await enrolment.comparisons()
        let old = enrolment.old
        let confirming = Task { try await old.confirm() }
        for await _ in arrived.stream {}
        confirming.cancel()
        #expect(await failure { try await confirming.value } != nil)
        _ = try await enrolment.new.confirm(trust: try TrustStore())
        #expect(try await account.devices().filter(\.isNew).map(\.name) == ["desk"])
    }

    @Test func eitherDeviceEndsItAtAnyStep() async throws {
        let ann = try await Person(server)
        let transport = try HTTPTransport(server: server.origin)
        for step in 0..<3 {
            for isNew in [true, false] {
                let enrolment = try await EnrolmentInProgress(ann.account, server: transport)
                if step > 0 { _ = try await enrolment.comparisons() }
                if step > 1 { try await enrolment.old.confirm() }
                if isNew { await enrolment.new.cancel() } else { await enrolment.old.cancel() }
                let (new, old) = (enrolment.new, enrolment.old)
                if step == 0 {
                    #expect(await failure { _ = try await new.comparison() } == .unknownItem)
                    #expect(await failure { _ = try await old.comparison() } == .unknownItem)
                } else {
                    #expect(await failure { _ = try await new.confirm(trust: try TrustStore()) } == .unknownItem)
                    #expect(await failure { try await old.confirm() } == .unknownItem)
                }
            }
        }
        #expect(try await ann.account.devices().count == 1)
        // One who stops waiting does so at once.
        let waiting = try await DeviceEnrolment.onItsOwn(transport)
        let task = Task { try await waiting.comparison() }
        task.cancel()
        #expect(await failure { _ = try await task.value } == .operationCancelled)
        await waiting.cancel()
        for wrong in [
            "", "sealkit-enrol:", "sealkit-enrol:0123", String(repeating: "g", count: 32), waiting.invitation + "0",
        ] {
            #expect(await failure { _ = try await ann.account.approveDevice(wrong) } == .invalidArguments)
        }
        // As somebody types it.
        let typed = try await DeviceEnrolment.onItsOwn(transport)
        let old = try await ann.account.approveDevice(
            " " + typed.invitation.dropFirst("sealkit-enrol:".count).uppercased().replacing("-", with: " "))
        let shown = try await typed.comparison()
        #expect(try await old.comparison() == shown)
        await old.cancel()
    }

    @Test func twoDevicesEnrolAtOnceByTwoOthers() async throws {
        let ann = try await Person(server)
        let transport = try HTTPTransport(server: server.origin)
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "for all"))
        // One by each of two devices, their steps between one another's.
        let other = try ann.device("other", trust: try TrustStore())
        let first = try await EnrolmentInProgress(ann.account, server: transport, name: "first")
        let second = try await EnrolmentInProgress(other, server: transport, name: "second")
        let shown = [try await first.comparisons(), try await second.comparisons()]
        #expect(shown.allSatisfy { $0.new == $0.old })
        #expect(Set(shown.map(\.new.transcript)).count == 2)
        // A yes for one is none for another.
        try await second.old.confirm()
        #expect(await failure { try await first.old.confirm(scanned: shown[1].new.transcript) } == .integrityFailure)
        let one = try await EnrolmentInProgress(ann.account, server: transport, name: "first again")
        async let a = one.confirm(trust: try TrustStore())
        async let b = second.new.confirm(trust: try TrustStore())
        for account in [try await a, try await b] {
            let container = try Container("org.example.notes", account: account)
            #expect(try await container.privateDatabase.record(for: note.recordID).encryptedValues["body"] == "for all")
        }
        #expect(Set(try await ann.account.devices().map(\.name)) == ["test", "other", "second", "first again"])
        // One device answers, and somebody else's account does not get in between.
        let third = try await EnrolmentInProgress(other, server: transport, name: "third")
        #expect(
            await failure { _ = try await ann.account.approveDevice(third.new.invitation) } == .constraintViolation,
            "one device answers")
        let carol = try await Person(server)
        #expect(
            await failure { _ = try await carol.account.approveDevice(third.new.invitation) } == .constraintViolation)
    }

    @Test func aDeviceBeginsAndAnswersOneAtATime() async throws {
        let ann = try await Person(server)
        let (device, network) = try ann.behindAttacker()
        let transport = try HTTPTransport(server: server.origin)
        let turns = EnrolmentTurns()
        func begin() async throws -> DeviceEnrolment {
            try await DeviceEnrolment.begin(client: Client(transport: transport), deviceName: "new", turns: turns)
        }
        let first = try await begin()
        #expect(await failure { _ = try await begin() } == .constraintViolation)
        let approval = try await device.account.approveDevice(first.invitation)
        // Another one on another device, which this one is to answer as well: the server hears nothing of it.
        let second = try await DeviceEnrolment.onItsOwn(transport)
        #expect(await failure { _ = try await device.account.approveDevice(second.invitation) } == .constraintViolation)
        #expect(network.sent(to: "enrol/claim").count == 1)
        // Once the first one has ended, in whatever way, its users may have the next one.
        await first.cancel()
        #expect(await failure { _ = try await approval.comparison() } == .unknownItem)
        let next = try await device.account.approveDevice(second.invitation)
        let again = try await begin()
        await again.cancel()
        let shown = try await second.comparison()
        #expect(try await next.comparison() == shown)
        try await next.confirm()
        _ = try await second.confirm(trust: try TrustStore())
        // One that nobody holds any more keeps nobody waiting, nor one that did not come about.
        _ = try await begin()
        let last = try await begin()
        #expect(
            await failure {
                _ = try await device.account.approveDevice("sealkit-enrol:" + String(repeating: "0", count: 32))
            } == .unknownItem)
        _ = try await device.account.approveDevice(last.invitation)
    }
}
