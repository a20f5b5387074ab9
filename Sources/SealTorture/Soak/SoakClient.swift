import Foundation
import SealKit
import SealLab

/// One device with mixed work: it saves, changes, deletes, reads, looks up, queries, in a zone of its own, in one that
/// is shared with it and in the public database, and is cut off now and then.
actor SoakClient {
    private enum Work: String, CaseIterable {
        case save = "save a batch"
        case delete = "delete"
        case changes = "read changes"
        case lookUp = "look up"
        case query = "query"
        case asset = "save and read an asset"
        case contend = "change what others change"
        case savePublic = "save in public"
        case queryPublic = "query in public"
    }

    nonisolated let name: String
    nonisolated let isListening: Bool
    private let account: Account
    private let own: RecordZone.ID
    private let shared: RecordZone.ID
    private let asset: URL
    private let notes: SoakNotes
    private var random: SeededRandom
    private var container: Container?
    /// Records as this device knows them.
    private var copies: [Record.ID: Record] = [:]
    private var tokens: [RecordZone.ID: ServerChangeToken] = [:]
    /// Under names that no other device writes: the numbers that each may hold, nil where it may be absent. More than
    /// one where an answer did not come.
    private(set) var promises: [Record.ID: Set<Int?>] = [:]
    /// Records whose asset was acknowledged: nobody takes it away.
    private(set) var assets: Set<Record.ID> = []
    /// Of records that many change: the last turn that was acknowledged to this device. Nobody deletes them.
    private(set) var turns: [Record.ID: Int] = [:]
    /// In which life of the server it was last told of something.
    private(set) var heardIn: Int?

    init(
        name: String, account: Account, own: RecordZone.ID, shared: RecordZone.ID, asset: URL, isListening: Bool,
        notes: SoakNotes, random: SeededRandom
    ) {
        (self.name, self.account, self.own, self.shared, self.asset) = (name, account, own, shared, asset)
        (self.isListening, self.notes, self.random) = (isListening, notes, random)
    }

    /// What a client hears of a server that is killed, or of itself being cut off.
    private static let transient: Set<SealKitError.Code> = [
        .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable, .operationCancelled,
    ]

    /// The app's process, as long as it lives: what it had verified goes with it.
    private func opened() throws -> Container {
        if let container { return container }
        let opened = try Container(Soak.container, account: account)
        container = opened
        return opened
    }

    func hangUp() async {
        await noteViolations()
        container = nil
    }

    /// What its device has seen goes with the process.
    private func noteViolations() async {
        guard let container else { return }
        do { try await checkNoAccusation(container, by: name) } catch { notes.note(unexpected: "\(error)") }
    }

    /// Until it is cancelled.
    func work() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500 + random.below(3_000)))
            guard !Task.isCancelled, let work = random.one(of: Work.allCases) else { return }
            let isCut = random.chance(3)
            let task = Task { await self.run(work, isCut: isCut) }
            await withTaskCancellationHandler {
                if isCut {
                    try? await Task.sleep(for: .microseconds(random.below(20_000)))
                    task.cancel()
                    notes.noteCut()
                }
                await task.value
            } onCancel: {
                task.cancel()
            }
            // A process that was ended begins with nothing.
            guard isCut, random.chance(30) else { continue }
            // Which is not cut off with the work.
            await Task { await self.noteViolations() }.value
            (container, copies, tokens) = (nil, [:], [:])
        }
    }

    private func run(_ work: Work, isCut: Bool) async {
        let (life, start) = (notes.life, ContinuousClock.now)
        do {
            try await perform(work)
            if !isCut, !notes.isDown { notes.note(work.rawValue, took: ContinuousClock.now - start) }
        } catch let error as SealKitError {
            let isTransient = Self.transient.contains(error.code)
            guard !isTransient || !(isCut || Task.isCancelled || notes.isDown || notes.life != life) else { return }
            notes.note(unexpected: "\(name), \(work.rawValue): \(error)")
        } catch {
            notes.note(unexpected: "\(name), \(work.rawValue): \(error)")
        }
    }

    private func perform(_ work: Work) async throws {
        let container = try opened()
        let isShared = random.chance(30)
        let database = isShared ? container.sharedDatabase : container.privateDatabase
        let zone = isShared ? shared : own
        switch work {
        case .save: try await save((0..<(1 + random.below(10))).map { _ in ownID(zone) }, database)
        case .delete: try await delete(ownID(zone), database)
        case .changes: try await readOn(zone, database)
        case .lookUp:
            let results = try await database.records(for: (0..<10).map { _ in ownID(zone) })
            for (id, result) in results {
                switch result {
                case .success(let record):
                    try keep(record)
                    copies[id] = record
                case .failure(let error) where error.code == .unknownItem:
                    try know(id, holds: nil)
                    copies[id] = nil
                case .failure(let error): throw error
                }
            }
        case .query, .queryPublic:
            let place = work == .query ? database : container.publicDatabase
            let query = Query(
                recordType: "Note", predicate: try Query.Predicate("count > %@", random.below(1_000_000)),
                sortDescriptors: [.init(key: "count", ascending: true)])
            let found = try await place.records(
                matching: query, inZoneWith: work == .query ? zone : nil, resultsLimit: 50)
            for (_, result) in found.matchResults { try Self.examine(try result.get()) }
        case .asset:
            let id = Record.ID(recordName: "\(name)-asset", zoneID: zone)
            var record = Record(recordType: "Scan", recordID: id)
            record["scan"] = Asset(fileURL: asset)
            _ = try await database.modifyRecords(saving: [record], savePolicy: .allKeys).saveResults[id]?.get()
            assets.insert(id)
            let read = try await database.record(for: id)
            guard let file = (read["scan"] as? Asset)?.fileURL, try Data(contentsOf: file) == Data(contentsOf: asset)
            else { throw Finding("an asset comes back as something else") }
        case .contend: try await contend(Record.ID(recordName: "all-\(random.below(8))", zoneID: zone), database)
        case .savePublic:
            let id = Record.ID(recordName: "\(name)-\(random.below(5))")
            var record = Record(recordType: "Note", recordID: id)
            let count = random.below(1_000_000)
            record["count"] = count
            promises[id, default: [nil]].insert(count)
            let results = try await container.publicDatabase.modifyRecords(saving: [record], savePolicy: .allKeys)
                .saveResults
            guard let saved = try results[id]?.get() else { throw Finding("a save has no result") }
            try check((saved["count"] as? Int) == count, "a save in public comes back as something else")
            promises[id] = [count]
        }
    }

    private func ownID(_ zone: RecordZone.ID) -> Record.ID {
        Record.ID(recordName: "\(name)-\(random.below(30))", zoneID: zone)
    }

    // MARK: Records that only this device writes

    private func save(_ ids: [Record.ID], _ database: Database) async throws {
        var records: [Record] = []
        for id in Set(ids) {
            var record = copies[id] ?? Record(recordType: "Note", recordID: id)
            let count = random.below(1_000_000)
            Worker.fill(&record, with: count)
            records.append(record)
            // Until it is answered, either may be.
            promises[id, default: [nil]].insert(count)
        }
        let results = try await database.modifyRecords(saving: records, atomically: false).saveResults
        for record in records {
            switch results[record.recordID] {
            case .success(let saved): try keep(saved, isOwnSave: true)
            case .failure(let error) where error.code == .serverRecordChanged:
                guard let there = error.serverRecord else { throw error }
                try keep(there)
            // Somebody's copy of what was deleted: an answer that did not come.
            case .failure(let error) where error.code == .unknownItem:
                copies[record.recordID] = nil
                try know(record.recordID, holds: nil)
            case .failure(let error): throw error
            case nil: throw Finding("a save has no result")
            }
        }
    }

    private func delete(_ id: Record.ID, _ database: Database) async throws {
        promises[id, default: [nil]].insert(nil)
        let result = try await database.modifyRecords(saving: [], deleting: [id]).deleteResults[id]
        switch result {
        case .success: break
        case .failure(let error) where error.code == .unknownItem: break
        case .failure(let error): throw error
        case nil: throw Finding("a deletion has no result")
        }
        promises[id] = [nil]
        copies[id] = nil
    }

    private func keep(_ record: Record, isOwnSave: Bool = false) throws {
        copies[record.recordID] = record
        try Self.examine(record)
        guard let count = record["count"] as? Int else { throw Finding("a record has lost its number") }
        if isOwnSave { promises[record.recordID] = [count] } else { try know(record.recordID, holds: count) }
    }

    /// What is there now is one of what may be, and nothing else from now on.
    private func know(_ id: Record.ID, holds count: Int?) throws {
        guard id.recordName.hasPrefix("\(name)-") else { return }
        let allowed = promises[id] ?? [nil]
        try check(
            allowed.contains(count),
            "\(id.recordName) holds \(String(describing: count)), and \(allowed) was acknowledged")
        promises[id] = [count]
    }

    // MARK: Others

    private func contend(_ id: Record.ID, _ database: Database) async throws {
        var record = copies[id] ?? Record(recordType: "Note", recordID: id)
        Worker.fill(&record, with: random.below(1_000_000))
        // One more than in what it replaces: as nobody replaces what it has not seen, each turn is somebody's alone.
        let turn = (record["turn"] as? Int ?? 0) + 1
        record["turn"] = turn
        switch try await database.modifyRecords(saving: [record], atomically: false).saveResults[id] {
        case .success(let saved):
            copies[id] = saved
            let owner = try id.zoneID == shared ? shared.ownerName : opened().userRecordID().recordName
            try check(
                notes.isFirst(turn: turn, of: "\(owner) \(id.recordName)"),
                "turn \(turn) of \(id.recordName) was acknowledged twice: the first is gone")
            turns[id] = max(turns[id] ?? 0, turn)
        case .failure(let error) where error.code == .serverRecordChanged: copies[id] = error.serverRecord
        case .failure(let error): throw error
        case nil: throw Finding("a save has no result")
        }
    }

    private func readOn(_ zone: RecordZone.ID, _ database: Database) async throws {
        let page = try await database.fetchingAssets(.onDemand)
            .recordZoneChanges(inZoneWith: zone, since: tokens[zone], resultsLimit: 100)
        tokens[zone] = page.changeToken
        for (_, result) in page.modifications {
            let record = try result.get()
            if record.recordType == "Note" { try Self.examine(record) }
        }
    }

    /// Until it is cancelled: one stream, which comes again by itself after each kill.
    func listen() async {
        do {
            for try await notification in try opened().notifications() {
                guard case .fired = notification.content else { continue }
                notes.noteHeard()
                heardIn = notes.life
            }
            guard !Task.isCancelled else { return }
            notes.note(unexpected: "\(name): its stream has ended")
        } catch {
            guard !Task.isCancelled else { return }
            notes.note(unexpected: "\(name): its stream has ended: \(error)")
        }
    }

    // MARK: What records say

    /// Number and text come from one save.
    static func examine(_ record: Record) throws {
        guard let count = record["count"] as? Int, let body = record.encryptedValues["body"] as? String else { return }
        try check(body == Worker.body(of: count), "\(record.recordID.recordName) is of two saves")
    }
}
