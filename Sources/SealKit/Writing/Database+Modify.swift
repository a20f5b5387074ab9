import Foundation
import SealPrimitives
import SealStatements
import SealWire

extension Database {
    /// CloudKit's `CKModifyRecordsOperation.RecordSavePolicy`.
    public enum SavePolicy: Int, Sendable {
        /// The record must not have changed since it was fetched.
        case ifServerRecordUnchanged = 0
        /// Changed keys are merged into whatever the server has.
        case changedKeys = 1
        /// All local keys replace the server's; keys that only the server has are kept. A record that does not open,
        /// whoever made it so, is replaced as a whole; the other policies refuse that (`integrityFailure`), since
        /// nothing could be merged into it.
        case allKeys = 2
        /// Not CloudKit's: the records, and deletions, are those that a server has lost which was restored from a
        /// backup. Each is saved again, all of it, over the older version that the server has, where this device has
        /// seen a later one; what the server has not lost stays as it is. To be deleted, a record of which the server
        /// has nothing left is made anew, empty: then no device goes on missing it. A copy lacking a key that it was
        /// fetched without is refused, and so is an asset whose file is neither here nor there.
        case restoring = 3
    }

    /// Saves one record.
    /// - Returns: the record as stored, with its new change tag.
    /// - Throws: `serverRecordChanged` with the server's record, `unknownItem`, `zoneNotFound`, `permissionFailure`, …
    @discardableResult
    public func save(_ record: Record) async throws(SealKitError) -> Record {
        let results = try await modifyRecords(saving: [record])
        return try results.saveResults[record.recordID].answered("record \(record.recordID.recordName)")
    }

    /// Deletes one record. An absent one is a success, as in CloudKit.
    /// - Throws: `zoneNotFound`, `permissionFailure`, …; what concerns the whole request, such as `networkFailure`.
    public func deleteRecord(withID recordID: Record.ID) async throws(SealKitError) {
        let results = try await modifyRecords(deleting: [recordID])
        try results.deleteResults[recordID]?.get()
    }

    /// Saves and deletes records, each zone in one signed batch.
    ///
    /// - Parameters:
    ///   - saving: new records, and fetched ones that were changed.
    ///   - deleting: of records; one that is not there is no failure.
    ///   - savePolicy: what is to happen where somebody else has saved meanwhile.
    ///   - atomically: all of a zone or nothing: if one item fails, the others fail with `batchRequestFailed`.
    ///     Otherwise the others are saved: what is wrong with one record, as an asset without its file, or a field's
    ///     name, is that record's failure alone. An atomic call ends a zone's share after the rest of the zone is
    ///     saved, and only where that has succeeded: its participants can still read what was saved. What is not for
    ///     them is saved in a call after it, or in one that is not atomic, which ends the share first. Whoever leaves a
    ///     share leaves it after the rest of the zone is saved. Where the end itself fails, what was saved before it
    ///     stays, and nothing is saved after it.
    ///   - progress: of asset uploads: bytes sent so far, and of all.
    ///   - perRecordProgress: of each record with new assets: how much of them has been sent.
    /// - Throws: `limitExceeded` above 400 items; `invalidArguments`; `notAuthenticated`, `networkFailure`,
    ///   `operationCancelled` and what else concerns the whole request and not its items. Cancelled, or without an
    ///   answer (`serverResponseLost`), a zone's batch may or may not have been stored; what was sent twice was stored
    ///   once.
    public func modifyRecords(
        saving: [Record] = [], deleting: [Record.ID] = [], savePolicy: SavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true, progress: (@Sendable (_ sent: Int64, _ total: Int64) -> Void)? = nil,
        perRecordProgress: RecordProgress? = nil
    ) async throws(SealKitError) -> (
        saveResults: [Record.ID: Result<Record, SealKitError>], deleteResults: [Record.ID: Result<Void, SealKitError>]
    ) {
        try await requireRequest(saving, deleting)

        var saveResults: [Record.ID: Result<Record, SealKitError>] = [:]
        saveResults.reserveCapacity(saving.count)
        var deleteResults: [Record.ID: Result<Void, SealKitError>] = [:]
        let saves = Database.byZone(saving)
        let deletes = Dictionary(grouping: deleting, by: \.zoneID)
        var zones = ZoneOutcomes()
        for zone in Set(saves.keys).union(deletes.keys) {
            // Default zones, the public database's among them, save each record by itself.
            let isAtomic = atomically && zone.zoneName != RecordZone.defaultName
            let batch = ZoneBatch(
                database: self, zoneID: zone, savePolicy: savePolicy, isAtomic: isAtomic,
                progress: UploadProgress(all: progress, perRecord: perRecordProgress))
            let done = await modifyZone(batch, saving: saves[zone] ?? [], deleting: deletes[zone] ?? [])
            saveResults.add(done.saves)
            deleteResults.add(done.deletions)
            if let failure = done.failure { zones.failed(failure) } else { zones.succeeded() }
        }
        try zones.throwCommonFailure()
        return (saveResults, deleteResults)
    }

    /// - Throws: what refuses a request as a whole, before anything of it is done.
    func requireRequest(_ saving: [Record], _ deleting: [Record.ID]) async throws(SealKitError) {
        try await core.requireAccount(for: scope)
        try Database.checkCount(saving.count + deleting.count)
        try RecordRules.checkNames(saving.map(\.recordID) + deleting)
    }

    /// Mostly all are of one zone: they stay together as they are.
    private static func byZone(_ records: [Record]) -> [RecordZone.ID: [Record]] {
        guard let zone = records.first?.recordID.zoneID, records.allSatisfy({ $0.recordID.zoneID == zone }) else {
            return Dictionary(grouping: records, by: \.recordID.zoneID)
        }
        return [zone: records]
    }

    /// What has come of one zone's items.
    private struct ZoneResults {
        var saves: [Record.ID: Result<Record, SealKitError>] = [:]
        var deletions: [Record.ID: Result<Void, SealKitError>] = [:]
        /// What concerns all of them, and has left nothing done.
        var failure: SealKitError?

        init() {}

        /// Nothing is done.
        init(_ saving: [Record], _ deleting: [Record.ID], failing error: SealKitError) {
            for record in saving { saves[record.recordID] = .failure(error) }
            for id in deleting { deletions[id] = .failure(error) }
            failure = error
        }

        var hasFailed: Bool {
            saves.values.contains(where: \.isFailure) || deletions.values.contains(where: \.isFailure)
        }
    }

    /// A share's record is not deleted like another one: who deletes a zone's stops sharing, or leaves. Neither can be
    /// taken back, so that in an atomic batch it comes after all else, and only where that has succeeded. Where nothing
    /// ties them together the owner stops sharing first: what is saved beside that is not for those who are put out.
    private func modifyZone(_ batch: ZoneBatch, saving: [Record], deleting: [Record.ID]) async -> ZoneResults {
        let isEnd = { (id: Record.ID) in id.recordName == Share.recordName && scope != .public }
        let (ends, others) = (deleting.filter(isEnd), deleting.filter { !isEnd($0) })
        guard let end = ends.first else { return await run(batch, saving: saving, deleting: others) }
        let isAlone = saving.isEmpty && others.isEmpty
        // Whoever has left a share saves nothing in it any more.
        let isFirst = scope == .private && !batch.isAtomic
        var results = ZoneResults()
        if !isAlone, !isFirst {
            results = await run(batch, saving: saving, deleting: others)
            guard !batch.isAtomic || !results.hasFailed else {
                results.deletions[end] = .failure(results.failure ?? ZoneBatch.batchFailed)
                return results
            }
        }
        let ended = await result(ofEnding: end, by: batch)
        if !isAlone, isFirst {
            // Whoever was to be put out first could read it.
            if case .failure(let error) = ended { return ZoneResults(saving, others + [end], failing: error) }
            results = await run(batch, saving: saving, deleting: others)
        }
        results.deletions[end] = ended
        switch ended {
        case .success: results.failure = nil
        case .failure(let error): if isAlone { results.failure = error }
        }
        return results
    }

    private func result(ofEnding share: Record.ID, by batch: ZoneBatch) async -> Result<Void, SealKitError> {
        do throws(SealKitError) { return .success(try await endShare(share, by: batch)) } catch {
            return .failure(error)
        }
    }

    private func run(_ batch: ZoneBatch, saving: [Record], deleting: [Record.ID]) async -> ZoneResults {
        var (batch, results) = (batch, ZoneResults())
        do {
            try await batch.run(saving: saving, deleting: deleting)
            (results.saves, results.deletions) = (batch.saveResults, batch.deleteResults)
        } catch {
            // What concerns one zone fails its items, except those that were stored before, or met another version;
            // other zones go on.
            let (saved, deleted) = (batch.finalSaves, batch.finalDeletions)
            if saved.isEmpty, deleted.isEmpty { return ZoneResults(saving, deleting, failing: error) }
            for record in saving { results.saves[record.recordID] = saved[record.recordID] ?? .failure(error) }
            for id in deleting { results.deletions[id] = deleted[id] ?? .failure(error) }
        }
        return results
    }
}

extension Dictionary {
    /// Mostly there is one zone's alone: nothing is hashed again.
    fileprivate mutating func add(_ others: Self) {
        if isEmpty { self = others } else { merge(others) { $1 } }
    }
}

extension ZoneBatch {
    /// What stays of a batch that something has stopped: what was stored before, or met another version.
    var finalSaves: [Record.ID: Result<Record, SealKitError>] { saveResults.filter(\.value.isFinal) }
    var finalDeletions: [Record.ID: Result<Void, SealKitError>] { deleteResults.filter(\.value.isSuccess) }
}

extension Result where Success == Record, Failure == SealKitError {
    /// It does not go again: it is stored, or the app has to merge it into what there is, or what it was a copy of is
    /// gone.
    fileprivate var isFinal: Bool {
        switch self {
        case .success: true
        case .failure(let error): error.serverRecord != nil || error.code == .unknownItem
        }
    }
}
