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
        /// seen a later one; what the server has not lost stays as it is. A copy lacking a key that it was fetched
        /// without is refused, and so is an asset whose file is neither here nor there.
        case restoring = 3
    }

    /// Saves one record.
    /// - Returns: the record as stored, with its new change tag.
    /// - Throws: `serverRecordChanged` with the server's record, `unknownItem`, `zoneNotFound`, `permissionFailure`, …
    @discardableResult
    public func save(_ record: Record) async throws(SealKitError) -> Record {
        let results = try await modifyRecords(saving: [record])
        guard let result = results.saveResults[record.recordID] else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks record \(record.recordID.recordName)")
        }
        return try result.get()
    }

    /// Deletes one record. An absent one is a success, as in CloudKit.
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
    ///     name, is that record's failure alone.
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
        try await core.requireAccount(for: scope)
        try Database.checkCount(saving.count + deleting.count)
        let ids = saving.map(\.recordID) + deleting
        guard Set(ids).count == ids.count else { throw RecordRules.twice }

        var saveResults: [Record.ID: Result<Record, SealKitError>] = [:]
        saveResults.reserveCapacity(saving.count)
        var deleteResults: [Record.ID: Result<Void, SealKitError>] = [:]
        let saves = Database.byZone(saving)
        // A share's record is not deleted like another one: who deletes it stops sharing, or leaves.
        let (ends, others) = await endShares(deleting)
        deleteResults.merge(ends) { $1 }
        let deletes = Dictionary(grouping: others, by: \.zoneID)
        var zones = ZoneOutcomes()
        if ends.values.contains(where: \.isSuccess) { zones.succeeded() }
        for zone in Set(saves.keys).union(deletes.keys) {
            // Default zones, the public database's among them, save each record by itself.
            let isAtomic = atomically && zone.zoneName != RecordZone.defaultName
            var batch = ZoneBatch(
                database: self, zoneID: zone, savePolicy: savePolicy, isAtomic: isAtomic,
                progress: UploadProgress(all: progress, perRecord: perRecordProgress))
            do {
                try await batch.run(saving: saves[zone] ?? [], deleting: deletes[zone] ?? [])
                saveResults.add(batch.saveResults)
                deleteResults.add(batch.deleteResults)
                zones.succeeded()
            } catch {
                // What concerns one zone fails its items, except those that were stored before, or met another version;
                // other zones go on.
                let (saved, deleted) = (batch.finalSaves, batch.finalDeletions)
                if saved.isEmpty, deleted.isEmpty { zones.failed(error) } else { zones.succeeded() }
                for record in saves[zone] ?? [] {
                    saveResults[record.recordID] = saved[record.recordID] ?? .failure(error)
                }
                for id in deletes[zone] ?? [] { deleteResults[id] = deleted[id] ?? .failure(error) }
            }
        }
        try zones.throwCommonFailure()
        return (saveResults, deleteResults)
    }

    /// Mostly all are of one zone: they stay together as they are.
    private static func byZone(_ records: [Record]) -> [RecordZone.ID: [Record]] {
        guard let zone = records.first?.recordID.zoneID, records.allSatisfy({ $0.recordID.zoneID == zone }) else {
            return Dictionary(grouping: records, by: \.recordID.zoneID)
        }
        return [zone: records]
    }
}

extension Dictionary {
    /// Mostly there is one zone's alone: nothing is hashed again.
    fileprivate mutating func add(_ others: Self) {
        if isEmpty { self = others } else { merge(others) { $1 } }
    }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
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

/// What a record must look like before anything is sealed.
enum RecordRules {
    static var twice: SealKitError {
        SealKitError(.invalidArguments, "a record appears twice in one request", remedy: "name each record once")
    }

    static func check(_ record: Record) throws(SealKitError) {
        func refuse(_ reason: String, _ remedy: String) -> SealKitError {
            SealKitError(.invalidArguments, "record \(record.recordID.recordName): \(reason)", remedy: remedy)
        }
        guard Names.isPlain(record.recordID.recordName) else {
            throw refuse("a record name has 1 to 255 printable ASCII characters", "choose another name")
        }
        guard Names.isRecordType(record.recordType) else {
            throw refuse(
                "\"\(record.recordType)\" is not a record type", "use a letter, then letters, digits and underscores")
        }
        guard record.parent?.recordName != record.recordID.recordName else {
            throw refuse("a record cannot be its own parent", "name another parent, or none")
        }
        guard record.fields.count <= Limits.fieldsPerRecord else {
            let (name, count) = (record.recordID.recordName, record.fields.count)
            throw SealKitError(
                .limitExceeded, "record \(name) has \(count) fields; \(Limits.fieldsPerRecord) are allowed",
                remedy: "keep some of them in another record")
        }
        for (key, state) in record.fields {
            guard Names.isIdentifier(key) else {
                throw refuse("\"\(key)\" is not a field name", "use a letter, then letters, digits and underscores")
            }
            guard !Names.isReservedField(key) else {
                throw refuse("the field name \(key) is CloudKit's own", "choose another name")
            }
            switch state {
            case .plain(let value), .encrypted(let value):
                switch value.fault {
                case .dateNotFinite?:
                    throw refuse("\(key) has a date that is no finite number", "set a date that there is")
                case .mixedList?:
                    throw refuse("\(key) is a list of several kinds, or of lists", "give all elements one kind")
                case nil: break
                }
            case .asset, .omitted: break
            }
            if case .encrypted(let value) = state, !value.tag.mayBeEncrypted {
                throw refuse(
                    "\(key) is a reference, and references cannot be encrypted values",
                    "set it as a plain field: the server follows references")
            }
            if case .asset(let asset) = state, asset.remote == nil, asset.fileURL == nil {
                throw refuse("the asset \(key) has no file", "make it with Asset(fileURL:)")
            }
        }
    }
}
