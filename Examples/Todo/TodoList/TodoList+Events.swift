import Foundation
import SealKit

/// What the engine asks for and tells. It calls these one at a time, and waits for them.
extension TodoList: SyncEngineDelegate {
    public func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await SyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            guard let item = kept.items[id.recordName] else {
                // It was removed since: the deletion is pending beside it.
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                return nil
            }
            var record =
                kept.systemFields[id.recordName].flatMap { try? Record(systemFields: $0) }
                ?? Record(recordType: TodoItem.recordType, recordID: id)
            item.write(to: &record)
            return record
        }
    }

    public func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        switch event {
        case .stateUpdate(let update): kept.engineState = update.stateSerialization
        case .accountChange(let change): accountChanged(change.changeType, syncEngine)
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions { zoneIsGone(deletion, syncEngine) }
            if changes.modifications.contains(where: { $0.zoneID == Self.zone.zoneID }) { kept.isPurged = nil }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { take(modification.record) }
            for one in changes.unopened { note(one.error) }
            for deletion in changes.deletions { takeDeletion(of: deletion.recordID.recordName) }
        case .sentDatabaseChanges(let sent):
            if sent.savedZones.contains(where: { $0.zoneID == Self.zone.zoneID }) { kept.isPurged = nil }
            for failed in sent.failedZoneSaves { note(failed.error) }
        case .sentRecordZoneChanges(let sent): wereSent(sent, syncEngine)
        case .didFetchRecordZoneChanges(let end): note(end.error)
        case .didFetchChanges(let end): note(end.error)
        case .didSendChanges(let end): note(end.error)
        default: return
        }
        // What cannot be written is told again after the next start: the engine's state is in that file as well.
        do { try kept.write(to: file) } catch { problems.append("\(file.path) cannot be written: \(error)") }
        tell()
    }

    // MARK: Account and zone

    private func accountChanged(_ change: SyncEngine.Event.AccountChange.ChangeType, _ engine: SyncEngine) {
        switch change {
        case .signIn:
            // What was written before anybody had signed in is this account's now.
            uploadAll(engine)
        case .signOut: kept = TodoFile()
        case .switchAccounts:
            // The list was another person's.
            kept = TodoFile()
            uploadAll(engine)
        }
    }

    private func zoneIsGone(_ deletion: SyncEngine.Event.FetchedDatabaseChanges.Deletion, _ engine: SyncEngine) {
        guard deletion.zoneID == Self.zone.zoneID else { return }
        kept.systemFields = [:]
        switch deletion.reason {
        case .encryptedDataReset:
            // The account has new keys and nothing under them: this device brings back what it has.
            uploadAll(engine)
        case .purged:
            // The user wants it gone everywhere.
            (kept.items, kept.unsent, kept.isPurged) = ([:], [], true)
        default:
            // Another device has thrown the list away. What was not sent yet is newer than that, and makes it anew.
            kept.items = kept.items.filter { kept.unsent.contains($0.key) }
            kept.unsent.formIntersection(kept.items.keys)
            if !kept.items.isEmpty { uploadAll(engine) }
        }
    }

    /// Whoever writes after the list was thrown away wants one again.
    func makeZoneAgain(_ engine: SyncEngine) {
        guard kept.isPurged == true, !kept.items.isEmpty else { return }
        engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    }

    private func uploadAll(_ engine: SyncEngine) {
        kept.unsent.formUnion(kept.items.keys)
        engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
        engine.state.add(pendingRecordZoneChanges: kept.unsent.map(pendingChange))
    }

    // MARK: What came

    /// Another device's version is merged with what this one has and has not sent.
    private func take(_ record: Record) {
        let name = record.recordID.recordName
        guard record.recordType == TodoItem.recordType, let theirs = TodoItem(record: record) else { return }
        kept.systemFields[name] = record.encodeSystemFields()
        guard kept.unsent.contains(name) else {
            kept.items[name] = theirs
            return
        }
        // Removed here, and not sent yet: it stays removed, on top of this version.
        kept.items[name]?.merge(theirs)
    }

    /// What was changed here and not sent yet is worth more than its removal elsewhere: it is saved as a new record.
    private func takeDeletion(of name: String) {
        kept.systemFields[name] = nil
        if !kept.unsent.contains(name) { kept.items[name] = nil }
    }

    // MARK: What became of what was sent

    private func wereSent(_ sent: SyncEngine.Event.SentRecordZoneChanges, _ engine: SyncEngine) {
        for record in sent.savedRecords {
            let name = record.recordID.recordName
            kept.systemFields[name] = record.encodeSystemFields()
            // Changed again since it was handed over: that is still to be sent.
            if kept.items[name] == TodoItem(record: record) { kept.unsent.remove(name) }
        }
        for id in sent.deletedRecordIDs {
            kept.systemFields[id.recordName] = nil
            if kept.items[id.recordName] == nil { kept.unsent.remove(id.recordName) }
        }
        // What the engine repeats by itself stays pending, and needs nothing.
        for failed in sent.failedRecordSaves where !failed.error.isRetriedBySyncEngine { saveFailed(failed, engine) }
        for (id, error) in sent.failedRecordDeletes where !error.isRetriedBySyncEngine {
            // Gone with its zone is gone.
            kept.unsent.remove(id.recordName)
            if ![.zoneNotFound, .unknownItem, .userDeletedZone].contains(error.code) { note(error) }
        }
    }

    private func saveFailed(_ failed: SyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: SyncEngine) {
        let id = failed.record.recordID
        switch failed.error.code {
        case .serverRecordChanged:
            if let server = failed.error.serverRecord { take(server) }
            engine.state.add(pendingRecordZoneChanges: [pendingChange(of: id.recordName)])
        case .userDeletedZone where kept.isPurged != true:
            // Written before this device was told that the list is gone everywhere.
            (kept.items[id.recordName], kept.systemFields[id.recordName]) = (nil, nil)
            kept.unsent.remove(id.recordName)
        case .zoneNotFound where failed.error.userDidResetEncryptedDataKey:
            // The account has new keys and nothing under them, which was not told yet: all of it goes again.
            kept.systemFields = [:]
            uploadAll(engine)
        case .zoneNotFound:
            kept.systemFields[id.recordName] = nil
            engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
            engine.state.add(pendingRecordZoneChanges: [pendingChange(of: id.recordName)])
        case .unknownItem:
            // Deleted meanwhile: made again.
            kept.systemFields[id.recordName] = nil
            engine.state.add(pendingRecordZoneChanges: [pendingChange(of: id.recordName)])
        default:
            // It stays unsent, and is tried again when the app starts next.
            note(failed.error)
        }
    }

    /// What does not verify among it is never passed over: the fetch stops before it, and the user is told who and why.
    private func note(_ error: SealKitError?) {
        guard let error, error.code != .partialFailure else { return }
        let text = error.remedy.isEmpty ? error.reason : "\(error.reason) (\(error.remedy))"
        if !problems.contains(text) { problems.append(text) }
    }
}
