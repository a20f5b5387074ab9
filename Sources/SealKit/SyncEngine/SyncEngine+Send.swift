extension SyncEngine {
    /// What became of single changes.
    struct Sent: Sendable {
        var failures: [SealKitError] = []
        /// How many were done.
        var done = 0

        /// All that was sent has failed, so that the same at once would fail again.
        var isInVain: Bool { done == 0 && !failures.isEmpty }

        /// Something of an atomic batch failed for good, and is pending no more: what failed only with it can go now.
        var leavesOthersBehind: Bool {
            failures.contains { $0.code == .batchRequestFailed } && failures.contains { !$0.isRetriedBySyncEngine }
        }

        fileprivate mutating func add(_ failures: [SealKitError], of count: Int) {
            self.failures += failures
            done += count - failures.count
        }
    }

    /// A send from the account to the end of what there is to send.
    /// - Throws: what has ended it.
    func send(_ options: SendChangesOptions, _ reason: SyncReason) async throws(SealKitError) -> Sent {
        let run = Run(database: try await settleAccount(), group: options.operationGroup)
        var sent = Sent()
        guard hasSomethingToSend(options.scope) else { return sent }
        let context = SendChangesContext(reason: reason, options: options)
        try await tell(.willSendChanges(Event.WillSendChanges(context: context)))
        var end: SealKitError?
        do throws(SealKitError) {
            try await sendDatabaseChanges(options, run, &sent)
            try await sendRecordZoneChanges(context, run, &sent)
        } catch {
            end = error
        }
        let failure = end ?? (sent.failures.isEmpty ? nil : SealKitError.partialFailure(sent.failures, of: "changes"))
        try await tell(.didSendChanges(Event.DidSendChanges(context: context, error: failure)))
        if let end { throw end }
        return sent
    }

    func hasSomethingToSend(_ scope: SendChangesOptions.Scope) -> Bool {
        let content = ownState.content
        return content.hasPendingUntrackedChanges || content.database.all.contains(where: scope.contains)
            || content.records.all.contains(where: scope.contains)
    }

    // MARK: Zones

    private static let zonesPerRequest = 400

    private func sendDatabaseChanges(
        _ options: SendChangesOptions, _ run: Run, _ sent: inout Sent
    ) async throws(SealKitError) {
        let moment = ownState.moment
        var parts = ownState.content.database.all.filter(options.scope.contains).inParts(of: SyncEngine.zonesPerRequest)
        while !parts.isEmpty {
            let part = parts.removeFirst()
            var saves: [RecordZone] = []
            var deletes: [RecordZone.ID] = []
            for change in part {
                switch change {
                case .saveZone(let zone): saves.append(zone)
                case .deleteZone(let id): deletes.append(id)
                }
            }
            let (saving, deleting) = (saves, deletes)
            var saved: [RecordZone.ID: Result<RecordZone, SealKitError>]
            var deleted: [RecordZone.ID: Result<Void, SealKitError>]
            do throws(SealKitError) {
                (saved, deleted) = try await call(run) { (database) async throws(SealKitError) in
                    let results = try await database.modifyRecordZones(saving: saving, deleting: deleting)
                    return (results.saveResults, results.deleteResults)
                }
            } catch {
                guard !error.isRetriedBySyncEngine else { throw error }
                if error.mayBeAnothersFault, part.count > 1 {
                    parts.insert(contentsOf: part.inParts(of: 1), at: 0)
                    continue
                }
                saved = Dictionary(uniqueKeysWithValues: saving.map { ($0.zoneID, .failure(error)) })
                deleted = Dictionary(uniqueKeysWithValues: deleting.map { ($0, .failure(error)) })
            }
            sent.add(try await take(part, saved, deleted, moment), of: part.count)
        }
    }

    private func take(
        _ part: [PendingDatabaseChange], _ saved: [RecordZone.ID: Result<RecordZone, SealKitError>],
        _ deleted: [RecordZone.ID: Result<Void, SealKitError>], _ moment: Int
    ) async throws(SealKitError) -> [SealKitError] {
        var zones: [RecordZone] = []
        var failedSaves: [Event.SentDatabaseChanges.FailedZoneSave] = []
        var gone: [RecordZone.ID] = []
        var failedDeletes: [RecordZone.ID: SealKitError] = [:]
        var finished: [PendingDatabaseChange] = []
        for change in part {
            var failure: SealKitError?
            switch change {
            case .saveZone(let zone):
                switch saved[zone.zoneID] ?? .failure(.lacking("\(zone.zoneID)")) {
                case .success(let zone): zones.append(zone)
                case .failure(let error):
                    failedSaves.append(.init(zone: zone, error: error))
                    failure = error
                }
            case .deleteZone(let id):
                switch deleted[id] ?? .failure(.lacking("\(id)")) {
                // Gone is what it was to be.
                case .failure(let error) where error.code != .zoneNotFound:
                    failedDeletes[id] = error
                    failure = error
                case .success, .failure: gone.append(id)
                }
            }
            if !(failure?.isRetriedBySyncEngine ?? false) { finished.append(change) }
        }
        let (done, deletedIDs) = (finished, gone)
        let made = Dictionary(zones.compactMap { zone in zone.incarnation.map { (zone.zoneID, $0) } }) { $1 }
        let event = Event.SentDatabaseChanges(
            savedZones: zones, failedZoneSaves: failedSaves, deletedZoneIDs: gone, failedZoneDeletes: failedDeletes)
        try await tell(
            .sentDatabaseChanges(event),
            before: { content in
                for change in done { _ = content.database.remove(change, addedBy: moment) }
                content.forget(deletedIDs)
                content.note(made)
            })
        return failedSaves.map(\.error) + failedDeletes.values
    }

    // MARK: Records

    private func sendRecordZoneChanges(
        _ given: SendChangesContext, _ run: Run, _ sent: inout Sent
    ) async throws(SealKitError) {
        var context = given
        // Zones that somebody was to be put out of first, and was not: nothing of them goes with this send any more.
        var held: Set<RecordZone.ID> = []
        while true {
            // What is added from here on may be newer than the values that the delegate is about to give.
            let moment = ownState.moment
            let current = context
            guard let batch = try await ask({ [self] in await $0.nextRecordZoneChangeBatch(current, syncEngine: self) })
            else { return }
            if let stray = batch.recordIDs.first(where: { !given.options.scope.covers($0) }) {
                throw SealKitError(
                    .invalidArguments, "the batch has a change of record \(stray) that was not asked for",
                    remedy: "give only what context.options.scope contains")
            }
            // What has failed goes again with the next send, when the app had a chance to mend it.
            let open = batch.without(context.options.scope.failed).refusing(held)
            guard !open.recordIDs.isEmpty else { return }
            held.formUnion(open.heldZones { open.refusals[$0] != nil })
            if !open.refusals.isEmpty { try await note(refused(open), &context, &sent, moment) }
            var requests = open.without(Set(open.refusals.keys)).requests
            while !requests.isEmpty {
                let next = requests.removeFirst().refusing(held)
                if !next.refusals.isEmpty { try await note(refused(next), &context, &sent, moment) }
                let request = next.without(Set(next.refusals.keys))
                guard request.count > 0 else { continue }
                let answer = try await send(request, run)
                held.formUnion(answer.request.heldZones { answer.shared[$0]?.isFailure ?? false })
                requests.insert(contentsOf: answer.again, at: 0)
                try await note(answer, &context, &sent, moment)
            }
        }
    }

    private func note(
        _ answer: Answer, _ context: inout SendChangesContext, _ sent: inout Sent, _ moment: Int
    ) async throws(SealKitError) {
        let failed = try await take(answer, moment)
        context.options.scope.failed.formUnion(failed.map(\.0))
        sent.add(failed.map(\.1), of: answer.request.count)
    }

    private struct Answer: Sendable {
        /// What of it was decided.
        var request: RecordZoneChangeBatch
        var saved: [Record.ID: Result<Record, SealKitError>] = [:]
        var shared: [Record.ID: Result<Share, SealKitError>] = [:]
        var deleted: [Record.ID: Result<Void, SealKitError>] = [:]
        /// Refused together, and not each for itself: to be sent in parts.
        var again: [RecordZoneChangeBatch] = []
    }

    private func refused(_ batch: RecordZoneChangeBatch) -> Answer {
        var answer = Answer(request: batch.only { batch.refusals[$0] != nil })
        answer.saved = batch.refusals.mapValues { .failure($0) }
        answer.shared = batch.refusals.mapValues { .failure($0) }
        answer.deleted = batch.refusals.mapValues { .failure($0) }
        return answer
    }

    /// - Throws: what says nothing of the changes, and leaves all of them pending.
    private func send(_ request: RecordZoneChangeBatch, _ run: Run) async throws(SealKitError) -> Answer {
        var answer = Answer(request: request)
        do throws(SealKitError) {
            (answer.saved, answer.shared, answer.deleted) = try await call(run) {
                (database) async throws(SealKitError) in
                try await database.modifyRecords(
                    saving: request.recordsToSave, shares: request.sharesToSave, deleting: request.recordIDsToDelete,
                    atomically: request.atomicByZone)
            }
        } catch {
            guard !error.isRetriedBySyncEngine else { throw error }
            if error.mayBeAnothersFault, let halves = request.halves {
                return Answer(request: RecordZoneChangeBatch(), again: halves)
            }
            answer.saved = Dictionary(request.recordsToSave.map { ($0.recordID, .failure(error)) }) { $1 }
            answer.shared = Dictionary(request.sharesToSave.map { ($0.recordID, .failure(error)) }) { $1 }
            answer.deleted = Dictionary(request.recordIDsToDelete.map { ($0, .failure(error)) }) { $1 }
            return answer
        }
        let refused = Set(answer.saved.filter(\.value.mayBeAnothersFault).keys).union(
            answer.deleted.filter(\.value.mayBeAnothersFault).keys
        ).union(answer.shared.filter(\.value.mayBeAnothersFault).keys)
        if let halves = request.only(refused.contains).halves {
            answer.request = request.without(refused)
            answer.again = halves
        }
        return answer
    }

    /// - Returns: what has failed.
    private func take(_ answer: Answer, _ moment: Int) async throws(SealKitError) -> [(Record.ID, SealKitError)] {
        let request = answer.request
        guard request.count > 0 else { return [] }
        var records: [Record] = []
        var failedSaves: [Event.SentRecordZoneChanges.FailedRecordSave] = []
        var gone: [Record.ID] = []
        var failedDeletes: [Record.ID: SealKitError] = [:]
        var finished: [PendingRecordZoneChange] = []
        for record in request.recordsToSave {
            let id = record.recordID
            switch answer.saved[id] ?? .failure(.lacking("\(id)")) {
            case .success(let stored): records.append(stored)
            case .failure(let error):
                failedSaves.append(.init(record: record, error: error))
                if error.isRetriedBySyncEngine { continue }
            }
            finished.append(.saveRecord(id))
        }
        var shares: [Share] = []
        var failedShares: [Event.SentRecordZoneChanges.FailedShareSave] = []
        for share in request.sharesToSave {
            let id = share.recordID
            switch answer.shared[id] ?? .failure(.lacking("\(id)")) {
            case .success(let stored): shares.append(stored)
            case .failure(let error):
                failedShares.append(.init(share: share, error: error))
                if error.isRetriedBySyncEngine { continue }
            }
            finished.append(.saveRecord(id))
        }
        for id in request.recordIDsToDelete {
            switch answer.deleted[id] ?? .failure(.lacking("\(id)")) {
            case .success: gone.append(id)
            case .failure(let error):
                failedDeletes[id] = error
                if error.isRetriedBySyncEngine { continue }
            }
            finished.append(.deleteRecord(id))
        }
        let done = finished
        // Also of a zone that was never fetched the app has these from now on: what was stored, and what it is to merge
        // with.
        let present =
            records + shares.map(\.fields) + failedSaves.compactMap(\.error.serverRecord)
            + failedShares.compactMap(\.error.serverRecord)
        let lives = Dictionary(
            present.compactMap { record in record.base.map { (record.recordID.zoneID, $0.statement.zoneIncarnation) } }
        ) { $1 }
        let event = Event.SentRecordZoneChanges(
            savedRecords: records, failedRecordSaves: failedSaves, savedShares: shares, failedShareSaves: failedShares,
            deletedRecordIDs: gone, failedRecordDeletes: failedDeletes)
        try await tell(
            .sentRecordZoneChanges(event),
            before: { content in
                for change in done { _ = content.records.remove(change, addedBy: moment) }
                content.note(lives)
            })
        return failedSaves.map { ($0.record.recordID, $0.error) }
            + failedShares.map { ($0.share.recordID, $0.error) } + failedDeletes.map { ($0.key, $0.value) }
    }
}

extension Result where Failure == SealKitError {
    fileprivate var mayBeAnothersFault: Bool {
        if case .failure(let error) = self { error.mayBeAnothersFault } else { false }
    }
}
