import CloudKit
import Synchronization

/// An app of the sync engine: its store, what it was told, and what it keeps of the engine.
final class SyncApp: CKSyncEngineDelegate {
    struct Store: Sendable {
        var notes: [CKRecord.ID: String] = [:]
        /// As an app keeps them: without them a save is of a new record.
        var systemFields: [CKRecord.ID: Data] = [:]
        var state: Data?
        var events: [String] = []
        var savedObjects: [CKRecord] = []
        var given: [CKRecord.ID: CKRecord] = [:]
    }

    typealias Handler = @Sendable (CKSyncEngine.Event, CKSyncEngine, SyncApp) async -> Void

    let store = Mutex(Store())
    private let handler: Handler?
    private let first = Mutex<CKSyncEngine?>(nil)
    let zone: CKRecordZone.ID

    var engine: CKSyncEngine {
        guard let engine = first.withLock({ $0 }) else { preconditionFailure("the app was not started") }
        return engine
    }
    var events: [String] { store.withLock { $0.events } }
    var notes: [String: String] {
        store.withLock { Dictionary($0.notes.map { ($0.recordName, $1) }) { $1 } }
    }

    init(zone: String = "Notes", also handler: Handler? = nil) {
        self.zone = CKRecordZone.ID(zoneName: zone)
        self.handler = handler
    }

    /// Makes an engine as an app does at its start, with the state that it kept.
    @discardableResult
    func start(_ database: CKDatabase, automatically: Bool = false) throws -> CKSyncEngine {
        let state = try store.withLock { $0.state }.map {
            try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
        }
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: state, delegate: self)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        first.withLock { $0 = engine }
        return engine
    }

    func stop() { first.withLock { $0 = nil } }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

    func write(_ text: String, to name: String) {
        store.withLock { $0.notes[id(name)] = text }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id(name))])
    }

    func remove(_ name: String) {
        store.withLock { $0.notes[id(name)] = nil }
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id(name))])
    }

    func sync() async throws {
        try await engine.sendChanges()
        try await engine.fetchChanges()
    }

    // MARK: The engine's

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            let data = try? JSONEncoder().encode(update.stateSerialization)
            store.withLock { $0.state = data }
            return
        case .accountChange(let change):
            switch change.changeType {
            case .signIn:
                note("signIn")
                syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
                let all = store.withLock { Array($0.notes.keys) }
                syncEngine.state.add(pendingRecordZoneChanges: all.map { .saveRecord($0) })
            case .signOut:
                note("signOut")
                store.withLock { ($0.notes, $0.systemFields) = ([:], [:]) }
            case .switchAccounts:
                note("switchAccounts")
                store.withLock { ($0.notes, $0.systemFields) = ([:], [:]) }
                syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
            }
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions {
                note("zone \(deletion.zoneID.zoneName) \(deletion.reason)")
                store.withLock { store in
                    store.notes = store.notes.filter { $0.key.zoneID != deletion.zoneID }
                    store.systemFields = store.systemFields.filter { $0.key.zoneID != deletion.zoneID }
                }
            }
        case .fetchedRecordZoneChanges(let changes):
            let unopened = changes.unopened.isEmpty ? "" : " unopened \(changes.unopened.count)"
            note("fetched \(changes.modifications.count) \(changes.deletions.count)\(unopened)")
            for modification in changes.modifications { keep(modification.record) }
            for deletion in changes.deletions {
                store.withLock { $0.notes[deletion.recordID] = nil }
                store.withLock { $0.systemFields[deletion.recordID] = nil }
            }
        case .sentDatabaseChanges(let sent):
            note(
                "zones \(sent.savedZones.count) \(sent.failedZoneSaves.count) \(sent.deletedZoneIDs.count) \(sent.failedZoneDeletes.count)"
            )
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { keepSystemFields(record) }
            store.withLock { $0.savedObjects += sent.savedRecords }
            let codes = sent.failedRecordSaves.map { "\($0.error.code)" }.sorted().joined(separator: ",")
            note("sent \(sent.savedRecords.count) \(sent.deletedRecordIDs.count) [\(codes)]")
            for failure in sent.failedRecordSaves { mend(failure, syncEngine) }
        case .willFetchChanges: note("willFetch")
        case .willFetchRecordZoneChanges(let event): note("willFetch \(event.zoneID.zoneName)")
        case .didFetchRecordZoneChanges(let event):
            note("didFetch \(event.zoneID.zoneName) \(event.error.map { "\($0.code)" } ?? "ok")")
        case .didFetchChanges: note("didFetch")
        case .willSendChanges: note("willSend")
        case .didSendChanges: note("didSend")
        }
        await handler?(event, syncEngine, self)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            self.record(id)
        }
    }

    // MARK: Records

    private func record(_ id: CKRecord.ID) -> CKRecord? {
        let (text, fields) = store.withLock { ($0.notes[id], $0.systemFields[id]) }
        guard let text else { return nil }
        let coder = fields.flatMap { try? NSKeyedUnarchiver(forReadingFrom: $0) }
        coder?.requiresSecureCoding = true
        let record = coder.flatMap { CKRecord(coder: $0) } ?? CKRecord(recordType: "Note", recordID: id)
        record.encryptedValues["text"] = text
        store.withLock { $0.given[id] = record }
        return record
    }

    private func keep(_ record: CKRecord) {
        keepSystemFields(record)
        guard let text = record.encryptedValues["text"] as? String else { return }
        store.withLock { $0.notes[record.recordID] = text }
    }

    private func keepSystemFields(_ record: CKRecord) {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: coder)
        let data = coder.encodedData
        store.withLock { $0.systemFields[record.recordID] = data }
    }

    /// As Apple's sample does: what the server has is merged with, what is gone there is made anew.
    private func mend(_ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine) {
        let id = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged:
            guard let server = failure.error.serverRecord else { return }
            keepSystemFields(server)
            let theirs = server.encryptedValues["text"] as? String ?? ""
            store.withLock { $0.notes[id] = [$0.notes[id] ?? "", theirs].sorted().joined(separator: "+") }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        case .zoneNotFound:
            store.withLock { $0.systemFields[id] = nil }
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: id.zoneID))])
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        case .unknownItem:
            store.withLock { $0.systemFields[id] = nil }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        default: break
        }
    }

    func note(_ event: String) { store.withLock { $0.events.append(event) } }
    func forgetEvents() { store.withLock { $0.events = [] } }
}
