import Foundation
import Synchronization
import Testing

@testable import SealKit

extension SyncEngineTests {
    // MARK: Accounts

    @Test func anotherAccountIsToldBeforeAnythingIsDoneForIt() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let device = try await device(ann)
        let id = device.note("note", in: zone)
        device.app.write("ann's", to: id, device.engine)
        try device.signIn(bob)
        let before = device.transport.calls.count
        try await device.engine.sendChanges()
        #expect(device.app.events.filter { $0 != "stateUpdate" }.first == "switchAccounts")
        // What was pending was ann's: of bob's only the zone was made.
        #expect(device.app.events.contains("sentZones [\"notes\"] []"))
        #expect(!device.app.events.contains { $0.hasPrefix("sent [") })
        #expect(!device.transport.calls.dropFirst(before).contains { $0.hasSuffix("records/modify") })
        #expect(device.disk.notes.isEmpty)
        #expect(await failure { _ = try await bob.own.record(for: id) } == .unknownItem)
        #expect(device.engine.state.content.account == bob.name)
    }

    /// What one user was about to delete is not deleted in the next one's account, where something has the same name.
    @Test func whatWasToBeDeletedIsNotDeletedInAnotherAccount() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        try await bob.own.save(RecordZone(zoneID: zone))
        let note = try await bob.own.save(bob.note(in: zone, "bob's", name: "note"))
        let device = try await device(ann)
        device.engine.state.add(pendingRecordZoneChanges: [.deleteRecord(note.recordID)])
        try device.signIn(bob)
        try await device.engine.sendChanges()
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(try await bob.own.record(for: note.recordID).encryptedValues["body"] == "bob's")
    }

    @Test func aSignOutIsToldOnceAndALockChangesNothing() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let id = device.note("note", in: zone)
        device.app.write("word", to: id, device.engine)
        device.accounts.lock()
        #expect(await failure { try await device.engine.sendChanges() } == .accountTemporarilyUnavailable)
        #expect(device.engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        #expect(device.disk.notes.count == 1)
        device.accounts.restrict()
        #expect(await failure { try await device.engine.sendChanges() } == .notAuthenticated)
        #expect(device.disk.notes.count == 1)
        device.accounts.signOut()
        for _ in 0..<2 { #expect(await failure { try await device.engine.fetchChanges() } == .notAuthenticated) }
        #expect(device.app.events.filter { $0 == "signOut" }.count == 1)
        #expect(device.disk.notes.isEmpty)
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
        // Made while nobody was signed in, it goes up then.
        device.app.write("later", to: id, device.engine)
        try device.signIn(ann)
        try await device.engine.sendChanges()
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["later"])
        #expect(device.app.events.filter { $0 == "signIn" }.count == 1)
    }

    /// That the app has not said who is signed in takes nothing from anybody.
    @Test func beforeAnybodyIsSaidToBeSignedInNothingIsTold() async throws {
        let ann = try await Person()
        let device = try SyncDevice(ann, signedIn: false)
        #expect(await failure { try await device.engine.fetchChanges() } == .notAuthenticated)
        #expect(device.app.events.isEmpty)
        try device.signIn(ann)
        try await device.engine.fetchChanges()
        #expect(device.app.events.first == "signIn")
    }

    @Test func aNewAccountInThePlaceOfALostOneGetsWhatTheDeviceHas() async throws {
        let (old, new) = (try await Person(), try await Person())
        let device = try await device(old)
        let id = device.note("note", in: zone)
        device.app.write("kept here", to: id, device.engine)
        try await device.engine.sendChanges()
        try device.signIn(new, replacing: old)
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(device.app.events.first == "zones [] [\"notes: encryptedDataReset\"]")
        #expect(!device.app.events.contains("switchAccounts"))
        try await device.engine.sendChanges()
        #expect(try await new.own.record(for: id).encryptedValues["words"] == ["kept here"])
    }

    /// What the device has of somebody else is nothing for the new account, whomever that replaces.
    @Test func aNewAccountGetsNothingOfWhomItDoesNotReplace() async throws {
        let (other, lost, new) = (try await Person(), try await Person(), try await Person())
        let device = try await device(other)
        let id = device.note("note", in: zone)
        device.app.write("other's", to: id, device.engine)
        try await device.engine.sendChanges()
        let kept = try #require(try device.disk.state)
        #expect(kept.userRecordID == Record.ID(recordName: other.name))
        try device.signIn(new, replacing: lost)
        device.app.forgetEvents()
        await device.sync()
        #expect(device.app.events.first == "switchAccounts")
        #expect(device.disk.notes.isEmpty)
        #expect(await failure { _ = try await new.own.record(for: id) } == .unknownItem)
    }

    // MARK: One thing at a time

    @Test func insideAHandlerTheEngineRefusesAtOnce() async throws {
        let device = try await device(try await Person())
        let codes = LockedValue<[SealKitError.Code?]>([])
        let shared = LockedValue<SyncEngine?>(nil)
        let asking = Asking(device.app) { engine in
            let (fetched, sent) = (
                await failure { try await engine.fetchChanges() }, await failure { try await engine.sendChanges() }
            )
            // Of the delegate's other database neither: its handler may be waiting for this one.
            let other = await failure { try await shared.value?.fetchChanges() }
            codes.change { $0 += [fetched, sent, other] }
        }
        var configuration = SyncEngine.Configuration(
            container: device.container, stateSerialization: try device.disk.state, delegate: asking)
        configuration.automaticallySync = false
        let engine = try SyncEngine(configuration)
        configuration.databaseScope = .shared
        let beside = try SyncEngine(configuration)
        shared.change { $0 = beside }
        try await engine.fetchChanges()
        #expect(codes.value.count >= 6)
        #expect(codes.value.allSatisfy { $0 == .invalidArguments })
    }

    /// What an app gets that makes two by accident.
    @Test func aSecondEngineTakesTheFirstOnesPlace() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let first = device.engine
        first.state.add(pendingRecordZoneChanges: [.saveRecord(device.note("forgotten", in: zone))])
        try device.restart()
        var configuration = SyncEngine.Configuration(
            container: device.container, stateSerialization: nil, delegate: device.app)
        configuration.automaticallySync = false
        // Of the same delegate once more, from nothing.
        let second = try SyncEngine(configuration)
        #expect(second.state.pendingRecordZoneChanges.isEmpty)
        #expect(device.engine.state === second.state)
        device.app.make(zone, device.engine)
        device.app.write("word", to: device.note("note", in: zone), device.engine)
        try await device.engine.sendChanges()
        #expect(device.app.events.filter { $0 == "signIn" }.count == 1)
        #expect(second.state.pendingRecordZoneChanges.isEmpty)
        #expect(second.state.content.account == ann.name)
        #expect(try await ann.own.record(for: device.note("note", in: zone)).encryptedValues["words"] == ["word"])
        // Another delegate's is another device's.
        #expect(first.state !== second.state)
    }

    /// A process that works for several people may have one delegate for all of them.
    @Test func anotherAccountsEngineTakesNobodysPlace() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let told = LockedValue<[SyncEngine]>([])
        let app = SyncApp(disk: SyncDisk())
        let asking = Asking(app) { engine in told.change { $0.append(engine) } }
        func engine(_ container: Container) throws -> SyncEngine {
            var configuration = SyncEngine.Configuration(
                container: container, stateSerialization: nil, delegate: asking)
            configuration.automaticallySync = false
            return try SyncEngine(configuration)
        }
        let (anns, bobs) = (try engine(ann.container), try engine(bob.container))
        #expect(anns.state !== bobs.state)
        app.make(zone, anns)
        let id = Record.ID(recordName: "note", zoneID: zone)
        app.write("ann's", to: id, anns)
        try await anns.sendChanges()
        #expect(!told.value.isEmpty)
        #expect(told.value.allSatisfy { $0 === anns })
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["ann's"])
        #expect(try await bob.own.allRecordZones().allSatisfy { $0.zoneID != zone })
        // Two containers that are made with one account are one.
        let again = try engine(try Container(ann.container.containerIdentifier, account: ann.account))
        #expect(again.state === anns.state)
        #expect(again.state !== bobs.state)
    }

    /// Also one that has begun: its fetch goes on with the newer one.
    @Test func anEngineThatIsSupersededAtWorkGoesOnAsTheOther() async throws {
        let ann = try await Person()
        try await ann.own.save(RecordZone(zoneID: zone))
        try await ann.own.save(ann.note(in: zone, "body", name: "one"))
        let app = SyncApp(disk: SyncDisk())
        let next = LockedValue<SyncEngine?>(nil)
        let asking = Asking(app) { engine in
            guard next.value == nil else { return }
            var configuration = engine.configuration
            configuration.stateSerialization = nil
            let second = try? SyncEngine(configuration)
            next.change { $0 = second }
        }
        var configuration = SyncEngine.Configuration(
            container: ann.container, stateSerialization: nil, delegate: asking)
        configuration.automaticallySync = false
        let first = try SyncEngine(configuration)
        try await first.fetchChanges()
        let second = try #require(next.value)
        #expect(first.state === second.state)
        #expect(second.state.content.account == ann.name)
        // The first one was at its first event.
        #expect(app.events.filter { $0 == "signIn" }.count == 2)
        #expect(app.events.filter { $0 == "willFetch" }.count == 1)
        #expect(app.disk.notes.count == 1)
    }

    @Test func whatIsCancelledEndsAndNothingIsLost() async throws {
        let ann = try await Person()
        let holding = LockedValue<HoldingTransport?>(nil)
        let device = try SyncDevice(
            ann,
            network: { next in
                let transport = HoldingTransport(next, holding: "records/modify")
                holding.change { $0 = transport }
                return transport
            })
        let transport = try #require(holding.value)
        device.app.make(zone, device.engine)
        let id = device.note("note", in: zone)
        device.app.write("word", to: id, device.engine)
        let engine = device.engine
        let sending = Task { await failure { try await engine.sendChanges() } }
        await transport.reached()
        // Nobody opens: it ends by this alone.
        await engine.cancelOperations()
        #expect(await sending.value == .operationCancelled)
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        transport.open()
        // The request may have reached the server all the same, and the first is a conflict then.
        _ = await failure { try await engine.sendChanges() }
        _ = await failure { try await engine.sendChanges() }
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["word"])
    }

    // MARK: By itself

    /// Over the server's real notifications.
    @Test func byItselfAnEngineSendsWhatIsAddedAndFetchesWhatOthersChange() async throws {
        let ann = try await Person()
        func engine(_ app: SyncApp, _ person: Person) throws -> SyncEngine {
            try SyncEngine(.init(container: person.container, stateSerialization: nil, delegate: app))
        }
        let (one, two) = (SyncApp(disk: SyncDisk()), SyncApp(disk: SyncDisk()))
        let (first, second) = (try engine(one, ann), try engine(two, try ann.onFreshDevice()))
        one.make(zone, first)
        let id = Record.ID(recordName: "note", zoneID: zone)
        one.write("from one", to: id, first)
        await two.told { if case .fetchedRecordZoneChanges = $0 { true } else { false } }
        #expect(two.disk.notes == [id: ["from one"]])
        two.write("from two", to: id, second)
        await one.told { event in
            guard case .fetchedRecordZoneChanges(let changes) = event else { return false }
            return changes.modifications.contains { ($0.record.encryptedValues["words"] as [String]?)?.count == 2 }
        }
        #expect(one.disk.notes == [id: ["from one", "from two"]])
        #expect(try await ann.own.allSubscriptions().map(\.subscriptionID) == ["sync-engine-private"])
        await first.cancelOperations()
        await second.cancelOperations()
    }
}

/// Another delegate's stand-in, which does something at each of the first events.
final class Asking: SyncEngineDelegate {
    private let app: SyncApp
    private let act: @Sendable (SyncEngine) async -> Void
    private let left = Mutex(3)

    init(_ app: SyncApp, _ act: @escaping @Sendable (SyncEngine) async -> Void) {
        self.app = app
        self.act = act
    }

    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        await app.handleEvent(event, syncEngine: syncEngine)
        let isLeft = left.withLock { left in
            defer { left -= 1 }
            return left > 0
        }
        if isLeft { await act(syncEngine) }
    }

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        await app.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    }
}
