import CloudKit
import Synchronization
import Testing

/// Shares in a sync engine's events.
@Suite(.timeLimit(.minutes(60))) struct SyncEngineShareTests {
    /// What another device has shared comes as a share, without a request of its own; what has ended is told as gone.
    @Test func aShareIsToldAsOne() async throws {
        try await Cloud.runNotes { database, zone in
            let root = CKRecord.note("root", in: zone)
            let share = CKShare(rootRecord: root)
            share[CKShare.SystemFieldKey.title] = "Notes"
            share.publicPermission = .readOnly
            try await database.modifyRecords(saving: [root, share])
            let app = Noting()
            let engine = app.start(database)
            try await engine.fetchChanges()
            let told = try #require(app.shares.first)
            #expect(app.modified == ["cloudkit.share true", "Note false"].sorted())
            #expect(told.recordID == share.recordID)
            #expect(told[CKShare.SystemFieldKey.title] as? String == "Notes")
            #expect(told.publicPermission == .readOnly)
            #expect(told.owner.acceptanceStatus == .accepted)
            try await database.deleteRecord(withID: share.recordID)
            try await engine.fetchChanges()
            #expect(app.deleted == [share.recordID.recordName])
        }
    }

    /// A new share goes with its root, whichever of the two was added first, and is told as the app's own object, with
    /// what saving has given it.
    @Test(arguments: [true, false]) func aNewShareIsSavedWithItsRoot(rootFirst: Bool) async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let database = device.container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let (root, child) = (CKRecord.note("root", in: zone), CKRecord.note("child", in: zone))
            child.setParent(root)
            let share = CKShare(rootRecord: root)
            share[CKShare.SystemFieldKey.title] = "Notes"
            share.publicPermission = .readWrite
            let app = Noting()
            app.keep([root, child, share])
            let engine = app.start(database)
            let added = (rootFirst ? [root, share] : [share, root]) + [child]
            let ids = added.map(\.recordID)
            engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
            try await engine.sendChanges()
            #expect(app.sent == ["child ok", "cloudkit.share ok", "root ok"])
            let objects = app.savedObjects.map { ObjectIdentifier($0) }
            #expect(objects.contains(ObjectIdentifier(share)))
            #expect(objects.contains(ObjectIdentifier(root)))
            #expect(share.url != nil)
            #expect(share.recordChangeTag != nil)
            #expect(share.owner.acceptanceStatus == .accepted)
            #expect(root.share?.recordID == share.recordID)
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            let there = try await database.record(for: share.recordID) as? CKShare
            #expect(there?[CKShare.SystemFieldKey.title] as? String == "Notes")
            let bob = try await cloud.device(of: "bob").container
            let metadata = try await bob.shareMetadata(for: try #require(share.url))
            _ = try await bob.accept(metadata)
            #expect(try await bob.sharedCloudDatabase.allRecordZones().count == 1)
        }
    }

    /// What has changed in a share that there is goes among the records, and who is in it as well.
    @Test func aSharesChangesAreSaved() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            let database = container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let root = CKRecord.note("root", in: zone)
            let share = CKShare(rootRecord: root)
            try await database.modifyRecords(saving: [root, share])
            let bob = try await cloud.container(of: "bob").userRecordID()
            share.addParticipant(try await container.shareParticipant(forUserRecordID: bob))
            share[CKShare.SystemFieldKey.title] = "Other"
            let note = CKRecord.note("note", in: zone)
            let app = Noting()
            app.keep([note, share])
            let engine = app.start(database)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(share.recordID), .saveRecord(note.recordID)])
            try await engine.sendChanges()
            #expect(app.sent == ["cloudkit.share ok", "note ok"])
            let saved = try #require(try await database.record(for: share.recordID) as? CKShare)
            #expect(saved[CKShare.SystemFieldKey.title] as? String == "Other")
            #expect(saved.participants.contains { $0.userIdentity.userRecordID == bob })
            // Its next save is no conflict with itself.
            share[CKShare.SystemFieldKey.title] = "Third"
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(share.recordID)])
            try await engine.sendChanges()
            #expect(app.sent.last == "cloudkit.share ok")
        }
    }

    /// One that cannot be saved fails by itself, and what was given with it does not.
    @Test func aShareWithoutItsRootFailsAlone() async throws {
        try await Cloud.runNotes { database, zone in
            let (root, note) = (CKRecord.note("root", in: zone), CKRecord.note("note", in: zone))
            let share = CKShare(rootRecord: root)
            let app = Noting()
            app.keep([share, note])
            let engine = app.start(database)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(share.recordID), .saveRecord(note.recordID)])
            let error = await expectFailure(.partialFailure) { try await engine.sendChanges() }
            #expect((error?.partialErrorsByItemID?[share.recordID] as? CKError)?.code == .invalidArguments)
            #expect(error?.partialErrorsByItemID?.count == 1)
            #expect(app.sent.sorted() == ["cloudkit.share 12", "note ok"])
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            await expectFailure(.unknownItem) { _ = try await database.record(for: share.recordID) }
        }
    }

    /// The record of a share that somebody deletes through the engine ends it.
    @Test func aShareIsEnded() async throws {
        try await Cloud.runNotes { database, zone in
            let root = CKRecord.note("root", in: zone)
            let share = CKShare(rootRecord: root)
            try await database.modifyRecords(saving: [root, share])
            let app = Noting()
            let engine = app.start(database)
            engine.state.add(pendingRecordZoneChanges: [.deleteRecord(share.recordID)])
            try await engine.sendChanges()
            await expectFailure(.unknownItem) { _ = try await database.record(for: share.recordID) }
            #expect(try await database.record(for: root.recordID).share == nil)
        }
    }
}

/// A delegate that notes what comes.
private final class Noting: CKSyncEngineDelegate {
    private struct Content {
        var records: [CKRecord.ID: CKRecord] = [:]
        var modified: [CKRecord] = []
        var deleted: [String] = []
        var saved: [CKRecord] = []
        var sent: [String] = []
    }

    private let content = Mutex(Content())

    /// What the app has of its own.
    func keep(_ records: [CKRecord]) {
        content.withLock { content in
            for record in records { content.records[record.recordID] = record }
        }
    }

    /// What was saved, or which number it failed with: shares by their type, others by their names, and in their order.
    var sent: [String] { content.withLock { $0.sent } }
    var savedObjects: [CKRecord] { content.withLock { $0.saved } }

    /// Types, and whether they came as shares.
    var modified: [String] {
        content.withLock { $0.modified.map { "\($0.recordType) \($0 is CKShare)" } }.sorted()
    }
    var shares: [CKShare] { content.withLock { $0.modified.compactMap { $0 as? CKShare } } }
    var deleted: [String] { content.withLock { $0.deleted } }

    func start(_ database: CKDatabase) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        func name(_ record: CKRecord) -> String { record is CKShare ? record.recordType : record.recordID.recordName }
        content.withLock { content in
            switch event {
            case .fetchedRecordZoneChanges(let fetched):
                content.modified += fetched.modifications.map(\.record)
                content.deleted += fetched.deletions.map(\.recordID.recordName)
            case .sentRecordZoneChanges(let sent):
                content.saved += sent.savedRecords
                content.sent +=
                    (sent.savedRecords.map { "\(name($0)) ok" }
                    + sent.failedRecordSaves.map { "\(name($0.record)) \($0.error.errorCode)" }).sorted()
            default: break
            }
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
            content.withLock { $0.records[id] }
        }
    }
}
