import Foundation
import SealLab
import Synchronization
import Testing

@testable import SealKit

/// The sync engine, by the numbers of what clients rely on, and one device at a time. Of several at once:
/// `SyncRunTests`.
@Suite(.timeLimit(.minutes(60))) struct SyncEngineTests {
    let zone = RecordZone.ID(zoneName: "notes")

    /// A device that has synced its zone.
    func device(_ person: Person, making zones: [RecordZone.ID]? = nil) async throws -> SyncDevice {
        let device = try SyncDevice(person)
        for zone in zones ?? [zone] { device.app.make(zone, device.engine) }
        try await device.engine.sendChanges()
        try await device.engine.fetchChanges()
        device.app.forgetEvents()
        return device
    }

    // MARK: Sending

    @Test func s57_moreThanOneRequestTakesIsSentInOneCall() async throws {
        let device = try await device(try await Person())
        for number in 0..<444 { device.app.write("word", to: device.note("note-\(number)", in: zone), device.engine) }
        let before = device.transport.calls.count
        try await device.engine.sendChanges()
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(device.transport.calls.dropFirst(before).filter { $0.hasSuffix("records/modify") }.count == 2)
        // More than one part of the feed has room for.
        let first = try await device.engine.database.recordZoneChanges(inZoneWith: zone)
        let rest = try await device.engine.database.recordZoneChanges(inZoneWith: zone, since: first.changeToken)
        #expect(first.modifications.count + rest.modifications.count == 444)
        #expect(!rest.moreComing)
    }

    @Test func s58_aSendWithFailuresThrowsAfterTheDelegateWasTold() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let (absent, gone, changed) = (
            device.note("a", in: RecordZone.ID(zoneName: "absent")), device.note("gone", in: zone),
            device.note("changed", in: zone)
        )
        for id in [gone, changed] { device.app.write("first", to: id, device.engine) }
        try await device.engine.sendChanges()
        try await ann.own.deleteRecord(withID: gone)
        var other = try await ann.own.record(for: changed)
        other.encryptedValues["words"] = ["of another device"]
        try await ann.own.save(other)
        device.app.forgetEvents()

        for id in [absent, gone, changed] { device.app.write("second", to: id, device.engine) }
        device.app.write("good", to: device.note("good", in: zone), device.engine)
        #expect(await failure { try await device.engine.sendChanges() } == .partialFailure)
        let sent = device.app.events.filter { $0.hasPrefix("sent ") }
        #expect(sent == ["sent [\"good\"] [] a: zoneNotFound gone: unknownItem changed: serverRecordChanged"])
        #expect(device.app.events.last(where: { $0 != "stateUpdate" }) == "didSend partialFailure")
    }

    /// In both orders: who comes second merges.
    @Test(arguments: [false, true]) func s59_afterAConflictTheLoserHasOnePending(isReversed: Bool) async throws {
        let ann = try await Person()
        let first = try await device(ann)
        let id = first.note("note", in: zone)
        first.app.write("common", to: id, first.engine)
        try await first.engine.sendChanges()
        let second = try await device(ann)
        let (winner, loser) = isReversed ? (second, first) : (first, second)
        first.app.write("one", to: id, first.engine)
        second.app.write("two", to: id, second.engine)
        try await winner.engine.sendChanges()
        #expect(await failure { try await loser.engine.sendChanges() } == .partialFailure)
        #expect(winner.engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(loser.engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        try await loser.engine.sendChanges()
        try await winner.engine.fetchChanges()
        #expect(winner.disk.notes == [id: ["common", "one", "two"]])
        #expect(loser.disk.notes == winner.disk.notes)
    }

    @Test func s60_aZoneDeletedBehindTheClientIsMadeAgain() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let id = device.note("note", in: zone)
        device.app.write("one", to: id, device.engine)
        try await device.engine.sendChanges()
        let created = try await ann.own.record(for: id).creationDate
        try await ann.own.deleteRecordZone(withID: zone)
        device.app.write("two", to: id, device.engine)
        #expect(await failure { try await device.engine.sendChanges() } == .partialFailure)
        #expect(device.engine.state.pendingDatabaseChanges == [.saveZone(RecordZone(zoneID: zone))])
        try await device.engine.sendChanges()
        let again = try await ann.onFreshDevice().own.record(for: id)
        #expect(again.encryptedValues["words"] == ["one", "two"])
        #expect(again.creationDate != created)
        // The same of a record alone.
        try await ann.own.deleteRecord(withID: id)
        device.app.write("three", to: id, device.engine)
        #expect(await failure { try await device.engine.sendChanges() } == .partialFailure)
        try await device.engine.sendChanges()
        #expect(try await ann.own.record(for: id).creationDate != again.creationDate)
    }

    @Test func s61_twoEnginesWithStatesOfTheirOwnAreTwoDevices() async throws {
        let ann = try await Person()
        let (one, two) = (SyncApp(disk: SyncDisk()), SyncApp(disk: SyncDisk()))
        func engine(_ app: SyncApp) throws -> SyncEngine {
            var configuration = SyncEngine.Configuration(
                container: ann.container, stateSerialization: nil, delegate: app)
            configuration.automaticallySync = false
            return try SyncEngine(configuration)
        }
        let (first, second) = (try engine(one), try engine(two))
        one.make(zone, first)
        let id = Record.ID(recordName: "note", zoneID: zone)
        one.write("here", to: id, first)
        try await first.sendChanges()
        try await second.fetchChanges()
        two.write("there", to: id, second)
        try await second.sendChanges()
        try await first.fetchChanges()
        #expect(one.disk.notes == [id: ["here", "there"]])
        #expect(two.disk.notes == one.disk.notes)
    }

    /// What is added again while it is on its way is newer than what was sent.
    @Test func whatIsChangedWhileItIsSentIsSentOnceMore() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let id = device.note("note", in: zone)
        let meanwhile = Meanwhile(device.app) { app, engine in app.write("later", to: id, engine) }
        var configuration = SyncEngine.Configuration(
            container: device.container, stateSerialization: try device.disk.state, delegate: meanwhile)
        configuration.automaticallySync = false
        let engine = try SyncEngine(configuration)
        device.app.write("sooner", to: id, engine)
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["later", "sooner"])
    }

    @Test func oneBadRecordKeepsNoOtherFromBeingSent() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let names = ["one", "no name\n", "three", "four"]
        for name in names { device.app.write("word", to: device.note(name, in: zone), device.engine) }
        #expect(await failure { try await device.engine.sendChanges() } == .partialFailure)
        let stored = try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.map(\.recordID.recordName)
        #expect(Set(stored) == ["one", "three", "four"])
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test func oneMissingFileKeepsNoOtherFromBeingSent() async throws {
        let ann = try await Person()
        _ = try await device(ann)
        var records = ["one", "two", "three"].map { ann.note(in: zone, "body", name: $0) }
        records[1]["scan"] = Asset(fileURL: URL(fileURLWithPath: "/nowhere/at/all"))
        let sender = Sender([SyncEngine.RecordZoneChangeBatch(recordsToSave: records)])
        let engine = try sender.engine(ann.container)
        #expect(await failure { try await engine.sendChanges() } == .partialFailure)
        let stored = try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.map(\.recordID.recordName)
        #expect(Set(stored) == ["one", "three"])
    }

    @Test func aBatchThatIsTooBigForOneRequestGoesInParts() async throws {
        let ann = try await Person()
        _ = try await device(ann)
        let records = (0..<5).map { number in
            var record = ann.note(in: zone, "", name: "big-\(number)")
            record.encryptedValues["picture"] = pattern(700_000)
            return record
        }
        let sender = Sender([SyncEngine.RecordZoneChangeBatch(recordsToSave: records)])
        let engine = try sender.engine(ann.container)
        try await engine.sendChanges()
        #expect(try await ann.own.recordZoneChanges(inZoneWith: zone, desiredKeys: []).modifications.count == 5)
    }

    /// A batch ends with the record that brings its values to a mebibyte, or with the 250th change.
    @Test func aBatchHasSoManyBytesAndChanges() async throws {
        let ids = (0..<300).map { Record.ID(recordName: "note-\($0)", zoneID: zone) }
        func batch(_ bytes: Int) async -> SyncEngine.RecordZoneChangeBatch? {
            await SyncEngine.RecordZoneChangeBatch(
                pendingChanges: ids.map { SyncEngine.PendingRecordZoneChange.saveRecord($0) }
            ) { id in
                var record = Record(recordType: "Note", recordID: id)
                record.encryptedValues["picture"] = pattern(bytes)
                return record
            }
        }
        #expect(await batch(600_000)?.recordIDs == Array(ids.prefix(2)))
        #expect(await batch(10)?.recordIDs == Array(ids.prefix(250)))
    }

    @Test func whatFailedOnlyWithItsBatchStaysPending() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let taken = try await ann.own.save(ann.note(in: zone, "taken", name: "taken"))
        let fresh = ann.note(in: zone, "fresh", name: "fresh")
        let again = ann.note(in: zone, "again", name: "taken")
        let sender = Sender([SyncEngine.RecordZoneChangeBatch(recordsToSave: [fresh, again], atomicByZone: true)])
        let engine = try sender.engine(ann.container)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(fresh.recordID), .saveRecord(taken.recordID)])
        #expect(await failure { try await engine.sendChanges() } == .partialFailure)
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(fresh.recordID)])
        #expect(await failure { _ = try await device.engine.database.record(for: fresh.recordID) } == .unknownItem)
    }

    /// Nothing else would have an engine that syncs by itself try again.
    @Test func whatFailedOnlyWithItsBatchGoesWithoutIt() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        try await ann.own.save(ann.note(in: zone, "taken", name: "taken"))
        let (fresh, again) = (ann.note(in: zone, "fresh", name: "fresh"), ann.note(in: zone, "again", name: "taken"))
        let app = AtomicApp([fresh, again])
        let engine = try SyncEngine(
            SyncEngine.Configuration(container: device.container, stateSerialization: nil, delegate: app),
            pacing: device.pacing.pacing)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(fresh.recordID), .saveRecord(again.recordID)])
        await app.saved(fresh.recordID)
        #expect(try await ann.own.record(for: again.recordID).encryptedValues["body"] == "taken")
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test func onlyWhatWasAskedForIsSent() async throws {
        let ann = try await Person()
        let other = RecordZone.ID(zoneName: "other")
        let device = try await device(ann, making: [zone, other])
        let (here, there) = (device.note("here", in: zone), device.note("there", in: other))
        for id in [here, there] { device.app.write("word", to: id, device.engine) }
        try await device.engine.sendChanges(.init(scope: .zoneIDs([other])))
        #expect(device.engine.state.pendingRecordZoneChanges == [.saveRecord(here)])
        let stray = Sender([SyncEngine.RecordZoneChangeBatch(recordsToSave: [ann.note(in: zone, "x")])])
        let engine = try stray.engine(ann.container)
        #expect(await failure { try await engine.sendChanges(.init(scope: .recordIDs([there]))) } == .invalidArguments)
        try await device.engine.sendChanges(.init(scope: .allExcluding([zone])))
        #expect(device.engine.state.pendingRecordZoneChanges == [.saveRecord(here)])
        try await device.engine.sendChanges()
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test func withoutANetworkEverythingStaysPending() async throws {
        let device = try await device(try await Person())
        let id = device.note("note", in: zone)
        device.transport.turn(on: false)
        device.app.write("word", to: id, device.engine)
        #expect(await failure { try await device.engine.sendChanges() } == .networkFailure)
        #expect(await failure { try await device.engine.fetchChanges() } == .networkFailure)
        #expect(device.engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        #expect(!device.app.events.contains { $0.hasPrefix("sent ") })
        #expect(device.app.events.contains("didSend networkFailure"))
        device.transport.turn(on: true)
        try await device.engine.sendChanges()
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
    }

    // MARK: State

    @Test func s62_pendingChangesAreAnOrderedSet() throws {
        let state = SyncEngine.State(nil)
        let ids = (0..<200).map { Record.ID(recordName: "n\($0)", zoneID: zone) }
        state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
        state.add(pendingRecordZoneChanges: ids.prefix(3).map { .saveRecord($0) })
        #expect(state.pendingRecordZoneChanges == ids.map { .saveRecord($0) })
        state.add(pendingRecordZoneChanges: [.deleteRecord(ids[0])])
        #expect(state.pendingRecordZoneChanges == ids.dropFirst().map { .saveRecord($0) } + [.deleteRecord(ids[0])])
        state.remove(pendingRecordZoneChanges: [.saveRecord(ids[0])])
        #expect(state.pendingRecordZoneChanges.count == 200)
        state.remove(pendingRecordZoneChanges: ids.dropFirst(2).map { .saveRecord($0) })
        state.add(pendingRecordZoneChanges: [.saveRecord(ids[5]), .saveRecord(ids[1])])
        #expect(state.pendingRecordZoneChanges == [.saveRecord(ids[1]), .deleteRecord(ids[0]), .saveRecord(ids[5])])

        let named = RecordZone(zoneName: "one")
        state.add(pendingDatabaseChanges: [.saveZone(named), .saveZone(RecordZone(zoneName: "two")), .saveZone(named)])
        state.add(pendingDatabaseChanges: [.deleteZone(named.zoneID)])
        #expect(state.pendingDatabaseChanges == [.saveZone(RecordZone(zoneName: "two")), .deleteZone(named.zoneID)])
    }

    @Test func s63_aStateIsKeptAsJSONAndHoldsNoValue() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        device.app.write("tomatoes", to: device.note("note", in: zone), device.engine)
        try await device.engine.sendChanges()
        device.app.write("cucumbers", to: device.note("pending", in: zone), device.engine)
        var sealed = RecordZone(zoneName: "sealed")
        sealed.encryptionScope = .perZone
        device.engine.state.add(pendingDatabaseChanges: [
            .saveZone(sealed), .deleteZone(RecordZone.ID(zoneName: "old")),
        ])
        device.engine.state.hasPendingUntrackedChanges = true
        let kept = try JSONEncoder().encode(device.engine.state.serialization.0)
        let again = SyncEngine.State(try JSONDecoder().decode(SyncEngine.State.Serialization.self, from: kept))
        #expect(again.pendingRecordZoneChanges == device.engine.state.pendingRecordZoneChanges)
        #expect(again.pendingDatabaseChanges == device.engine.state.pendingDatabaseChanges)
        #expect(again.hasPendingUntrackedChanges)
        #expect(again.content.account == ann.name)
        #expect(again.content.zones == device.engine.state.content.zones)
        #expect(again.content.databaseToken != nil)
        let text = String(decoding: kept, as: UTF8.self)
        #expect(!text.contains("tomatoes"))
        #expect(!text.contains("cucumbers"))
    }

    @Test func aStateThatIsNoneIsRefused() throws {
        func read(_ text: String) throws -> SyncEngine.State.Serialization {
            try JSONDecoder().decode(SyncEngine.State.Serialization.self, from: Data(text.utf8))
        }
        let rest = #""zones":[],"unfetched":[],"records":[],"database":[],"hasPendingUntrackedChanges":false}"#
        _ = try read(#"{"version":1,"# + rest)
        #expect(
            failureOf { _ = try read(#"{"version":2,"# + rest) } as? SealKitError
                == SealKitError(.incompatibleVersion, ""))
        #expect(failureOf { _ = try read(#"{"version":1}"#) } is DecodingError)
        let odd = rest.replacingOccurrences(
            of: #""database":[]"#,
            with: #""database":[{"zoneID":{"zoneName":"a","ownerName":"b"},"encryptionScope":9}]"#)
        #expect(failureOf { _ = try read(#"{"version":1,"# + odd) } is DecodingError)
    }

    private func failureOf(_ body: () throws -> Void) -> (any Error)? {
        do {
            try body()
            return nil
        } catch { return error }
    }
}

/// Gives these batches, one after the other, and keeps nothing.
final class Sender: SyncEngineDelegate {
    private let batches: Mutex<[SyncEngine.RecordZoneChangeBatch]>

    init(_ batches: [SyncEngine.RecordZoneChangeBatch]) { self.batches = Mutex(batches) }

    /// One that asks for them.
    func engine(_ container: Container) throws -> SyncEngine {
        var configuration = SyncEngine.Configuration(container: container, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        let engine = try SyncEngine(configuration)
        engine.state.hasPendingUntrackedChanges = true
        return engine
    }

    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? { batches.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// Gives all that is pending as one batch, and does nothing about what fails.
final class AtomicApp: SyncEngineDelegate {
    private let records: [Record.ID: Record]
    private let (saves, save) = AsyncStream<Record.ID>.makeStream()

    init(_ records: [Record]) { self.records = Dictionary(records.map { ($0.recordID, $0) }) { $1 } }

    /// Returns once the engine has told so.
    func saved(_ id: Record.ID) async { for await saved in saves where saved == id { return } }

    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        guard case .sentRecordZoneChanges(let sent) = event else { return }
        for record in sent.savedRecords { save.yield(record.recordID) }
    }

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine engine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        let pending = engine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        guard !pending.isEmpty else { return nil }
        return SyncEngine.RecordZoneChangeBatch(
            recordsToSave: pending.compactMap { records[$0.recordID] }, atomicByZone: true)
    }
}

/// Another delegate's stand-in, which does something once after each first batch was given.
final class Meanwhile: SyncEngineDelegate {
    private let app: SyncApp
    private let act: @Sendable (SyncApp, SyncEngine) -> Void
    private let hasActed = Mutex(false)

    init(_ app: SyncApp, _ act: @escaping @Sendable (SyncApp, SyncEngine) -> Void) {
        self.app = app
        self.act = act
    }

    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        await app.handleEvent(event, syncEngine: syncEngine)
    }

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        let batch = await app.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
        let isFirst = hasActed.withLock { hasActed in
            defer { hasActed = true }
            return !hasActed
        }
        if isFirst { act(app, syncEngine) }
        return batch
    }
}
