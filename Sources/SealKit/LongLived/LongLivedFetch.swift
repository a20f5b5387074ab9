public import Foundation
import SealPrimitives

extension Database {
    /// Begins to fetch records, for as long as it takes, whatever becomes of this process (<doc:LongLived>): what is to
    /// be fetched is on the disk, and ``LongLivedFetch/results()`` fetches it, in this process or in a later one.
    ///
    /// - Throws: `invalidArguments` for a container without a journal; `limitExceeded` above 400 ids, or for more than
    ///   the journal holds; `storageFull`.
    public func beginFetchingRecords(
        for recordIDs: [Record.ID], desiredKeys: [String]? = nil
    ) async throws(SealKitError) -> LongLivedFetch {
        try await beginFetchingRecords(for: recordIDs, desiredKeys: desiredKeys, operationID: nil)
    }

    /// - Parameter operationID: 32 hexadecimal digits, another one for each operation; nil makes one.
    package func beginFetchingRecords(
        for recordIDs: [Record.ID], desiredKeys: [String]?, operationID: String?
    ) async throws(SealKitError) -> LongLivedFetch {
        try Database.checkCount(recordIDs.count)
        let (rows, input) = try await begin(.fetch(recordIDs, desiredKeys: desiredKeys), operationID: operationID)
        return LongLivedFetch(
            database: self, rows: rows, input: input, recordIDs: recordIDs, desiredKeys: desiredKeys)
    }
}

/// Records that somebody began to fetch, with `Database.beginFetchingRecords(for:desiredKeys:)`: CloudKit's long-lived
/// `CKFetchRecordsOperation`.
public struct LongLivedFetch: Sendable {
    /// The one that it was begun in, for whoever is signed in now.
    public let database: Database
    /// Which records are to be fetched.
    public let recordIDs: [Record.ID]
    /// Their fields that are wanted; nil for all.
    public let desiredKeys: [String]?
    private let rows: OperationRows
    private let input: JournaledInput

    init(
        database: Database, rows: OperationRows, input: JournaledInput, recordIDs: [Record.ID], desiredKeys: [String]?
    ) {
        (self.database, self.rows, self.input) = (database, rows, input)
        (self.recordIDs, self.desiredKeys) = (recordIDs, desiredKeys)
    }

    /// The same in every process; of this device alone.
    public var operationID: String { rows.id.hex }

    /// When it was begun, by this device's clock.
    public var started: Date { Date(microseconds: input.started) }

    /// What it goes by in every process, unless it is called inside of a `configuredWith`: what the call went by that
    /// began it. Nil for CloudKit's defaults.
    public var configuration: OperationConfiguration? { input.configuration }

    /// Fetches the records, as they are now: a journal keeps none.
    /// - Throws: as `Database.records(for:desiredKeys:)`, and what keeps some of the records or their assets from
    ///   coming for now, such as `networkFailure` or `storageFull`: ask again later. `constraintViolation` while it is
    ///   under way already.
    public func results() async throws(SealKitError) -> [Record.ID: Result<Record, SealKitError>] {
        try rows.journal.claim(rows.id)
        defer { rows.journal.release(rows.id) }
        try database.core.requireAccess(to: database.scope)
        let results = try await OperationContext.goingOn(by: configuration) { () async throws(SealKitError) in
            try await database.records(for: recordIDs, desiredKeys: desiredKeys)
        }
        for case .failure(let error) in results.values where error.isObstacle { throw error }
        try await rows.noteFinished()
        return results
    }

    /// When it had its results first, by this device's clock.
    var finished: Date? {
        get async throws(SealKitError) { try await rows.finished().map { Date(microseconds: $0) } }
    }

    /// Forgets it. An operation that has ended already is no error.
    /// - Throws: `internalError`, `storageFull` where the journal cannot be written.
    public func end() async throws(SealKitError) { try await rows.journal.remove(rows.id) }
}
