import Foundation
import SealKit

/// What the three faces of each call (async functions, completion handlers, operations) have in common.
extension CKDatabase {
    typealias Results<ID: Hashable, Value> = [ID: Result<Value, CKError>]

    /// Runs a call of SealKit's, failing in CloudKit's words.
    func inCloudKitsWords<T>(_ body: () async throws -> T) async throws(CKError) -> T {
        try await core.inWords(body)
    }

    // MARK: Records

    /// - Parameter begun: the journal's fetch, of a long-lived operation.
    func fetch(
        _ recordIDs: [CKRecord.ID], desiredKeys: [String]?, as begun: SealKit.LongLivedFetch? = nil
    ) async throws(SealKitError) -> Results<CKRecord.ID, CKRecord> {
        let database = try await sealed()
        let found: [SealKit.Record.ID: Result<SealKit.Record, SealKitError>]
        if let begun {
            found = try await begun.results()
        } else {
            found = try await database.records(for: recordIDs.map(\.sealed), desiredKeys: desiredKeys)
        }
        var results: Results<CKRecord.ID, CKRecord> = [:]
        results.reserveCapacity(recordIDs.count)
        var plain = PlainFaces()
        for id in recordIDs where results[id] == nil {
            guard let result = found[id.sealed] else { continue }
            do throws(SealKitError) {
                let record = try result.get()
                results[id] = .success(
                    record.isOfShare ? try await database.wholeFace(of: record) : plain.face(of: record))
            } catch {
                results[id] = .failure(core.words(error))
            }
        }
        return results
    }

    /// What gives the journal's modification of an operation that outlasts the process; nil for one that does not.
    typealias Journal = (
        _ saving: [any SavableRecord], _ deleting: [SealKit.Record.ID], _ database: SealKit.Database,
        _ core: ContainerCore
    ) async throws(SealKitError) -> SealKit.LongLivedModification?

    func modify(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, isAtomic: Bool, keptBy journal: Journal? = nil,
        progress: (@Sendable (_ recordID: SealKit.Record.ID, _ fraction: Double) -> Void)? = nil
    ) async throws(SealKitError) -> (
        saveResults: Results<CKRecord.ID, CKRecord>, deleteResults: Results<CKRecord.ID, Void>
    ) {
        let database = try await sealed()
        var sent: [SentRecord] = []
        sent.reserveCapacity(records.count)
        for record in records { sent.append(try await SentRecord(record, core)) }
        let results = try await modify(
            database, sent.map(\.savable), recordIDs.map(\.sealed), policy.sealed, isAtomic: isAtomic, journal,
            progress.map { RecordProgress($0) })
        var saveResults: Results<CKRecord.ID, CKRecord> = [:]
        for (record, sent) in zip(records, sent) {
            let id = record.recordID
            switch results.saveResults[id.sealed] {
            case .success(let stored): saveResults[id] = .success(sent.taking(stored))
            case .failure(let error):
                saveResults[id] = .failure(await database.face(of: sent.refusal ?? error, core))
            case nil: saveResults[id] = .failure(core.words(Self.lacks(id.recordName)))
            }
        }
        let deleteResults = Dictionary(
            recordIDs.map {
                ($0, core.words(results.deleteResults[$0.sealed] ?? .failure(Self.lacks($0.recordName))))
            }
        ) { first, _ in first }
        return (saveResults, deleteResults)
    }

    /// At once, or by the journal.
    private func modify(
        _ database: SealKit.Database, _ saving: [any SavableRecord], _ deleting: [SealKit.Record.ID],
        _ policy: SealKit.Database.SavePolicy, isAtomic: Bool, _ journal: Journal?,
        _ progress: RecordProgress?
    ) async throws(SealKitError) -> (
        saveResults: [SealKit.Record.ID: Result<any SavableRecord, SealKitError>],
        deleteResults: [SealKit.Record.ID: Result<Void, SealKitError>]
    ) {
        guard let begun = try await journal?(saving, deleting, database, core) else {
            return try await database.modifyRecords(
                saving: saving, deleting: deleting, savePolicy: policy, atomically: isAtomic,
                perRecordProgress: progress)
        }
        let results = try await begun.results(perRecordProgress: progress)
        return (results.saveResults.mapValues { $0.map { $0 as any SavableRecord } }, results.deleteResults)
    }

    static func lacks(_ name: String) -> SealKitError { .lacking(name) }

    // MARK: Queries

    struct Page {
        let matches: [(CKRecord.ID, Result<CKRecord, CKError>)]
        let cursor: CKQueryOperation.Cursor?
    }

    /// - Parameter database: one for all pages of a reading, so that all of it is one account's.
    func page(
        of database: SealKit.Database, matching query: CKQuery, in zoneID: CKRecordZone.ID?, desiredKeys: [String]?,
        limit: Int
    ) async throws(SealKitError) -> Page {
        let found = try await database.records(
            matching: try query.sealed(), inZoneWith: zoneID?.sealed, desiredKeys: desiredKeys, resultsLimit: limit)
        return await page(of: database, found)
    }

    func page(
        of database: SealKit.Database, after cursor: CKQueryOperation.Cursor, desiredKeys: [String]?, limit: Int
    ) async throws(SealKitError) -> Page {
        let found = try await database.records(
            continuingMatchFrom: cursor.sealed, desiredKeys: desiredKeys, resultsLimit: limit)
        return await page(of: database, found)
    }

    private func page(
        of database: SealKit.Database,
        _ found: (
            matchResults: [(SealKit.Record.ID, Result<SealKit.Record, SealKitError>)],
            queryCursor: SealKit.Query.Cursor?
        )
    ) async -> Page {
        Page(
            matches: await database.faces(of: found.matchResults, core),
            cursor: found.queryCursor.map { CKQueryCursor($0) })
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
    ) async throws(SealKitError) -> (
        modifications: [(CKRecord.ID, Result<CKRecord, CKError>)], changes: SealKit.Database.RecordZoneChanges
    ) {
        let database = try await sealed()
        let changes = try await database.recordZoneChanges(
            inZoneWith: zoneID.sealed, since: token?.sealed, desiredKeys: desiredKeys, resultsLimit: limit)
        return (await database.faces(of: changes.modifications, core), changes)
    }

    // MARK: Subscriptions

    func fetchSubscriptions(
        _ ids: [CKSubscription.ID]
    ) async throws(SealKitError) -> Results<CKSubscription.ID, CKSubscription> {
        each(ids, of: try await sealed().subscriptions(for: ids)) { CKSubscription.face(of: $0) }
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
                refused[subscription.subscriptionID] = .failure(core.words(error))
            }
        }
        let results = try await sealed().modifySubscriptions(saving: saving, deleting: ids)
        let saved = each(saving.map(\.subscriptionID), of: results.saveResults) { CKSubscription.face(of: $0) }
        return (saved.merging(refused) { $1 }, each(ids, of: results.deleteResults) { $0 })
    }

    /// Of each that was asked for, what an answer has: one that it passes over has failed.
    private func each<Sealed, Face>(
        _ ids: [CKSubscription.ID], of answer: [CKSubscription.ID: Result<Sealed, SealKitError>],
        _ face: (Sealed) -> Face
    ) -> Results<CKSubscription.ID, Face> {
        Dictionary(ids.map { ($0, core.words((answer[$0] ?? .failure(Self.lacks($0))).map(face))) }) { first, _ in
            first
        }
    }
}

extension Result where Failure == CKError {
    /// As CloudKit's functions give it.
    var untyped: Result<Success, any Error> { mapError { $0 } }
}
