import CloudKit

/// What the engine asks for and tells. It calls these one at a time, and waits for them.
extension Notes: CKSyncEngineDelegate {
    public func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            if let record = await self.record(id) { return record }
            // It was removed since: the deletion is pending beside it.
            syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
            return nil
        }
    }

    public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): kept.engineState = update.stateSerialization
        case .accountChange(let change): accountChanged(change.changeType, syncEngine)
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions { zoneIsGone(deletion, syncEngine) }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { take(modification.record) }
            for deletion in changes.deletions { takeDeletion(of: deletion.recordID.recordName) }
        case .sentDatabaseChanges(let sent): for failed in sent.failedZoneSaves { note(failed.error) }
        case .sentRecordZoneChanges(let sent): wereSent(sent, syncEngine)
        case .didFetchRecordZoneChanges(let end): note(end.error)
        default: return
        }
        // What cannot be written is told again after the next start: the engine's state is in that file as well.
        do { try kept.write(to: file) } catch { problems.append("\(file.path) cannot be written: \(error)") }
        tell()
    }

    // MARK: Account and zone

    private func accountChanged(_ change: CKSyncEngine.Event.AccountChange.ChangeType, _ engine: CKSyncEngine) {
        switch change {
        case .signIn:
            // What was written before anybody had signed in is this account's now.
            uploadAll(engine)
        case .signOut: kept = NotesFile()
        default:
            // Switched: the notes were another person's.
            kept = NotesFile()
            uploadAll(engine)
        }
    }

    private func zoneIsGone(_ deletion: CKDatabase.DatabaseChange.Deletion, _ engine: CKSyncEngine) {
        guard deletion.zoneID == Self.zoneID else { return }
        kept.systemFields = [:]
        switch deletion.reason {
        case .encryptedDataReset:
            // The account has new keys and nothing under them: this device brings back what it has.
            uploadAll(engine)
        case .purged:
            // The user wants it gone everywhere.
            (kept.notes, kept.unsent) = ([:], [])
        default:
            // Another device has thrown all notes away. What was not sent yet is newer than that, and makes them anew.
            kept.notes = kept.notes.filter { kept.unsent.contains($0.key) }
            kept.unsent.formIntersection(kept.notes.keys)
            if !kept.notes.isEmpty { uploadAll(engine) }
        }
    }

    private func uploadAll(_ engine: CKSyncEngine) {
        kept.unsent.formUnion(kept.notes.keys)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))])
        engine.state.add(pendingRecordZoneChanges: kept.unsent.map(pendingChange))
    }

    // MARK: What came

    /// Another device's version is merged with what this one has and has not sent.
    private func take(_ record: CKRecord) {
        let name = record.recordID.recordName
        guard let theirs = Note(record: record) else { return }
        kept.systemFields[name] = record.systemFields
        guard kept.unsent.contains(name) else {
            kept.notes[name] = theirs
            return
        }
        // Removed here, and not sent yet: it stays removed, on top of this version.
        kept.notes[name]?.merge(theirs)
    }

    /// What was changed here and not sent yet is worth more than its removal elsewhere: it is saved as a new record.
    private func takeDeletion(of name: String) {
        kept.systemFields[name] = nil
        if !kept.unsent.contains(name) { kept.notes[name] = nil }
    }

    // MARK: What became of what was sent

    private func wereSent(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine) {
        for record in sent.savedRecords {
            let name = record.recordID.recordName
            kept.systemFields[name] = record.systemFields
            // Changed again since it was handed over: that is still to be sent.
            if kept.notes[name] == Note(record: record) { kept.unsent.remove(name) }
        }
        for id in sent.deletedRecordIDs {
            kept.systemFields[id.recordName] = nil
            if kept.notes[id.recordName] == nil { kept.unsent.remove(id.recordName) }
        }
        for failed in sent.failedRecordSaves { saveFailed(failed, engine) }
        for (id, error) in sent.failedRecordDeletes {
            switch error.code {
            // Gone with its zone is gone.
            case .zoneNotFound, .unknownItem: kept.unsent.remove(id.recordName)
            default: note(error)
            }
        }
    }

    private func saveFailed(
        _ failed: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine
    ) {
        let (id, name) = (failed.record.recordID, failed.record.recordID.recordName)
        switch failed.error.code {
        case .serverRecordChanged:
            guard let server = failed.error.serverRecord else { return }
            take(server)
            engine.state.add(pendingRecordZoneChanges: [pendingChange(of: name)])
        case .zoneNotFound:
            kept.systemFields = [:]
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: id.zoneID))])
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        case .unknownItem:
            kept.systemFields[name] = nil
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        // The engine sends these again by itself.
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
            .operationCancelled, .requestRateLimited, .accountTemporarilyUnavailable, .batchRequestFailed:
            break
        default: note(failed.error)
        }
    }

    private func note(_ error: CKError?) {
        if let error { problems.append(error.localizedDescription) }
    }
}
