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
        engine?.state.add(pendingRecordZoneChanges: [change(of: id)])
        return id
    }

    private func change(of id: Record.ID) -> SyncEngine.PendingRecordZoneChange {
        kept.texts[id] == nil ? .deleteRecord(id) : .saveRecord(id)
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
        default: break
        }
        do { try write() } catch { print("not kept: \(error)") }
    }
}
