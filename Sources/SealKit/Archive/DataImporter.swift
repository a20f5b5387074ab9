import Foundation
import SealPrimitives
import SealStatements

/// Saves one zone of an archive into the account's zone of the same name, in batches, parents before their children; or
/// what its exporter had made in the public database into that.
///
/// What is there already is left as it is, so that an import can be repeated: after it was cut short, or with a newer
/// archive.
struct DataImporter {
    private static let batchRecords = 50
    private static let batchBytes = 1 << 20

    let database: Database
    let entry: ArchiveFormat.Manifest.Zone
    let reader: ArchiveReader
    /// The exporter's user name: this account's takes its place.
    let formerUser: String
    let progress: @Sendable (_ records: Int) -> Void
    private(set) var result = Container.DataImport()

    private var zoneID: RecordZone.ID { RecordZone.ID(zoneName: entry.zoneName) }
    private var isPublic: Bool { database.scope == .public }
    private var linesName: String { "\(entry.folder)/\(ArchiveFormat.records)" }

    init(
        database: Database, entry: ArchiveFormat.Manifest.Zone, reader: ArchiveReader, formerUser: String,
        progress: @escaping @Sendable (_ records: Int) -> Void
    ) {
        self.database = database.fetchingAssets(.onDemand)
        (self.entry, self.reader, self.formerUser, self.progress) = (entry, reader, formerUser, progress)
    }

    private struct Batch {
        var records: [Record] = []
        var bytes = 0
        var names: Set<String> = []
    }

    mutating func run() async throws(SealKitError) {
        let about = try reader.zone(entry)
        let handle = try reader.verified(ArchiveFormat.records, of: entry)
        defer { try? handle.close() }
        let last = try await lastLines(of: Set(about.repeated), handle)
        if !isPublic { _ = try await database.save(RecordZone(zoneID: zoneID)) }
        // Children whose parents come later wait for the next time that the file is read.
        var waiting: Set<String>?
        repeat {
            let left = try await pass(handle, last: last, wanted: waiting)
            guard left.count < waiting?.count ?? Int.max else {
                throw SealKitError(
                    .referenceViolation,
                    "\(left.count) records of the archive's zone \(entry.zoneName) have parents that are not in it",
                    remedy: "import an archive of the whole zone; what was saved stays")
            }
            waiting = left
        } while waiting?.isEmpty == false
        result.zones = 1
    }

    /// Of records that changed while the zone was exported, the line that counts.
    private func lastLines(of repeated: Set<String>, _ handle: FileHandle) async throws(SealKitError) -> [String: Int] {
        guard !repeated.isEmpty else { return [:] }
        var last: [String: Int] = [:]
        try await reader.lines(of: handle, linesName) { number, line throws(SealKitError) in
            let record: ArchiveFormat.Record = try reader.decode(line, "line \(number) of \(linesName)")
            if repeated.contains(record.recordName) { last[record.recordName] = number }
        }
        try rewind(handle)
        return last
    }

    private func rewind(_ handle: FileHandle) throws(SealKitError) {
        do { try handle.seek(toOffset: 0) } catch { throw reader.refused(linesName, "cannot be read") }
    }

    /// - Returns: the records that wait for their parents.
    private mutating func pass(
        _ handle: FileHandle, last: [String: Int], wanted: Set<String>?
    ) async throws(SealKitError) -> Set<String> {
        try rewind(handle)
        var waiting: Set<String> = []
        var batch = Batch()
        var me = self
        try await reader.lines(of: handle, linesName) { number, line throws(SealKitError) in
            let name = "line \(number) of \(me.linesName)"
            let archived: ArchiveFormat.Record = try me.reader.decode(line, name)
            guard wanted?.contains(me.renamed(archived.recordName)) ?? true,
                last[archived.recordName] ?? number == number,
                archived.deleted != true
            else { return }
            guard !me.isPublic || !archived.isPrivate else {
                throw me.reader.refused(
                    name, "has a parent, a share or an encrypted value, which the public database has not")
            }
            let record = try me.record(archived)
            guard !batch.names.contains(record.recordID.recordName) else {
                throw me.reader.refused(name, "is about a record that came before")
            }
            let isFull = batch.records.count == Self.batchRecords || batch.bytes + line.count > Self.batchBytes
            if isFull, !batch.records.isEmpty {
                try await me.save(batch, waiting: &waiting)
                batch = Batch()
            }
            batch.records.append(record)
            batch.names.insert(record.recordID.recordName)
            batch.bytes += line.count
        }
        try await me.save(batch, waiting: &waiting)
        self = me
        return waiting
    }

    private func record(_ archived: ArchiveFormat.Record) throws(SealKitError) -> Record {
        let id = Record.ID(recordName: renamed(archived.recordName), zoneID: zoneID)
        var record = Record(recordType: archived.recordType, recordID: id)
        record.parent = archived.parent.map { Record.Reference(recordName: renamed($0)) }
        for (key, field) in archived.fields {
            switch field.content {
            case .value(let value):
                record.set(key, field.isEncrypted ? .encrypted(renamed(value)) : .plain(renamed(value)))
            case .asset(let asset): record[key] = Asset(fileURL: try reader.asset(asset, of: entry))
            }
        }
        return record
    }

    /// The user's own record has its user's name, which another account does not have.
    private func renamed(_ name: String) -> String { name == formerUser ? database.core.userID().recordName : name }

    private func renamed(_ value: Value) -> Value {
        switch value {
        case .reference(let reference):
            .reference(ReferenceValue(recordName: renamed(reference.recordName), action: reference.action))
        case .list(let elements): .list(elements.map(renamed))
        default: value
        }
    }

    private mutating func save(_ batch: Batch, waiting: inout Set<String>) async throws(SealKitError) {
        guard !batch.records.isEmpty else { return }
        // Of those that are refused as such, before anything is asked.
        for record in batch.records { try RecordRules.check(record) }
        let found = try await database.records(for: batch.records.map(\.recordID))
        var saving: [String: Record] = [:]
        for record in batch.records {
            switch found[record.recordID] {
            case .success(let present)?:
                if let filled = try compare(record, with: present) { saving[record.recordID.recordName] = filled }
            case .failure(let error)? where error.code == .unknownItem: saving[record.recordID.recordName] = record
            // It is there; what it is, its type's rights keep from this account.
            case .failure(let error)? where isPublic && error.code == .permissionFailure:
                result.differentPublic.append(record.recordID)
            case .failure(let error)?: throw error
            case nil:
                throw SealKitError.lacking("a record that was asked for")
            }
        }
        let parents = Set(saving.values.compactMap { $0.parent?.recordName }).subtracting(found.keys.map(\.recordName))
        var present = Set(found.filter { (try? $0.value.get()) != nil }.map(\.key.recordName))
        if !parents.isEmpty {
            let ids = parents.map { Record.ID(recordName: $0, zoneID: zoneID) }
            for (id, result) in try await database.records(for: ids, desiredKeys: []) where (try? result.get()) != nil {
                present.insert(id.recordName)
            }
        }
        // Whose parent is neither there nor coming along waits, and so does what is below it.
        while let orphan = saving.values.first(where: { record in
            record.parent.map { !present.contains($0.recordName) && saving[$0.recordName] == nil } ?? false
        }) {
            saving[orphan.recordID.recordName] = nil
            waiting.insert(orphan.recordID.recordName)
        }
        guard !saving.isEmpty else { return progress(result.records) }
        let results = try await database.modifyRecords(saving: Array(saving.values))
        let failures = results.saveResults.compactMap { id, outcome -> SealKitError? in
            guard case .failure(let error) = outcome else { return nil }
            return SealKitError(
                error.code, "record \(id.recordName) of the archive was not saved: \(error.reason)",
                remedy: error.remedy,
                retryAfter: error.retryAfter)
        }
        if let failure = failures.first(where: { $0.code != .batchRequestFailed }) ?? failures.first { throw failure }
        result.records += saving.count
        progress(result.records)
    }

    /// - Returns: what is to be saved all the same: the user's own record, which is there from the start, and empty.
    private mutating func compare(_ record: Record, with present: Record) throws(SealKitError) -> Record? {
        if database.isOwnUserRecord(record.recordID), present.fields.isEmpty, !record.fields.isEmpty {
            var filled = present
            for (key, state) in record.fields { filled.set(key, state) }
            return filled
        }
        let isMine = !isPublic || present.creatorUserRecordID?.recordName == database.core.userID().recordName
        let isSame = try isMine ? Self.isSame(record, present) : false
        if isSame {
            result.unchanged += 1
        } else if isPublic {
            result.differentPublic.append(record.recordID)
        } else {
            result.different.append(record.recordID)
        }
        return nil
    }

    private static func isSame(_ archived: Record, _ present: Record) throws(SealKitError) -> Bool {
        guard archived.recordType == present.recordType, archived.parent?.recordName == present.parent?.recordName,
            archived.fields.count == present.fields.count
        else { return false }
        for (key, state) in archived.fields { guard try isSame(state, present.fields[key]) else { return false } }
        return true
    }

    private static func isSame(_ archived: Record.FieldState, _ present: Record.FieldState?) throws(SealKitError)
        -> Bool
    {
        switch (archived, present) {
        case (.plain(let one), .plain(let other)?), (.encrypted(let one), .encrypted(let other)?):
            // Not by `==`, for which a NaN is none.
            return (try? one.canonicalBytes()) == (try? other.canonicalBytes())
        case (.asset(let one), .asset(let other)?):
            guard let file = one.fileURL, let content = other.remote?.content else { return false }
            return try content.isMade(of: AssetFile(file))
        default: return false
        }
    }
}

extension ArchiveFormat.Record {
    /// It has something that the public database has not.
    fileprivate var isPrivate: Bool { parent != nil || share != nil || fields.values.contains(where: \.isEncrypted) }
}
