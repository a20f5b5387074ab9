import Foundation
import SealKit

/// Records, by async functions. What concerns one record is in its result; a call that failed as a whole throws.
extension CKDatabase {
    /// - Throws: `unknownItem`, `zoneNotFound`, and what concerns the call.
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await inCloudKitsWords { try Self.only(try await fetch([recordID], desiredKeys: nil), recordID) }
    }

    /// - Parameters:
    ///   - ids: of the records.
    ///   - desiredKeys: nil for all fields, empty for system fields only.
    /// - Throws: `limitExceeded` above 400 IDs.
    public func records(
        for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await inCloudKitsWords { try await fetch(ids, desiredKeys: desiredKeys).mapValues(\.untyped) }
    }

    /// - Returns: the very record that was passed, with its new change tag.
    /// - Throws: `serverRecordChanged` with the three records, `zoneNotFound`, `permissionFailure`, …
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await inCloudKitsWords {
            try Self.only(
                try await modify(saving: [record], deleting: [], policy: .ifServerRecordUnchanged, isAtomic: true)
                    .saveResults, record.recordID)
        }
    }

    /// A record that is not there is no failure.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await inCloudKitsWords {
            try Self.only(
                try await modify(saving: [], deleting: [recordID], policy: .ifServerRecordUnchanged, isAtomic: true)
                    .deleteResults, recordID)
            return recordID
        }
    }

    /// - Parameters:
    ///   - recordsToSave: new ones, and ones that were changed.
    ///   - recordIDsToDelete: of records that are to go.
    ///   - savePolicy: what happens where the server has another version than the one that was changed.
    ///   - atomically: all of a zone or nothing: if one item fails, the others of its zone fail with
    ///     `batchRequestFailed`. A share that there is already comes after all else then: whoever is removed from it
    ///     can still read what was saved beside it. Otherwise it comes first where it takes a right away, and nothing
    ///     of its zone is saved where that fails.
    /// - Throws: `limitExceeded` above 400 items.
    @discardableResult
    public func modifyRecords(
        saving recordsToSave: [CKRecord] = [], deleting recordIDsToDelete: [CKRecord.ID] = [],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>], deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        try await inCloudKitsWords {
            let results = try await modify(
                saving: recordsToSave, deleting: recordIDsToDelete, policy: savePolicy, isAtomic: atomically)
            return (results.saveResults.mapValues(\.untyped), results.deleteResults.mapValues(\.untyped))
        }
    }

    /// - Parameters:
    ///   - query: which records, and in which order.
    ///   - zoneID: nil for all zones of the private database; the shared one is asked for one zone.
    ///   - desiredKeys: nil for all fields, empty for system fields only.
    ///   - resultsLimit: of one page; the server may give fewer.
    /// - Returns: matches in order, and where to go on; nil where that was all.
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await inCloudKitsWords {
            try await page(
                of: try await sealed(), matching: query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit
            ).untyped
        }
    }

    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await inCloudKitsWords {
            try await page(
                of: try await sealed(), after: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit
            ).untyped
        }
    }

    /// All matches, page by page.
    /// - Throws: also what one of them failed with: `records(matching:inZoneWith:desiredKeys:resultsLimit:)` goes on.
    @available(*, deprecated, renamed: "records(matching:inZoneWith:desiredKeys:resultsLimit:)")
    @_disfavoredOverload
    public func records(matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        try await inCloudKitsWords { try await everyMatch(query, in: zoneID) }
    }

    func everyMatch(_ query: CKQuery, in zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        let sealed = try await sealed()
        var page = try await page(
            of: sealed, matching: query, in: zoneID, desiredKeys: nil, limit: CKQueryOperation.maximumResults)
        var records = try page.matches.map { try $1.get() }
        while let cursor = page.cursor {
            page = try await self.page(
                of: sealed, after: cursor, desiredKeys: nil, limit: CKQueryOperation.maximumResults)
            records += try page.matches.map { try $1.get() }
        }
        return records
    }

    /// The result of the one item that was asked about.
    static func only<ID: Hashable, Value>(_ results: Results<ID, Value>, _ id: ID) throws -> Value {
        guard let result = results[id] else { throw lacks("\(id)") }
        return try result.get()
    }
}

extension CKDatabase.Page {
    var untyped: (matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?) {
        (matches.map { ($0, $1.untyped) }, cursor)
    }
}
