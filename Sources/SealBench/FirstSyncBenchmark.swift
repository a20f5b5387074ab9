import Foundation
import SealKit
import SealLab

/// How long a new device needs until it has everything: the list of zones, then each zone from its start.
struct FirstSyncBenchmark {
    private static let zones = 100
    private static let recordsEach = 20
    private static let rounds = 5

    func run(_ report: inout Report) async throws {
        report.heading(
            "A new device's first sync of \(Self.zones) zones with \(Self.recordsEach) records each",
            "Every zone's roster, every statement and every field is fetched, verified and opened. Against one zone that holds as many records."
        )
        let server = try ServerProcess.temporary(
            arguments: ServerProcess.withoutRates)
        defer { server.remove() }
        let account = try await Account.create(transport: try HTTPTransport(server: server.origin), deviceName: "bench")
            .account
        let database = try Container("org.sealkit.bench", account: account).privateDatabase
        for index in 0..<Self.zones { try await fill("zone-\(index)", Self.recordsEach, database) }
        let many = try await best(of: account)
        let other = try await Account.create(transport: try HTTPTransport(server: server.origin), deviceName: "bench")
            .account
        try await fill(
            "all", Self.zones * Self.recordsEach, try Container("org.sealkit.bench", account: other).privateDatabase)
        let one = try await best(of: other)
        report.row("one zone", one * 1_000, "ms")
        report.row("\(Self.zones) zones", many * 1_000, "ms", ratio: many / one)
        report.row("of which each zone", (many - one) / Double(Self.zones) * 1_000, "ms")
    }

    private struct Mismatch: Error { let found: Int }

    private func fill(_ name: String, _ count: Int, _ database: Database) async throws {
        let zone = try await database.save(RecordZone(zoneName: name)).zoneID
        for start in stride(from: 0, to: count, by: EndToEndBenchmark.batch) {
            let records = (start..<min(count, start + EndToEndBenchmark.batch)).map { index in
                var record = Record(
                    recordType: "Note", recordID: Record.ID(recordName: "record-\(index)", zoneID: zone))
                record.encryptedValues["text"] = "record \(index) of \(name)"
                return record
            }
            for result in try await database.modifyRecords(saving: records).saveResults.values { _ = try result.get() }
        }
    }

    /// Seconds of the fastest of some rounds, each by a device that has seen nothing.
    private func best(of account: Account) async throws -> Double {
        var best = Double.infinity
        for _ in 0..<Self.rounds {
            let fresh = try Container("org.sealkit.bench", account: account).privateDatabase
            let start = ContinuousClock.now
            let found = try await sync(fresh)
            best = min(best, (ContinuousClock.now - start) / .seconds(1))
            guard found == Self.zones * Self.recordsEach else { throw Mismatch(found: found) }
        }
        return best
    }

    /// The records that came.
    private func sync(_ database: Database) async throws -> Int {
        var found = 0
        var token: ServerChangeToken?
        while true {
            let page = try await database.databaseChanges(since: token)
            for change in page.modifications { found += try await records(of: change.zoneID, database) }
            token = page.changeToken
            if !page.moreComing { return found }
        }
    }

    private func records(of zone: RecordZone.ID, _ database: Database) async throws -> Int {
        var found = 0
        var token: ServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
            for (_, result) in page.modifications where try result.get().encryptedValues["text"] != nil { found += 1 }
            token = page.changeToken
            if !page.moreComing { return found }
        }
    }
}
