import CloudKit

/// What the engines ask for and tell. Each calls these one at a time, and waits for them.
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
        case .stateUpdate(let update):
            kept.engineStates[syncEngine.database.databaseScope.rawValue] = update.stateSerialization
        case .accountChange(let change): accountChanged(change.changeType, syncEngine)
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions { zoneIsGone(deletion, syncEngine) }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { take(modification.record) }
            for deletion in changes.deletions where deletion.recordType == Note.recordType {
                takeDeletion(of: NoteID(deletion.recordID))
            }
        case .sentDatabaseChanges(let sent): for failed in sent.failedZoneSaves { note(failed.error) }
        case .sentRecordZoneChanges(let sent): await wereSent(sent, syncEngine)
        case .didFetchRecordZoneChanges(let end): note(end.error)
        default: return
        }
        // What cannot be written is told again after the next start: the engines' states are in that file as well.
        do { try kept.write(to: file) } catch { problems.append("\(file.path) cannot be written: \(error)") }
        tell()
    }

    // MARK: Account and zones

    /// Each engine tells it, for what is in its own database.
    private func accountChanged(_ change: CKSyncEngine.Event.AccountChange.ChangeType, _ engine: CKSyncEngine) {
        let isOwn = engine.database.databaseScope == .private
        // What was written before anybody had signed in is this account's now; otherwise it was another person's.
        if case .signIn = change {} else { kept.notebooks = kept.notebooks.filter { ($0.key == Self.own) != isOwn } }
        if case .signOut = change { return }
        if isOwn { uploadAll(engine) }
    }

    private func zoneIsGone(_ deletion: CKDatabase.DatabaseChange.Deletion, _ engine: CKSyncEngine) {
        let owner = deletion.zoneID.ownerName
        guard deletion.zoneID == Self.zoneID(of: owner) else { return }
        guard owner == Self.own else {
            // It is not shared any more.
            kept.notebooks[owner] = nil
            return
        }
        var notebook = kept.notebooks[owner] ?? Notebook()
        notebook.systemFields = [:]
        switch deletion.reason {
        // The account has new keys and nothing under them: this device brings back what it has.
        case .encryptedDataReset: break
        // The user wants it gone everywhere.
        case .purged: notebook = Notebook()
        default:
            // Another device has thrown all notes away. What was not sent yet is newer than that, and makes them anew.
            notebook.notes = notebook.notes.filter { notebook.unsent.contains($0.key) }
            notebook.unsent.formIntersection(notebook.notes.keys)
        }
        kept.notebooks[owner] = notebook
        if !notebook.notes.isEmpty { uploadAll(engine) }
    }

    private func uploadAll(_ engine: CKSyncEngine) {
        var notebook = kept.notebooks[Self.own] ?? Notebook()
        notebook.unsent.formUnion(notebook.notes.keys)
        kept.notebooks[Self.own] = notebook
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID(of: Self.own)))])
        engine.state.add(
            pendingRecordZoneChanges: notebook.unsent.map { pendingChange(of: NoteID(notebook: Self.own, name: $0)) })
    }

    private func changeNotebook(_ owner: String, _ body: (inout Notebook) -> Void) {
        body(&kept.notebooks[owner, default: Notebook()])
    }

    // MARK: What came

    /// Another device's version is merged with what this one has and has not sent.
    private func take(_ record: CKRecord) {
        let id = NoteID(record.recordID)
        guard let theirs = Note(record: record) else { return }
        changeNotebook(id.notebook) { notebook in
            notebook.systemFields[id.name] = record.systemFields
            guard notebook.unsent.contains(id.name) else {
                notebook.notes[id.name] = theirs
                return
            }
            // Removed here, and not sent yet: it stays removed, on top of this version.
            notebook.notes[id.name]?.merge(theirs)
        }
    }

    /// What was changed here and not sent yet is worth more than its removal elsewhere: it is saved as a new record.
    private func takeDeletion(of id: NoteID) {
        changeNotebook(id.notebook) { notebook in
            notebook.systemFields[id.name] = nil
            if !notebook.unsent.contains(id.name) { notebook.notes[id.name] = nil }
        }
    }

    // MARK: What became of what was sent

    private func wereSent(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine) async {
        for record in sent.savedRecords {
            let id = NoteID(record.recordID)
            changeNotebook(id.notebook) { notebook in
                notebook.systemFields[id.name] = record.systemFields
                // Changed again since it was handed over: that is still to be sent.
                if notebook.notes[id.name] == Note(record: record) { notebook.unsent.remove(id.name) }
            }
        }
        for recordID in sent.deletedRecordIDs {
            let id = NoteID(recordID)
            changeNotebook(id.notebook) { notebook in
                notebook.systemFields[id.name] = nil
                if notebook.notes[id.name] == nil { notebook.unsent.remove(id.name) }
            }
        }
        for failed in sent.failedRecordSaves { await saveFailed(failed, engine) }
        for (recordID, error) in sent.failedRecordDeletes {
            switch error.code {
            // Gone with its zone is gone.
            case .zoneNotFound, .unknownItem:
                changeNotebook(recordID.zoneID.ownerName) { _ = $0.unsent.remove(recordID.recordName) }
            case .permissionFailure: await takeBack(recordID, engine)
            default: note(error)
            }
        }
    }

    private func saveFailed(
        _ failed: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine
    ) async {
        let id = NoteID(failed.record.recordID)
        switch failed.error.code {
        case .serverRecordChanged:
            guard let server = failed.error.serverRecord else { return }
            take(server)
            engine.state.add(pendingRecordZoneChanges: [pendingChange(of: id)])
        case .zoneNotFound where id.notebook == Self.own:
            changeNotebook(id.notebook) { $0.systemFields = [:] }
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID(of: Self.own)))])
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id.recordID)])
        // It is not shared any more; the next fetch says so as well.
        case .zoneNotFound: kept.notebooks[id.notebook] = nil
        case .unknownItem:
            changeNotebook(id.notebook) { $0.systemFields[id.name] = nil }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id.recordID)])
        case .permissionFailure: await takeBack(id.recordID, engine)
        // The engine sends these again by itself.
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
            .operationCancelled, .requestRateLimited, .accountTemporarilyUnavailable, .batchRequestFailed:
            break
        default: note(failed.error)
        }
    }

    /// In a notebook that may only be read what was done here is undone: the note is what its owner has.
    private func takeBack(_ recordID: CKRecord.ID, _ engine: CKSyncEngine) async {
        let id = NoteID(recordID)
        do {
            let record = try await engine.database.record(for: recordID)
            changeNotebook(id.notebook) { _ = $0.unsent.remove(id.name) }
            take(record)
        } catch CKError.unknownItem {
            changeNotebook(id.notebook) { notebook in
                notebook.unsent.remove(id.name)
                notebook.notes[id.name] = nil
            }
        } catch {
            problems.append(error.localizedDescription)
        }
        problems.append("These notes may only be read: what was changed in them is as it was.")
    }

    private func note(_ error: CKError?) {
        if let error { problems.append(error.localizedDescription) }
    }
}
