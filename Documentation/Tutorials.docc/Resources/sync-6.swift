import Foundation
import SealKit

/// A to-do list that works without a network, and is kept in step with the account's other devices.
actor Todos: SyncEngineDelegate {
    /// All that the app keeps, in one file: so that its parts cannot disagree.
    private struct Kept: Codable {
        var texts: [Record.ID: String] = [:]
        /// Which version of each record this device has seen.
        var systemFields: [Record.ID: Data] = [:]
        /// What the server has not taken yet, deletions too.
        var unsent: Set<Record.ID> = []
        /// The user wanted the list gone everywhere, and it was not made again since.
        var isPurged: Bool?
        var state: SyncEngine.State.Serialization?
    }

    private var kept = Kept()
    private let file: URL
    private var engine: SyncEngine?
    private let zone = RecordZone(zoneName: "todos")

    init(file: URL) throws {
        self.file = file
        if FileManager.default.fileExists(atPath: file.path) {
            kept = try JSONDecoder().decode(Kept.self, from: Data(contentsOf: file))
        }
    }

    private func write() throws { try JSONEncoder().encode(kept).write(to: file, options: .atomic) }

    var texts: [String] { kept.texts.values.sorted() }

    /// What the user does goes into the app's own file first, and to the engine after.
    @discardableResult
    func set(_ text: String?, of id: Record.ID? = nil) throws -> Record.ID {
        let id = id ?? Record.ID(zoneID: zone.zoneID)
        kept.texts[id] = text
        kept.unsent.insert(id)
        try write()
        if let engine { makeZoneAgain(engine) }
        engine?.state.add(pendingRecordZoneChanges: [change(of: id)])
        return id
    }

    private func change(of id: Record.ID) -> SyncEngine.PendingRecordZoneChange {
        kept.texts[id] == nil ? .deleteRecord(id) : .saveRecord(id)
    }

    /// Once, when the app starts. The engine's state may be older than the texts: it is told last.
    func start(_ container: Container) throws {
        var configuration = SyncEngine.Configuration(
            container: container, databaseScope: .private, stateSerialization: kept.state, delegate: self)
        configuration.automaticallySync = false
        let engine = try SyncEngine(configuration)
        makeZoneAgain(engine)
        engine.state.add(pendingRecordZoneChanges: kept.unsent.map { change(of: $0) })
        self.engine = engine
    }

    func sync() async throws {
        try await engine?.fetchChanges()
        try await engine?.sendChanges()
    }

    /// The engine asks what to send.
    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await SyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            guard let text = kept.texts[id] else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                return nil
            }
            var record =
                kept.systemFields[id].flatMap { try? Record(systemFields: $0) }
                ?? Record(recordType: "Todo", recordID: id)
            record.encryptedValues["text"] = text
            return record
        }
    }

    /// The engine tells what happened. Whatever belongs to the app is in its file before this returns.
    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        switch event {
        case .stateUpdate(let update): kept.state = update.stateSerialization
        case .accountChange(let change):
            switch change.changeType {
            case .signIn: uploadAll(syncEngine)
            case .signOut: kept = Kept()
            case .switchAccounts:
                kept = Kept()
                uploadAll(syncEngine)
            }
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions where deletion.zoneID == zone.zoneID {
                zoneIsGone(deletion.reason, syncEngine)
            }
            if changes.modifications.contains(where: { $0.zoneID == zone.zoneID }) { kept.isPurged = nil }
        case .sentDatabaseChanges(let sent):
            if sent.savedZones.contains(where: { $0.zoneID == zone.zoneID }) { kept.isPurged = nil }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { take(modification.record) }
            for one in changes.unopened { print(one.error.reason) }
            for deletion in changes.deletions where !kept.unsent.contains(deletion.recordID) {
                kept.texts[deletion.recordID] = nil
                kept.systemFields[deletion.recordID] = nil
            }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords {
                kept.systemFields[record.recordID] = record.encodeSystemFields()
                if kept.texts[record.recordID] == record.encryptedValues["text"] { kept.unsent.remove(record.recordID) }
            }
            for id in sent.deletedRecordIDs where kept.texts[id] == nil { kept.unsent.remove(id) }
            for failed in sent.failedRecordSaves where !failed.error.isRetriedBySyncEngine {
                saveFailed(failed.error, of: failed.record.recordID, syncEngine)
            }
            for (id, error) in sent.failedRecordDeletes where !error.isRetriedBySyncEngine {
                kept.unsent.remove(id)
                // Gone with its zone is gone; otherwise it is still there.
                if ![.zoneNotFound, .unknownItem, .userDeletedZone].contains(error.code) { print(error.reason) }
            }
        case .didFetchChanges(let end): if let error = end.error { print(error.reason) }
        case .didFetchRecordZoneChanges(let end): if let error = end.error { print(error.reason) }
        case .didSendChanges(let end): if let error = end.error { print(error.reason) }
        default: break
        }
        do { try write() } catch { print("not kept: \(error)") }
    }

    /// Whoever writes after the list was thrown away wants one again.
    private func makeZoneAgain(_ engine: SyncEngine) {
        if kept.isPurged == true, !kept.texts.isEmpty { engine.state.add(pendingDatabaseChanges: [.saveZone(zone)]) }
    }

    private func uploadAll(_ engine: SyncEngine) {
        kept.unsent.formUnion(kept.texts.keys)
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        engine.state.add(pendingRecordZoneChanges: kept.unsent.map { change(of: $0) })
    }

    private func zoneIsGone(_ reason: SyncEngine.Event.FetchedDatabaseChanges.DeletionReason, _ engine: SyncEngine) {
        kept.systemFields = [:]
        switch reason {
        case .encryptedDataReset:
            // The account has new keys, and nothing under them.
            uploadAll(engine)
        case .purged:
            // The user wants it gone everywhere.
            (kept.texts, kept.unsent, kept.isPurged) = ([:], [], true)
        default:
            // What is unsent here is newer than that, and makes the zone anew.
            kept.texts = kept.texts.filter { kept.unsent.contains($0.key) }
            kept.unsent.formIntersection(kept.texts.keys)
            if !kept.texts.isEmpty { uploadAll(engine) }
        }
    }

    /// What is unsent here is newer than what came, and goes on from it.
    private func take(_ record: Record) {
        kept.systemFields[record.recordID] = record.encodeSystemFields()
        if !kept.unsent.contains(record.recordID) { kept.texts[record.recordID] = record.encryptedValues["text"] }
    }

    private func saveFailed(_ error: SealKitError, of id: Record.ID, _ engine: SyncEngine) {
        switch error.code {
        case .serverRecordChanged:
            if let theirs = error.serverRecord { take(theirs) }
        case .zoneNotFound where error.userDidResetEncryptedDataKey:
            // The account has new keys, and nothing under them: all of it goes again.
            kept.systemFields = [:]
            return uploadAll(engine)
        case .zoneNotFound:
            kept.systemFields[id] = nil
            engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        case .unknownItem:
            kept.systemFields[id] = nil
        case .userDeletedZone where kept.isPurged != true:
            // Written before this device was told that the list is gone everywhere.
            (kept.texts[id], kept.systemFields[id]) = (nil, nil)
            kept.unsent.remove(id)
            return
        default:
            return print(error.reason)
        }
        engine.state.add(pendingRecordZoneChanges: [change(of: id)])
    }
}
