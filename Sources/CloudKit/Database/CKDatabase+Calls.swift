import Foundation
import SealKit

/// What the three faces of each call (async functions, completion handlers, operations) have in common.
extension CKDatabase {
    typealias Results<ID: Hashable, Value> = [ID: Result<Value, CKError>]

    /// Runs a call of SealKit's, failing in CloudKit's words.
    func inCloudKitsWords<T>(_ body: () async throws -> T) async throws(CKError) -> T {
        do { return try await body() } catch {
            throw (error as? SealKitError).map { core.words($0) } ?? CKError(any: error)
        }
    }

    // MARK: Records

    func fetch(_ recordIDs: [CKRecord.ID], desiredKeys: [String]?) async throws(SealKitError) -> Results<
        CKRecord.ID, CKRecord
    > {
        let found = try await sealed().records(for: recordIDs.map(\.sealed), desiredKeys: desiredKeys)
        return Dictionary(
            recordIDs.compactMap { id in found[id.sealed].map { (id, core.words($0.map { CKRecord($0) })) } }
        ) { first, _ in first }
    }

    func modify(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, isAtomic: Bool,
        progress: (@Sendable (_ recordID: SealKit.Record.ID, _ fraction: Double) -> Void)? = nil
    ) async throws(SealKitError) -> (
        saveResults: Results<CKRecord.ID, CKRecord>, deleteResults: Results<CKRecord.ID, Void>
    ) {
        let sent = records.map { $0.box.sent() }
        let results = try await sealed().modifyRecords(
            saving: sent.map(\.record), deleting: recordIDs.map(\.sealed), savePolicy: policy.sealed,
            atomically: isAtomic, perRecordProgress: progress.map { RecordProgress($0) })
        var saveResults: Results<CKRecord.ID, CKRecord> = [:]
        for (record, sent) in zip(records, sent) {
            let id = record.recordID
            switch results.saveResults[id.sealed] {
            case .success(let stored):
                record.box.take(stored, of: sent)
                saveResults[id] = .success(record)
            case .failure(let error):
                saveResults[id] = .failure(core.words(sent.refusal ?? error))
            case nil: saveResults[id] = .failure(CKError(Self.lacks(id.recordName)))
            }
        }
        let deleteResults = Dictionary(
            recordIDs.map {
                ($0, core.words(results.deleteResults[$0.sealed] ?? .failure(Self.lacks($0.recordName))))
            }
        ) { first, _ in first }
        return (saveResults, deleteResults)
    }

    static func lacks(_ name: String) -> SealKitError {
        SealKitError(.serverRejectedRequest, "the server's answer lacks \(name)")
    }

    // MARK: Queries

    struct Page {
        let matches: [(CKRecord.ID, Result<CKRecord, CKError>)]
        let cursor: CKQueryOperation.Cursor?
    }

    func page(
        matching query: CKQuery, in zoneID: CKRecordZone.ID?, desiredKeys: [String]?, limit: Int
    ) async throws(SealKitError) -> Page {
        Page(
            try await sealed().records(
                matching: try query.sealed(), inZoneWith: zoneID?.sealed, desiredKeys: desiredKeys,
                resultsLimit: limit))
    }

    func page(
        after cursor: CKQueryOperation.Cursor, desiredKeys: [String]?, limit: Int
    ) async throws(SealKitError) -> Page {
        Page(
            try await sealed().records(
                continuingMatchFrom: cursor.sealed, desiredKeys: desiredKeys, resultsLimit: limit))
    }

    // MARK: Zones

    func fetchZones(_ zoneIDs: [CKRecordZone.ID]) async throws(SealKitError) -> Results<CKRecordZone.ID, CKRecordZone> {
        let found = try await sealed().recordZones(for: zoneIDs.map(\.sealed))
        return Dictionary(
            zoneIDs.compactMap { id in found[id.sealed].map { (id, core.words($0.map { CKRecordZone($0) })) } }
        ) { first, _ in first }
    }

    func allZones() async throws(SealKitError) -> [CKRecordZone] {
        try await sealed().allRecordZones().map { CKRecordZone($0) }
    }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID]
    ) async throws(SealKitError) -> (
        saveResults: Results<CKRecordZone.ID, CKRecordZone>, deleteResults: Results<CKRecordZone.ID, Void>
    ) {
        let results = try await sealed().modifyRecordZones(
            saving: zones.map(\.sealed), deleting: zoneIDs.map(\.sealed))
        return (
            Dictionary(
                zones.map { zone in
                    let result = results.saveResults[zone.zoneID.sealed] ?? .failure(Self.lacks(zone.zoneID.zoneName))
                    return (zone.zoneID, core.words(result.map { CKRecordZone($0) }))
                }
            ) { $1 },
            Dictionary(
                zoneIDs.map {
                    ($0, core.words(results.deleteResults[$0.sealed] ?? .failure(Self.lacks($0.zoneName))))
                }
            ) { $1 }
        )
    }

    // MARK: Feeds

    func changes(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, desiredKeys: [String]?, limit: Int?
    ) async throws(SealKitError) -> SealKit.Database.RecordZoneChanges {
        try await sealed().recordZoneChanges(
            inZoneWith: zoneID.sealed, since: token?.sealed, desiredKeys: desiredKeys, resultsLimit: limit)
    }

    // MARK: Subscriptions

    func fetchSubscriptions(
        _ ids: [CKSubscription.ID]
    ) async throws(SealKitError) -> Results<CKSubscription.ID, CKSubscription> {
        Self.each(ids, of: try await sealed().subscriptions(for: ids)) { CKSubscription.face(of: $0) }
    }

    func modifySubscriptions(
        _ subscriptions: [CKSubscription], deleting ids: [CKSubscription.ID]
    ) async throws(SealKitError) -> (
        saveResults: Results<CKSubscription.ID, CKSubscription>, deleteResults: Results<CKSubscription.ID, Void>
    ) {
        var saving: [any Subscription] = []
        var refused: Results<CKSubscription.ID, CKSubscription> = [:]
        for subscription in subscriptions {
            // What cannot be sent is that item's failure.
            do throws(SealKitError) { saving.append(try subscription.sealed()) } catch {
                refused[subscription.subscriptionID] = .failure(CKError(error))
            }
        }
        let results = try await sealed().modifySubscriptions(saving: saving, deleting: ids)
        let saved = Self.each(saving.map(\.subscriptionID), of: results.saveResults) { CKSubscription.face(of: $0) }
        return (saved.merging(refused) { $1 }, Self.each(ids, of: results.deleteResults) { $0 })
    }

    /// Of each that was asked for, what an answer has: one that it passes over has failed.
    private static func each<Sealed, Face>(
        _ ids: [CKSubscription.ID], of answer: [CKSubscription.ID: Result<Sealed, SealKitError>],
        _ face: (Sealed) -> Face
    ) -> Results<CKSubscription.ID, Face> {
        Dictionary(ids.map { ($0, (answer[$0] ?? .failure(lacks($0))).map(face).inCloudKitsWords) }) { first, _ in
            first
        }
    }
}

extension CKDatabase.Page {
    fileprivate init(
        _ page: (
            matchResults: [(SealKit.Record.ID, Result<SealKit.Record, SealKitError>)],
            queryCursor: SealKit.Query.Cursor?
        )
    ) {
        matches = page.matchResults.map { (CKRecordID($0), $1.map { CKRecord($0) }.inCloudKitsWords) }
        cursor = page.queryCursor.map { CKQueryCursor($0) }
    }
}

extension Result where Failure == SealKitError {
    var inCloudKitsWords: Result<Success, CKError> { mapError { CKError($0) } }
}

extension Result where Failure == CKError {
    /// As CloudKit's functions give it.
    var untyped: Result<Success, any Error> { mapError { $0 } }
}
