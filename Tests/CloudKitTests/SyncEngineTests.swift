import CloudKit
import SealKit
import SealKitTesting
import Synchronization
import Testing

/// The sync engine by CloudKit's names: what SealKit's does is tested there, and here that all of it comes through.
@Suite(.timeLimit(.minutes(60))) struct SyncEngineTests {
    private func run(_ body: (Cloud.Device, CKDatabase, SyncApp) async throws -> Void) async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let (database, app) = (device.container.privateCloudDatabase, SyncApp())
            try app.start(database)
            try await body(device, database, app)
        }
    }

    @Test func firstStart() async throws {
        try await run { _, database, app in
            app.write("before", to: "a")
            try await app.engine.sendChanges()
            // The account is told before anything is sent, so that zones are made there.
            #expect(app.events == ["signIn", "willSend", "zones 1 0 0 0", "sent 1 0 []", "didSend"])
            #expect(app.engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(app.engine.state.pendingDatabaseChanges.isEmpty)
            let stored = try await database.record(for: app.id("a"))
            #expect(stored.encryptedValues["text"] as? String == "before")
            app.forgetEvents()
            try await app.engine.fetchChanges()
            #expect(
                app.events == ["willFetch", "willFetch Notes", "fetched 1 0", "didFetch Notes ok", "didFetch"])
            #expect(app.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
            #expect("\(app.engine)".contains("CKSyncEngine"))
        }
    }

    /// What does not open, here for want of a key, is told beside what CloudKit tells, keeps nothing from coming, and
    /// comes once it opens.
    @Test func whatDoesNotOpenIsToldAndComesLater() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let (one, two) = (SyncApp(), SyncApp())
            try one.start(device.container.privateCloudDatabase)
            for name in ["a", "b"] { one.write("text", to: name) }
            try await one.engine.sendChanges()
            let second = try await device.another()
            let fault = second.inject(.wrongGrants(of: SealKit.RecordZone.ID(zoneName: "Notes")))
            try two.start(second.container.privateCloudDatabase)
            let told = Mutex<[CKSyncEngine.Event.FetchedRecordZoneChanges.UnopenedRecord]>([])
            let listening = SyncApp { event, _, _ in
                if case .fetchedRecordZoneChanges(let changes) = event { told.withLock { $0 += changes.unopened } }
            }
            try listening.start(second.container.privateCloudDatabase)
            for app in [two, listening] { try await app.engine.fetchChanges() }
            #expect(
                two.events.suffix(4) == ["willFetch Notes", "fetched 0 0 unopened 2", "didFetch Notes ok", "didFetch"])
            #expect(two.notes.isEmpty)
            let unopened = told.withLock { $0 }
            #expect(Set(unopened.map(\.recordID)) == [one.id("a"), one.id("b")])
            #expect(Set(unopened.map(\.error.code)) == [.serverRejectedRequest])
            fault.remove()
            try await two.engine.fetchChanges()
            #expect(two.notes == one.notes)
        }
    }

    /// Semantics 62.
    @Test func pendingChangesAreAnOrderedSet() async throws {
        try await run { _, _, app in
            let (state, a, b) = (app.engine.state, app.id("a"), app.id("b"))
            state.add(pendingRecordZoneChanges: [.saveRecord(a), .saveRecord(b), .saveRecord(a)])
            #expect(state.pendingRecordZoneChanges == [.saveRecord(a), .saveRecord(b)])
            state.add(pendingRecordZoneChanges: [.deleteRecord(a)])
            #expect(state.pendingRecordZoneChanges == [.saveRecord(b), .deleteRecord(a)])
            state.remove(pendingRecordZoneChanges: [.saveRecord(a), .saveRecord(b)])
            #expect(state.pendingRecordZoneChanges == [.deleteRecord(a)])
            let zone = CKRecordZone(zoneName: "Other")
            state.add(pendingDatabaseChanges: [.saveZone(zone), .saveZone(zone)])
            #expect(state.pendingDatabaseChanges == [.saveZone(zone)])
            state.add(pendingDatabaseChanges: [.deleteZone(zone.zoneID)])
            #expect(state.pendingDatabaseChanges == [.deleteZone(zone.zoneID)])
            state.remove(pendingDatabaseChanges: [.deleteZone(zone.zoneID)])
            #expect(state.pendingDatabaseChanges.isEmpty)
            #expect(state.hasPendingUntrackedChanges == false)
            state.hasPendingUntrackedChanges = true
            #expect(state.hasPendingUntrackedChanges)
        }
    }

    /// Semantics 57.
    @Test func manyChangesGoInBatches() async throws {
        try await run { _, database, app in
            for number in 0..<444 { app.write("\(number)", to: "note\(number)") }
            try await app.engine.sendChanges()
            let sent = app.events.filter { $0.hasPrefix("sent ") }
            #expect(sent == ["sent 250 0 []", "sent 194 0 []"])
            #expect(app.engine.state.pendingRecordZoneChanges.isEmpty)
            let other = SyncApp()
            try other.start(database)
            try await other.engine.fetchChanges()
            #expect(other.notes == app.notes)
        }
    }

    @Test func theBatchsObjectsAreToldAndTakeOverWhatWasStored() async throws {
        try await run { _, _, app in
            app.write("one", to: "a")
            try await app.engine.sendChanges()
            let (given, saved) = app.store.withLock { ($0.given[app.id("a")], $0.savedObjects.first) }
            #expect(given === saved)
            #expect(given?.recordChangeTag != nil)
            #expect(given?.encryptedValues.changedKeys().isEmpty == true)
        }
    }

    @Test func whatIsNoValueFailsAloneAndSaysWhy() async throws {
        try await run { _, _, app in
            let (bad, good) = (CKRecord.note("bad", in: app.zone), CKRecord.note("good", in: app.zone))
            bad.setValue(NSObject(), forKey: "title")
            good["title"] = "fine"
            let giving = Giving(app, [CKSyncEngine.RecordZoneChangeBatch(recordsToSave: [bad, good])])
            let engine = try giving.start(app.engine.database)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(bad.recordID), .saveRecord(good.recordID)])
            let error = await expectFailure(.partialFailure) { try await engine.sendChanges() }
            #expect(giving.failures.map(\.code) == [.invalidArguments])
            #expect(giving.failures.first?.localizedDescription.contains("title") == true)
            #expect((error?.partialErrorsByItemID?[bad.recordID] as? CKError)?.code == .invalidArguments)
            #expect(error?.partialErrorsByItemID?.count == 1)
            #expect(good.recordChangeTag != nil)
        }
    }

    @Test func whatFailsIsSentOnceAndTheRestGoesThrough() async throws {
        try await run { device, _, app in
            try await app.engine.sendChanges()
            device.inject(.refusal(.quotaExceeded, of: "records/modify", times: 1))
            for number in 0..<300 { app.write("\(number)", to: "note\(number)") }
            let error = await expectFailure(.partialFailure) { try await app.engine.sendChanges() }
            #expect(error?.partialErrorsByItemID?.count == 250)
            #expect(app.events.contains("sent 50 0 []"))
            #expect(app.engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    /// What says nothing of the changes leaves all of them pending.
    @Test func withoutANetworkEverythingStaysPending() async throws {
        try await run { device, _, app in
            try await app.engine.sendChanges()
            let fault = device.inject(.offline)
            app.write("one", to: "a")
            await expectFailure(.networkFailure) { try await app.engine.sendChanges() }
            #expect(app.engine.state.pendingRecordZoneChanges == [.saveRecord(app.id("a"))])
            fault.remove()
            try await app.engine.sendChanges()
            #expect(app.engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    /// Semantics 58 and 59: both orders converge.
    @Test func conflictsAreMergedAndConverge() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let second = try await device.another()
            let (one, two) = (SyncApp(), SyncApp())
            try one.start(device.container.privateCloudDatabase)
            try two.start(second.container.privateCloudDatabase)
            one.write("first", to: "a")
            try await one.sync()
            try await two.sync()
            #expect(two.notes == one.notes)
            one.write("ones", to: "a")
            two.write("twos", to: "a")
            try await one.engine.sendChanges()
            two.forgetEvents()
            let error = await expectFailure(.partialFailure) { try await two.engine.sendChanges() }
            #expect((error?.partialErrorsByItemID?[two.id("a")] as? CKError)?.code == .serverRecordChanged)
            #expect(two.engine.state.pendingRecordZoneChanges == [.saveRecord(two.id("a"))])
            #expect(one.engine.state.pendingRecordZoneChanges.isEmpty)
            try await two.engine.sendChanges()
            try await one.sync()
            try await two.sync()
            #expect(one.notes == ["a": "ones+twos"])
            #expect(two.notes == one.notes)
            one.remove("a")
            try await one.sync()
            try await two.sync()
            #expect(two.notes.isEmpty)
        }
    }

    /// Also where it is another engine that sends: one that has taken the first one's place.
    @Test func aCallOnAFormerEngineNamesWhatFailed() async throws {
        try await run { _, database, app in
            app.write("one", to: "a")
            try await app.sync()
            let first = app.engine
            try app.start(database)
            let other = try await database.record(for: app.id("a"))
            other.encryptedValues["text"] = "other"
            try await database.save(other)
            app.write("two", to: "a")
            let error = await expectFailure(.partialFailure) { try await first.sendChanges() }
            #expect((error?.partialErrorsByItemID?[app.id("a")] as? CKError)?.code == .serverRecordChanged)
        }
    }

    /// Runs that wait for their turn begin before a call has returned, and what fails in it stays that call's.
    @Test func runsThatFollowTakeNothingFromWhatFailed() async throws {
        try await run { _, _, app in
            let bad = CKRecord.note("bad", in: app.zone)
            bad.setValue(NSObject(), forKey: "title")
            let batch = CKSyncEngine.RecordZoneChangeBatch(recordsToSave: [bad])
            let giving = Giving(app, Array(repeating: batch, count: 100))
            let engine = try giving.start(app.engine.database)
            let fetching = Task { while !Task.isCancelled { try? await engine.fetchChanges() } }
            for _ in 1...50 {
                engine.state.add(pendingRecordZoneChanges: [.saveRecord(bad.recordID)])
                let error = await expectFailure(.partialFailure) { try await engine.sendChanges() }
                #expect((error?.partialErrorsByItemID?[bad.recordID] as? CKError)?.code == .invalidArguments)
            }
            fetching.cancel()
            await fetching.value
        }
    }

    /// Semantics 60.
    @Test func aZoneThatWasDeletedBehindIt() async throws {
        try await run { _, database, app in
            app.write("one", to: "a")
            try await app.sync()
            let before = try await database.record(for: app.id("a"))
            try await database.deleteRecordZone(withID: app.zone)
            app.write("two", to: "a")
            app.forgetEvents()
            await expectFailure(.partialFailure) { try await app.engine.sendChanges() }
            #expect(app.events.contains("sent 0 0 [zoneNotFound]"))
            try await app.engine.sendChanges()
            let after = try await database.record(for: app.id("a"))
            #expect(after.creationDate != before.creationDate)
            #expect(after.encryptedValues["text"] as? String == "two")
        }
    }

    @Test func aZonesDeletionIsToldBeforeItsNextLife() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let second = try await device.another()
            let (database, app) = (second.container.privateCloudDatabase, SyncApp())
            try app.start(device.container.privateCloudDatabase)
            app.write("old", to: "a")
            try await app.sync()
            try await database.deleteRecordZone(withID: app.zone)
            try await database.save(CKRecordZone(zoneID: app.zone))
            let fresh = CKRecord.note("b", in: app.zone)
            fresh.encryptedValues["text"] = "new"
            try await database.save(fresh)
            app.forgetEvents()
            try await app.engine.fetchChanges()
            let told = app.events.filter { $0.hasPrefix("zone ") || $0.hasPrefix("fetched") }
            #expect(told == ["zone Notes deleted", "fetched 1 0"])
            #expect(app.notes == ["b": "new"])
        }
    }

    @Test func accountsComeAndGo() async throws {
        try await Cloud.run { cloud in
            let (ann, bob) = (try await cloud.device(of: "ann"), try await cloud.device(of: "bob"))
            let app = SyncApp()
            try app.start(ann.container.privateCloudDatabase)
            app.write("anns", to: "a")
            try await app.sync()
            app.write("unsent", to: "b")
            ann.lock()
            await expectFailure(.accountTemporarilyUnavailable) { try await app.engine.sendChanges() }
            #expect(app.notes.count == 2)
            ann.signIn(as: bob)
            app.forgetEvents()
            try await app.sync()
            #expect(app.events.first == "switchAccounts")
            #expect(app.notes.isEmpty)
            ann.signOut()
            app.forgetEvents()
            for _ in 0..<2 { await expectFailure(.notAuthenticated) { try await app.engine.fetchChanges() } }
            #expect(app.events == ["signOut"])
            ann.signIn()
            app.forgetEvents()
            try await app.sync()
            #expect(app.events.first == "signIn")
            #expect(app.notes == ["a": "anns"])
        }
    }

    /// What an app gets that makes two by accident, a lazy property and a task in `init` say.
    @Test func aSecondEngineTakesTheFirstOnesPlace() async throws {
        try await run { _, database, app in
            let first = app.engine
            app.write("one", to: "a")
            let second = try app.start(database)
            #expect(first !== second)
            // What is pending in the first one's state is the second one's from now on.
            app.write("two", to: "b")
            #expect(first.state.pendingRecordZoneChanges == second.state.pendingRecordZoneChanges)
            try await first.sendChanges()
            #expect(try await database.record(for: app.id("b")).recordType == "Note")
            let signIns = app.events.filter { $0 == "signIn" }
            #expect(signIns.count == 1)
        }
    }

    /// The app that makes a second one by accident lets go of it: the first one goes on, and its app is told.
    @Test(arguments: [1, 2]) func aSecondEngineThatIsLetGoOfTakesNothingAway(count: Int) async throws {
        try await run { _, database, app in
            let first = app.engine
            for _ in 1...count {
                var configuration = CKSyncEngine.Configuration(
                    database: database, stateSerialization: nil, delegate: app)
                configuration.automaticallySync = false
                _ = CKSyncEngine(configuration)
            }
            app.write("one", to: "a")
            _ = try await eventually { app.store.withLock { $0.state } }
            try await first.sendChanges()
            #expect(try await database.record(for: app.id("a")).recordType == "Note")
            #expect(app.events == ["signIn", "willSend", "zones 1 0 0 0", "sent 1 0 []", "didSend"])
            #expect(first.state.pendingRecordZoneChanges.isEmpty)
            try await first.fetchChanges()
            #expect(app.events.contains("didFetch Notes ok"))
        }
    }

    @Test func insideAHandlerTheEngineRefusesAtOnce() async throws {
        try await Cloud.run { cloud in
            let codes = Mutex<[CKError.Code?]>([])
            let app = SyncApp { event, engine, _ in
                guard case .willFetchChanges = event else { return }
                let calls: [() async throws -> Void] = [
                    { try await engine.fetchChanges() }, { try await engine.sendChanges() },
                ]
                for call in calls {
                    do {
                        try await call()
                        codes.withLock { $0.append(nil) }
                    } catch {
                        codes.withLock { $0.append((error as? CKError)?.code) }
                    }
                }
            }
            try app.start(try await cloud.container(of: "ann").privateCloudDatabase)
            try await app.engine.fetchChanges()
            let refused = codes.withLock { $0 }
            #expect(refused == [.invalidArguments, .invalidArguments])
        }
    }

    /// Semantics 63 and 61.
    @Test func aStateGoesOnWhereItWas() async throws {
        try await run { _, database, app in
            app.write("one", to: "a")
            try await app.sync()
            app.write("two", to: "b")
            // The state is told once the pending change is among it.
            try await app.engine.fetchChanges()
            app.stop()
            app.forgetEvents()
            try app.start(database)
            #expect(app.engine.state.pendingRecordZoneChanges == [.saveRecord(app.id("b"))])
            try await app.sync()
            #expect(!app.events.contains("signIn"))
            #expect(app.events.contains("sent 1 0 []"))
            let other = SyncApp()
            try other.start(database)
            try await other.engine.fetchChanges()
            #expect(other.notes == ["a": "one", "b": "two"])
        }
    }

    @Test func aNewersStateIsRefusedAndNotForgotten() async throws {
        try await run { _, _, app in
            app.write("one", to: "a")
            try await app.sync()
            let kept = app.store.withLock { $0.state }
            let data = try #require(kept)
            var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            object["version"] = 1_000
            let newer = try JSONSerialization.data(withJSONObject: object)
            await expectFailure(.incompatibleVersion) {
                _ = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: newer)
            }
            let other = try? JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data("{}".utf8))
            #expect(other == nil)
        }
    }

    @Test func scopes() async throws {
        try await run { _, database, app in
            let (other, record) = (CKRecordZone.ID(zoneName: "Other"), app.id("a"))
            typealias Fetch = CKSyncEngine.FetchChangesOptions.Scope
            typealias Send = CKSyncEngine.SendChangesOptions.Scope
            #expect(Fetch.all.contains(other))
            #expect(Fetch.zoneIDs([other]).contains(app.zone) == false)
            #expect(Fetch.allExcluding([other]).contains(app.zone))
            #expect(Send.all.contains(record))
            #expect(Send.zoneIDs([other]).contains(record) == false)
            #expect(Send.allExcluding([app.zone]).contains(.saveRecord(record)) == false)
            #expect(Send.recordIDs([record]).contains(.deleteRecord(record)))
            #expect(Send.recordIDs([]).contains(record) == false)
            let (group, options) = (CKOperationGroup(), CKSyncEngine.SendChangesOptions(scope: .recordIDs([record])))
            group.name = "Backup"
            #expect(CKSyncEngine.FetchChangesOptions(operationGroup: group).operationGroup === group)
            try await app.engine.sendChanges()
            app.write("one", to: "a")
            app.write("two", to: "b")
            try await app.engine.sendChanges(options)
            #expect(app.engine.state.pendingRecordZoneChanges == [.saveRecord(app.id("b"))])
            #expect(try await database.record(for: record).recordType == "Note")
        }
    }

    @Test func wherePublicAndBadContainersFail() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            let app = SyncApp()
            let engine = try app.start(container.publicCloudDatabase)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(app.id("a"))])
            #expect(engine.state.pendingRecordZoneChanges.count == 1)
            await expectFailure(.badDatabase) { try await engine.fetchChanges() }
            await expectFailure(.badDatabase) { try await engine.sendChanges() }
            await engine.cancelOperations()
            #expect(app.events.isEmpty)
        }
    }

    @Test func anEngineSyncsByItself() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let second = try await device.another()
            let told = AsyncStream<Void>.makeStream()
            let (one, two) = (
                SyncApp(),
                SyncApp { event, _, app in
                    if case .fetchedRecordZoneChanges = event, app.notes["a"] != nil { told.continuation.yield() }
                }
            )
            try one.start(device.container.privateCloudDatabase, automatically: true)
            try two.start(second.container.privateCloudDatabase, automatically: true)
            one.write("by itself", to: "a")
            for await _ in told.stream { break }
            #expect(two.notes == ["a": "by itself"])
            one.stop()
            two.stop()
        }
    }

    /// The server's word on why a zone is gone has nobody upload again what the user wanted gone.
    @Test func aResetIsNotTheServersWordAlone() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let app = SyncApp()
            try app.start(device.container.privateCloudDatabase)
            app.write("private", to: "a")
            try await app.sync()
            let second = try await device.another()
            try await second.deleteZone("Notes", sayingReset: true)
            app.forgetEvents()
            try await app.engine.fetchChanges()
            #expect(app.events.contains("zone Notes deleted"))
            #expect(app.notes.isEmpty)
            let database = device.container.privateCloudDatabase
            #expect(try await database.databaseChanges(since: nil).deletions.map(\.reason) == [.deleted])
            let error = await expectFailure(.zoneNotFound) { _ = try await database.record(for: app.id("a")) }
            #expect(error?.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
        }
    }

    /// What the user says of a lost account is no server's word.
    @Test func aNewAccountInThePlaceOfALostOneIsTold() async throws {
        try await Cloud.run { cloud in
            let (lost, new) = (try await cloud.device(of: "ann"), try await cloud.device(of: "anew"))
            let app = SyncApp()
            try app.start(lost.container.privateCloudDatabase)
            app.write("kept here", to: "a")
            try await app.sync()
            lost.signIn(as: new, replacing: try await lost.container.userRecordID())
            app.forgetEvents()
            try await app.engine.fetchChanges()
            #expect(app.events.first == "zone Notes encryptedDataReset")
        }
    }
}

/// A delegate that gives what it was told to, and notes what failed.
private final class Giving: CKSyncEngineDelegate {
    private let batches: Mutex<[CKSyncEngine.RecordZoneChangeBatch]>
    private let failed = Mutex<[CKError]>([])
    private let zone: CKRecordZone.ID
    var failures: [CKError] { failed.withLock { $0 } }

    init(_ app: SyncApp, _ batches: [CKSyncEngine.RecordZoneChangeBatch]) {
        zone = app.zone
        self.batches = Mutex(batches)
    }

    func start(_ database: CKDatabase) throws -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .accountChange:
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
        case .sentRecordZoneChanges(let sent): failed.withLock { $0 += sent.failedRecordSaves.map(\.error) }
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        batches.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
