public import Foundation
import SealPrimitives
import SealStatements

/// Saves and deletions that were begun, with `Database.beginModifyingRecords(saving:deleting:savePolicy:atomically:)`,
/// and go on until they are done: CloudKit's long-lived `CKModifyRecordsOperation`.
public struct LongLivedModification: Sendable {
    /// The records of the database that it was begun in, for whoever is signed in now.
    public let database: Database
    /// The records that are to be saved, as they were given.
    public let saving: [Record]
    /// The records that are to be deleted.
    public let deleting: [Record.ID]
    /// What happens where the server has another version than the one that was changed.
    public let savePolicy: Database.SavePolicy
    /// Whether all of a zone's changes are made or none.
    public let isAtomic: Bool
    private let rows: OperationRows
    private let input: JournaledInput

    init(
        database: Database, rows: OperationRows, input: JournaledInput, saving: [Record], deleting: [Record.ID],
        savePolicy: Database.SavePolicy, isAtomic: Bool
    ) {
        (self.database, self.rows, self.input) = (database, rows, input)
        (self.saving, self.deleting, self.savePolicy, self.isAtomic) = (saving, deleting, savePolicy, isAtomic)
    }

    /// The same in every process; of this device alone.
    public var operationID: String { rows.id.hex }

    /// When it was begun, by this device's clock.
    public var started: Date { Date(microseconds: input.started) }

    /// What it goes by in every process, unless it is called inside of a `configuredWith`: what the call went by that
    /// began it. Nil for CloudKit's defaults.
    public var configuration: OperationConfiguration? { input.configuration }

    /// Does what is left of it, and says what has become of all items, in this process or before: the same each time
    /// until ``end()``.
    ///
    /// - Parameters:
    ///   - progress: of what is left of asset uploads: bytes sent so far, and of all.
    ///   - perRecordProgress: of each record with new assets: how much of what is left has been sent.
    /// - Throws: what keeps it from going on for now, such as `networkFailure`, `operationCancelled` or
    ///   `notAuthenticated`, and `serverRejectedRequest` for what is no SealKit server's answer: ask again later.
    ///   `constraintViolation` while it is under way already; `internalError` for
    ///   a journal that is damaged: nothing was sent.
    public func results(
        progress: (@Sendable (_ sent: Int64, _ total: Int64) -> Void)? = nil,
        perRecordProgress: RecordProgress? = nil
    ) async throws(SealKitError) -> (
        saveResults: [Record.ID: Result<Record, SealKitError>], deleteResults: [Record.ID: Result<Void, SealKitError>]
    ) {
        try rows.journal.claim(rows.id)
        defer { rows.journal.release(rows.id) }
        return try await OperationContext.goingOn(by: configuration) { () async throws(SealKitError) in
            try await whatIsLeft(UploadProgress(all: progress, perRecord: perRecordProgress))
        }
    }

    private func whatIsLeft(
        _ progress: UploadProgress
    ) async throws(SealKitError) -> (
        saveResults: [Record.ID: Result<Record, SealKitError>], deleteResults: [Record.ID: Result<Void, SealKitError>]
    ) {
        try database.core.requireAccess(to: database.scope)
        let steps = try await rows.steps()
        let uploads = try UploadJournal(rows, of: saving, steps: steps)
        let saves = Dictionary(grouping: saving, by: \.recordID.zoneID)
        let deletes = Dictionary(grouping: deleting, by: \.zoneID)
        let zones = Set(saves.keys).union(deletes.keys).sorted {
            ($0.ownerName, $0.zoneName) < ($1.ownerName, $1.zoneName)
        }
        var results = ModificationResults()
        var loss: SealKitError?
        for (index, zone) in zones.enumerated() {
            let journal = ZoneJournal(rows: rows, uploads: uploads, zone: index)
            do throws(SealKitError) {
                results.merge(
                    try await outcome(
                        of: zone, saves[zone] ?? [], deletes[zone] ?? [], journal, steps: steps, progress: progress))
            } catch {
                // What there is for other zones does not wait for it.
                guard error.code == .rollback else { throw error }
                loss = loss ?? error
            }
        }
        if let loss { throw loss }
        try await rows.noteFinished()
        return (results.saves, results.deletions)
    }

    /// When all of its results were there first, by this device's clock.
    var finished: Date? {
        get async throws(SealKitError) { try await rows.finished().map { Date(microseconds: $0) } }
    }

    /// What one zone's items have become, noted before it is told.
    private func outcome(
        of zone: RecordZone.ID, _ saving: [Record], _ deleting: [Record.ID], _ journal: ZoneJournal,
        steps: [String: [UInt8]], progress: UploadProgress
    ) async throws(SealKitError) -> ModificationResults {
        if let outcome = try journal.outcome(in: steps) { return outcome }
        let kept = try journal.request(in: steps)
        try await database.core.requireAccount(for: database.scope)
        var batch = ZoneBatch(
            database: database, zoneID: zone, savePolicy: savePolicy, isAtomic: isAtomic, progress: progress)
        batch.journal = journal
        var results = ModificationResults()
        do throws(SealKitError) {
            if let kept { try await batch.takeUp(kept) }
            let left = (
                saving: saving.filter { batch.saveResults[$0.recordID] == nil },
                deleting: deleting.filter { batch.deleteResults[$0] == nil }
            )
            try await batch.run(saving: left.saving, deleting: left.deleting)
            results = ModificationResults(saves: batch.saveResults, deletions: batch.deleteResults)
        } catch {
            // What a zone's server has lost is nobody's outcome: it is told once, or lasts until a fork is ended. Nor
            // is what is no answer: a network's own page may come in its place. Nor what is said to pass.
            guard !error.isNoOutcome else { throw error }
            results = ModificationResults(saves: batch.finalSaves, deletions: batch.finalDeletions)
            for record in saving where results.saves[record.recordID] == nil {
                results.saves[record.recordID] = .failure(error)
            }
            for id in deleting where results.deletions[id] == nil { results.deletions[id] = .failure(error) }
        }
        // What the batch has saved or deleted beside is nothing that the app has asked for.
        let (saved, deleted) = (Set(saving.map(\.recordID)), Set(deleting))
        results.saves = results.saves.filter { saved.contains($0.key) }
        results.deletions = results.deletions.filter { deleted.contains($0.key) }
        if let obstacle = results.obstacle { throw obstacle }
        try await journal.hasEnded(results)
        return results
    }

    /// Forgets it: the app has what it needs of the results. Before there are any it gives the operation up: what was
    /// sent may or may not have been made. An operation that has ended already is no error.
    /// - Throws: `internalError`, `storageFull` where the journal cannot be written.
    public func end() async throws(SealKitError) { try await rows.journal.remove(rows.id) }
}
