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

    /// An engine sends records, and who is in a share is no field of one: refused, with nothing of it lost.
    @Test func aShareInABatchIsRefused() async throws {
        try await Cloud.runNotes { database, zone in
            let root = CKRecord.note("root", in: zone)
            let share = CKShare(rootRecord: root)
            share[CKShare.SystemFieldKey.title] = "Notes"
            try await database.modifyRecords(saving: [root, share])
            share[CKShare.SystemFieldKey.title] = "Other"
            root["title"] = "changed"
            let app = Noting(CKSyncEngine.RecordZoneChangeBatch(recordsToSave: [share, root]))
            let engine = app.start(database)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(share.recordID), .saveRecord(root.recordID)])
            let error = await expectFailure(.partialFailure) { try await engine.sendChanges() }
            #expect((error?.partialErrorsByItemID?[share.recordID] as? CKError)?.code == .invalidArguments)
            #expect(error?.partialErrorsByItemID?.count == 1)
            #expect(try await database.record(for: root.recordID)["title"] as? String == "changed")
            let there = try await database.record(for: share.recordID)
            #expect(there[CKShare.SystemFieldKey.title] as? String == "Notes")
            try await database.save(share)
            let saved = try await database.record(for: share.recordID)
            #expect(saved[CKShare.SystemFieldKey.title] as? String == "Other")
        }
    }
}

/// A delegate that notes what comes.
private final class Noting: CKSyncEngineDelegate {
    private struct Content {
        var batch: CKSyncEngine.RecordZoneChangeBatch?
        var modified: [CKRecord] = []
        var deleted: [String] = []
    }

    private let content: Mutex<Content>

    init(_ batch: CKSyncEngine.RecordZoneChangeBatch? = nil) { content = Mutex(Content(batch: batch)) }

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
        guard case .fetchedRecordZoneChanges(let fetched) = event else { return }
        content.withLock {
            $0.modified += fetched.modifications.map(\.record)
            $0.deleted += fetched.deletions.map(\.recordID.recordName)
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        content.withLock { content in
            defer { content.batch = nil }
            return content.batch
        }
    }
}
