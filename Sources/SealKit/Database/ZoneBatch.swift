import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Saves and deletions of one zone, from drafts to results: seals, signs and sends them, and does it again when the key
/// or the roster has changed meanwhile, or when the save policy says to merge.
struct ZoneBatch {
    let database: Database
    let zoneID: RecordZone.ID
    let savePolicy: Database.SavePolicy
    let isAtomic: Bool
    let progress: (@Sendable (Int64, Int64) -> Void)?
    /// The records' values stay as they are; whoever has written one meanwhile has given it a new key too.
    var isRekeying = false

    var saveResults: [Record.ID: Result<Record, SealKitError>] = [:]
    var deleteResults: [Record.ID: Result<Void, SealKitError>] = [:]

    init(
        database: Database, zoneID: RecordZone.ID, savePolicy: Database.SavePolicy, isAtomic: Bool,
        progress: (@Sendable (Int64, Int64) -> Void)?
    ) {
        self.database = database
        self.zoneID = zoneID
        self.savePolicy = savePolicy
        // As with CloudKit, the default zone saves each record by itself.
        self.isAtomic = isAtomic && zoneID.zoneName != RecordZone.defaultName
        self.progress = progress
    }

    enum Item {
        case save(Record)
        case delete(Record.ID, Record.Base, recordType: String, changeTag: String)

        var id: Record.ID {
            switch self {
            case .save(let record): record.recordID
            case .delete(let id, _, _, _): id
            }
        }

        /// What its statement follows; nil for a record that is new.
        var base: Record.Base? {
            switch self {
            case .save(let record): record.base
            case .delete(_, let last, _, _): last
            }
        }

        func isNewer(than view: ZoneView) -> Bool {
            base.map { $0.statement.zoneIncarnation > view.roster.incarnations.zone } ?? false
        }
    }

    /// More rounds than a busy zone needs; each starts from what the server has just said.
    static let rounds = 8

    mutating func run(saving: [Record], deleting: [Record.ID]) async throws(SealKitError) {
        guard database.scope != .public else { return try await runPublic(saving: saving, deleting: deleting) }
        let keeper = try database.keeper(zoneID)
        var view = try await database.viewForWriting(keeper, zoneID)
        var records: [Record]
        (records, view) = try await verified(saving, view: view)
        try await AssetUploads(database: database, zoneID: zoneID, scope: view.scope, progress: progress).uploadNew(in: &records)

        var items = records.map { Item.save($0) }
        items += try await deletions(of: deleting)
        for round in 1...ZoneBatch.rounds where !items.isEmpty {
            // What was looked up just now may be of a newer life of the zone than the one that this began with.
            if items.contains(where: { $0.isNewer(than: view) }) { view = try await keeper.current() }
            // This device may have seen the zone's end, or that this account may not write: that may have changed since.
            if view.roster.isClosed || view.roster.permission(of: view.user) != .readWrite { view = try await keeper.refresh() }
            guard !view.roster.isClosed, view.roster.members[view.user] != nil else {
                throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)", remedy: "make it first")
            }
            if view.roster.rotationDue { view = try await database.rotate(zoneID) }
            items = try await complete(items, for: view)
            do {
                items = try await send(items, view: view, isLast: round == ZoneBatch.rounds)
            } catch {
                guard error.isBehindRoster, round < ZoneBatch.rounds else { throw error }
                view = try await keeper.refresh()
            }
        }
    }

    // MARK: Before sending

    /// Deletions are signed statements that follow the record's last one, so that is fetched first.
    mutating func deletions(of ids: [Record.ID]) async throws(SealKitError) -> [Item] {
        guard !ids.isEmpty else { return [] }
        var items: [Item] = []
        for (id, outcome) in try await database.look(up: ids, desiredKeys: []) {
            switch outcome {
            case .success(.record(let record)):
                guard let base = record.base else { continue }
                items.append(.delete(id, base, recordType: record.recordType, changeTag: record.recordChangeTag ?? ""))
            case .success(.deletion): deleteResults[id] = .success(())
            case .failure(let error) where error.code == .unknownItem: deleteResults[id] = .success(())
            case .failure(let error): deleteResults[id] = .failure(error)
            }
        }
        return items
    }

    /// A record that moves to a new epoch gets a new key, so every value that stays has to be at hand: fetch what is not.
    private func complete(_ items: [Item], for view: ZoneView) async throws(SealKitError) -> [Item] {
        let epoch = view.roster.currentEpoch.number
        var missing: [Record.ID] = []
        for case .save(let record) in items {
            guard let base = record.base, base.statement.kind == .save else { continue }
            if base.statement.epoch != epoch, !record.omittedKeys.isEmpty { missing.append(record.recordID) }
        }
        guard !missing.isEmpty else { return items }
        var full: [Record.ID: Outcome] = [:]
        for (id, outcome) in try await database.look(up: missing, desiredKeys: nil) { full[id] = outcome }
        var completed: [Item] = []
        for item in items {
            guard case .save(var record) = item, let outcome = full[record.recordID] else {
                completed.append(item)
                continue
            }
            switch outcome {
            case .failure(let error) where error.code != .unknownItem: throw error
            case .success(.record(let current)) where current.base?.hash == record.base?.hash:
                for key in record.omittedKeys { record.fields[key] = current.fields[key] }
                completed.append(.save(record))
            case .success, .failure:
                // It has changed meanwhile, or is gone: the server says so when it is sent, so what cannot be carried is left out of it.
                for key in record.omittedKeys { record.fields[key] = nil }
                completed.append(.save(record))
            }
        }
        return completed
    }

    private typealias Outcome = Database.Outcome

    // MARK: Sending

    /// One request. Returns the items that have to be sent again.
    private mutating func send(_ items: [Item], view: ZoneView, isLast: Bool) async throws(SealKitError) -> [Item] {
        let key = try view.currentKey()
        let items = livingNow(items, view: view)
        guard !items.isEmpty else { return [] }
        let drafts = items.map { draft($0, view: view) }
        var random = SystemRandom()
        let sealed: (records: [SealedRecord], signature: [UInt8])
        do {
            sealed = try RecordSealer.seal(
                drafts, epochKey: key, signingKey: database.core.identity().keys.signingKey, random: &random)
        } catch {
            throw SealKitError(
                .invalidArguments, "the records cannot be sealed (\(error))",
                remedy: "lists hold values of one kind; a record has at most 1000 fields")
        }
        let signed = zip(items, sealed.records).map { SignedRecord($1, of: $0) }
        let response = try await send(items, signed, signature: sealed.signature, zone: view.scope)
        return try await settle(items, (signed, sealed.signature), response.results, ground: .zone(view), isLast: isLast)
    }

    /// What was fetched in an earlier life of the zone is gone, keys included: it must not be sealed under them again.
    private mutating func livingNow(_ items: [Item], view: ZoneView) -> [Item] {
        var living: [Item] = []
        var hasFailed = false
        for item in items {
            guard let statement = item.base?.statement,
                statement.zoneIncarnation != view.roster.incarnations.zone || statement.scopeID != view.roster.scopeID
            else {
                living.append(item)
                continue
            }
            switch item {
            case .delete(let id, _, _, _): deleteResults[id] = .success(())
            case .save:
                hasFailed = true
                fail(
                    item,
                    SealKitError(
                        .unknownItem, "record \(item.id.recordName) was fetched before its zone was deleted and made again",
                        remedy: "save it as a new record"))
            }
        }
        guard isAtomic, hasFailed else { return living }
        for item in living { fail(item, ZoneBatch.batchFailed) }
        return []
    }

    private func draft(_ item: Item, view: ZoneView) -> RecordDraft {
        let scope = view.scope
        let roster = view.roster
        let user = database.core.userID()
        func statement(_ kind: Statement.Kind, _ id: Record.ID, type: String, base: Record.Base?, parent: String?) -> Statement {
            let previous = base?.statement
            // A record made again after its deletion goes on counting, with a new creator.
            let creator = previous?.kind == .save ? previous?.creator : nil
            return Statement(
                kind: kind, container: scope.container, environment: scope.environment, owner: scope.owner,
                zoneName: scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: id.recordName, recordType: type,
                creator: creator ?? user, author: user, clientTime: currentTime(), revision: (previous?.revision ?? 0) + 1,
                previous: base?.hash ?? .zero, scopeID: roster.scopeID, scopeIncarnation: roster.incarnations.scope,
                epoch: roster.currentEpoch.number, wrappedKey: [], rosterSequence: roster.sequence, rosterHead: roster.head,
                parent: parent, share: previous?.share, salt: ID16.zero, fieldsDigest: .zero)
        }
        switch item {
        case .delete(let id, let base, let type, _):
            return RecordDraft(
                statement: statement(.delete, id, type: type, base: base, parent: base.statement.parent), recordKey: nil, fields: [])
        case .save(let record):
            // Within an epoch the record's key stays and unchanged fields are carried; a new epoch makes a new key, and so
            // does the first write after the key was carried over from an earlier one.
            let base = record.base
            let keepsKey =
                base.map { base in
                    base.statement.kind == .save && base.statement.epoch == roster.currentEpoch.number && !base.statement.isKeyCarried
                } ?? false
            var fields: [(name: String, field: FieldDraft)] = []
            for key in record.fields.keys.sorted(by: FieldSet.isOrdered) {
                guard let state = record.fields[key] else { continue }
                if keepsKey, !record.changed.contains(key), let digest = base?.digests[key] {
                    fields.append((key, .carried(digest)))
                    continue
                }
                switch state {
                case .plain(let value): fields.append((key, .plain(value)))
                case .encrypted(let value): fields.append((key, .encrypted(value)))
                case .asset(let asset): if let sealed = asset.remote?.sealed { fields.append((key, .asset(sealed))) }
                case .omitted: if let digest = base?.digests[key] { fields.append((key, .carried(digest))) }
                }
            }
            return RecordDraft(
                statement: statement(
                    .save, record.recordID, type: record.recordType, base: base, parent: record.parent?.recordName),
                recordKey: keepsKey ? base?.recordKey : nil, fields: fields)
        }
    }
}
