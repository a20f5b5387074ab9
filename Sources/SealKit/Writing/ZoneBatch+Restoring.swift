import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Saving again what a restored server has lost (`SavePolicy.restoring`).
///
/// What is saved again is numbered later than everything that anybody has seen of the record, with a gap, so that every
/// device takes it for a later version, also one that has seen what this one has not.
extension ZoneBatch {
    /// What the server has of a record, good in itself, though it may be older than what this device has seen.
    private struct Found {
        let base: Record.Base
        /// nil for a deletion.
        let changeTag: String?

        init(base: Record.Base, changeTag: String?) {
            self.base = base
            self.changeTag = changeTag
        }

        init?(_ record: Record) {
            guard let base = record.base else { return nil }
            self.init(base: base, changeTag: record.recordChangeTag ?? "")
        }
    }

    /// Sorts out what the server has lost.
    /// - Returns: the records to save, and the deletions; what was not lost is settled, or saved as it is without this.
    mutating func lost(
        _ records: [Record], deleting: [Record.ID], _ ground: ZoneGround
    ) async throws(SealKitError) -> ([Record], [Item]) {
        let found = try await found(records.map(\.recordID) + deleting, ground)
        var saves: [Record] = []
        for record in records {
            let name = record.recordID.recordName
            switch found[name] {
            case .failure(let error): fail(.save(record), error)
            case .success(let stored):
                try await note(record.recordID, base: record.base, stored: stored?.base, ground)
                guard lost[name] != nil else {
                    if let base = record.base, base.hash == stored?.base.hash, record.changed.isEmpty {
                        saveResults[record.recordID] = .success(record)
                    } else {
                        saves.append(record)
                    }
                    continue
                }
                do { saves.append(try complete(record, over: stored)) } catch { fail(.save(record), error) }
            case nil: fail(.save(record), Database.unanswered(record.recordID))
            }
        }
        var (deletions, standIns): ([Item], [Record]) = ([], [])
        for id in deleting {
            switch found[id.recordName] {
            case .failure(let error)?: deleteResults[id] = .failure(error)
            case .success(let stored)?:
                if let stored, let tag = stored.changeTag {
                    try await note(id, base: nil, stored: stored.base, ground)
                    let type = stored.base.statement.recordType
                    deletions.append(.delete(id, stored.base, recordType: type, changeTag: tag))
                    continue
                }
                switch try await standIn(for: id, over: stored?.base, ground) {
                case .success(let record?): standIns.append(record)
                case .success(nil): deleteResults[id] = .success(())
                case .failure(let error): deleteResults[id] = .failure(error)
                }
            case nil: deleteResults[id] = .failure(Database.unanswered(id))
            }
        }
        guard isAtomic, saves.count + deletions.count + standIns.count < records.count + deleting.count, hasFailed
        else {
            deletions += try await saved(standIns)
            return (saves, deletions)
        }
        for record in saves { fail(.save(record), ZoneBatch.batchFailed) }
        for item in deletions { fail(item, ZoneBatch.batchFailed) }
        for record in standIns { deleteResults[record.recordID] = .failure(ZoneBatch.batchFailed) }
        return ([], [])
    }

    /// An empty record in the place of one that this device has seen, and of which the server has nothing left. It
    /// takes no deletion of what it does not have, and without one every device that has seen the record would go on
    /// missing it.
    /// - Parameter stored: an older deletion of it that the server has.
    /// - Returns: nil where nothing was lost; `rollback` for a record that was in a share's scope, into which an empty
    ///   one does not come.
    private func standIn(
        for id: Record.ID, over stored: Record.Base?, _ ground: ZoneGround
    ) async throws(SealKitError) -> Result<Record?, SealKitError> {
        guard let seen = try await database.core.trust.lastLiving(id.recordName, in: ground.place) else {
            return .success(nil)
        }
        if let stored, stored.statement.revision > seen.revision { return .success(nil) }
        guard seen.place.scopeID == ground.place.scope else {
            return .failure(
                SealKitError(
                    .rollback,
                    "the server has nothing left of the record \(id.recordName), which was in a hierarchy that is shared",
                    remedy: "save anything over it with the policy restoring and the parent it had, and delete that"))
        }
        return .success(Record(recordType: seen.recordType, recordID: id))
    }

    /// Saves them, numbered past what was lost. What stops before they are deleted leaves empty records, which are
    /// deleted as any others.
    /// - Returns: their deletions.
    private mutating func saved(_ standIns: [Record]) async throws(SealKitError) -> [Item] {
        guard !standIns.isEmpty else { return [] }
        var batch = ZoneBatch(
            database: database, zoneID: zoneID, savePolicy: .restoring, isAtomic: false, progress: .nobody)
        try await batch.run(saving: standIns, deleting: [])
        var items: [Item] = []
        for id in standIns.map(\.recordID) {
            switch batch.saveResults[id] {
            case .failure(let error)?: deleteResults[id] = .failure(error)
            case .success(let saved)?:
                guard let base = saved.base else {
                    deleteResults[id] = .failure(Database.unanswered(id))
                    continue
                }
                items.append(
                    .delete(id, base, recordType: saved.recordType, changeTag: saved.recordChangeTag ?? ""))
            case nil: deleteResults[id] = .failure(Database.unanswered(id))
            }
        }
        return items
    }

    /// Before anything is sent: a copy of less than this device has seen is signed where the server has more as well,
    /// and answers with that. Where it has lost it, it would take the copy, and every device that has seen more would
    /// refuse what it shows from then on.
    /// - Returns: those that go on; what was lost has failed.
    mutating func notLost(_ items: [Item], in place: ScopePlace) async throws(SealKitError) -> [Item] {
        guard savePolicy != .restoring else { return items }
        let saves = items.compactMap(\.saved)
        let seen = try await database.core.trust.lastRevisions(of: saves.map(\.recordID.recordName), in: place)
        let behind = saves.filter {
            RecordWriting.isBehind($0.base?.statement.revision, of: seen[$0.recordID.recordName])
        }
        guard !behind.isEmpty else { return items }
        var failures: [Record.ID: SealKitError] = [:]
        for (id, outcome) in try await database.look(up: behind.map(\.recordID), desiredKeys: []) {
            if case .failure(let error) = outcome, error.code == .rollback { failures[id] = error }
        }
        guard !failures.isEmpty else { return items }
        var going: [Item] = []
        for item in items { if let error = failures[item.id] { fail(item, error) } else { going.append(item) } }
        guard isAtomic else { return going }
        for item in going { fail(item, ZoneBatch.batchFailed) }
        return []
    }

    /// What the server has of each, whatever this device has seen since: that is what was lost.
    private func found(
        _ ids: [Record.ID], _ ground: ZoneGround
    ) async throws(SealKitError) -> [String: Result<Found?, SealKitError>] {
        try await database.remains(of: ids, in: ground, zoneID, desiredKeys: []).mapValues { result in
            result.map { outcome in
                switch outcome {
                case .record(let record)?: Found(record)
                case .unopened(let there)?: Found(there.record)
                case .deletion(_, _, let base)?: Found(base: base, changeTag: nil)
                case nil: nil
                }
            }
        }
    }

    /// Notes a record of which the server has less, or something else, than what is known of it here.
    private mutating func note(
        _ id: Record.ID, base: Record.Base?, stored: Record.Base?, _ ground: ZoneGround
    ) async throws(SealKitError) {
        let seen = try await database.core.trust.lastSeen(id.recordName, in: ground.place)
        // A copy of an earlier life of the zone says nothing of this one.
        let copied = base.flatMap { $0.statement.zoneIncarnation == ground.incarnation ? $0.version : nil }
        lost[id.recordName] = RecordWriting.Restored(
            seen: seen, copied: copied, stored: stored?.version, gap: .random(in: RecordWriting.Restored.gaps))
    }

    /// - Throws: `invalidArguments` where the copy lacks a key; `assetNotAvailable`.
    private func complete(_ copy: Record, over stored: Found?) throws(SealKitError) -> Record {
        var record = copy
        guard record.omittedKeys.isEmpty else {
            let keys = record.omittedKeys.sorted().joined(separator: ", ")
            throw SealKitError(
                .invalidArguments,
                "the copy of record \(record.recordID.recordName) was fetched without \(keys), and the server has lost it",
                remedy: "save a copy that has all keys, or set these")
        }
        for (key, state) in record.fields {
            guard case .asset(var asset) = state, let file = asset.fileURL,
                FileManager.default.fileExists(atPath: file.path)
            else { continue }
            // The server may have lost the asset with the record.
            asset.remote = nil
            record.fields[key] = .asset(asset)
        }
        record.recordChangeTag = stored?.changeTag
        if record.base == nil { record.base = stored?.base }
        return record
    }
}

extension Record.Base {
    fileprivate var version: (revision: UInt64, hash: Digest) { (statement.revision, hash) }
}
