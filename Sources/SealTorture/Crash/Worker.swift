import Foundation
import SealKit
import SealLab

/// One device that writes as long as there is a server: new records, changed ones, stale ones, deletions, alone and in
/// batches, some with an asset, which may be large; under names of its own and under names that all devices fight for.
actor Worker {
    private let number: Int
    private let database: Database
    private let zones: [RecordZone.ID]
    private let journal: Journal
    private let assetFile: URL
    /// Is uploaded in parts.
    private let large: URL
    private var random: SeededRandom
    /// Records as this device knows them; some of them are behind.
    private var copies: [Record.ID: Record] = [:]
    private var tokens: [RecordZone.ID: ServerChangeToken] = [:]
    /// Some more than the names allow, so that records that nobody changes any more stay as well.
    private var fresh = 0

    init(
        number: Int, database: Database, zones: [RecordZone.ID], journal: Journal, assetFile: URL, large: URL,
        random: SeededRandom
    ) {
        self.number = number
        self.database = database
        self.zones = zones
        self.journal = journal
        self.assetFile = assetFile
        self.large = large
        self.random = random
    }

    /// What is refused in the ordinary course of things, or ends with the server.
    private static let expected: Set<SealKitError.Code> = [
        .serverRecordChanged, .unknownItem, .batchRequestFailed, .operationCancelled,
        // An old copy that is to replace everything, its asset too: somebody has replaced that, and its bytes are gone.
        .assetFileNotFound,
    ]

    /// Until the journal says that the server goes down.
    func run() async {
        while !journal.isDown {
            do {
                switch random.below(100) {
                case 0..<8: try await readOn()
                case 8..<10: try await saveLarge()
                default: try await write()
                }
            } catch {
                guard !journal.isDown else { return }
                note(error)
            }
        }
    }

    private func write() async throws(SealKitError) {
        guard let zone = random.one(of: zones) else { return }
        var names: Set<String> = []
        for _ in 0..<(random.chance(40) ? 1 : 2 + random.below(6)) { names.insert(name()) }
        var saves: [Record] = []
        var deletes: [Record.ID] = []
        for name in names.sorted() {
            let id = Record.ID(recordName: name, zoneID: zone)
            if random.chance(12) { deletes.append(id) } else { saves.append(record(id)) }
        }
        let policies: [Database.SavePolicy] = [
            .ifServerRecordUnchanged, .ifServerRecordUnchanged, .changedKeys, .allKeys,
        ]
        let results = try await database.modifyRecords(
            saving: saves, deleting: deletes, savePolicy: policies[random.below(policies.count)],
            atomically: random.chance(60))
        for (id, result) in results.saveResults {
            switch result {
            case .success(let record): copies[id] = record
            case .failure(let error): learn(id, error)
            }
        }
        for (id, result) in results.deleteResults {
            switch result {
            case .success: copies[id] = nil
            case .failure(let error): learn(id, error)
            }
        }
    }

    /// The one record of this device that has a large asset, with another one. An upload that a blow cuts short goes on
    /// at the next time.
    private func saveLarge() async throws(SealKitError) {
        guard let zone = zones.first else { return }
        let id = Record.ID(recordName: LargeAsset.recordName(of: number), zoneID: zone)
        var record = Record(recordType: "Note", recordID: id)
        record["scan"] = Asset(fileURL: large)
        Self.fill(&record, with: random.below(1_000_000))
        let results = try await database.modifyRecords(saving: [record], savePolicy: .allKeys).saveResults
        if case .failure(let error)? = results[id] { learn(id, error) }
    }

    private func learn(_ id: Record.ID, _ error: SealKitError) {
        switch error.code {
        // Half of the time it goes on with what it has, and fails again.
        case .serverRecordChanged: if random.chance(50) { copies[id] = error.serverRecord }
        // A copy from before another device replaced the asset has one that is nowhere any more.
        case .unknownItem, .assetFileNotFound, .assetNotAvailable: copies[id] = nil
        default: note(error)
        }
    }

    private func note(_ error: SealKitError) {
        if Self.expected.contains(error.code) || journal.excuses(error) { return }
        journal.note(unexpected: "\(error)")
    }

    private func name() -> String {
        switch random.below(10) {
        case 0..<5: return "own-\(number)-\(random.below(40))"
        case 5..<7: return "all-\(random.below(8))"
        default:
            fresh += 1
            return "new-\(number)-\(fresh)"
        }
    }

    private func record(_ id: Record.ID) -> Record {
        var record = copies[id].flatMap { random.chance(85) ? $0 : nil } ?? Record(recordType: "Note", recordID: id)
        if random.chance(4) { record["scan"] = Asset(fileURL: assetFile) }
        Self.fill(&record, with: random.below(1_000_000))
        return record
    }

    /// All fields follow from one number, so that a reader sees whether they come from one save.
    static func fill(_ record: inout Record, with count: Int) {
        record["count"] = count
        record.encryptedValues["body"] = body(of: count)
    }

    static func body(of count: Int) -> String { String(repeating: "text \(count) ", count: count % 60) }

    /// A device reads as well: whatever it is shown has to verify, and to follow what it has seen.
    private func readOn() async throws(SealKitError) {
        guard let zone = random.one(of: zones) else { return }
        let page: Database.RecordZoneChanges
        do {
            page = try await database.recordZoneChanges(
                inZoneWith: zone, since: tokens[zone], resultsLimit: random.chance(50) ? 1 + random.below(20) : nil)
        }
        tokens[zone] = page.changeToken
        for (id, result) in page.modifications { copies[id] = try result.get() }
        for (id, _) in page.deletions { copies[id] = nil }
    }
}
