import Foundation
import SealKit
import SealLab

/// Records and assets through client and server, as separate processes over HTTP on SQLite with `synchronous=FULL`.
struct EndToEndBenchmark {
    static let records = 10_000
    static let batch = 400
    /// Batches in flight: sealing goes on while the server commits.
    static let inFlight = 3
    static let assetBytes = 256 << 20

    func run(_ part: String?, _ report: inout Report) async throws {
        report.heading(
            "Client and server over HTTP: two cores, both processes together",
            "Ratios are to what the core alone does with the same bytes on one core: seals them, or verifies and opens them."
        )
        let server = try ServerProcess.temporary()
        defer { server.remove() }
        let account = try await Account.create(transport: try HTTPTransport(server: server.origin), deviceName: "bench")
            .account
        let database = try Container("org.sealkit.bench", account: account).privateDatabase.fetchingAssets(.onDemand)
        // Assets first: memory is the peak of each process so far.
        if part != "records" { try await asset(database, server, &report) }
        if part != "assets" { try await saveAndFetch(database, account, &report) }
    }

    private func saveAndFetch(_ database: Database, _ account: Account, _ report: inout Report) async throws {
        var saving = Double.infinity
        var zone = RecordZone.ID()
        for run in 0..<3 {
            zone = try await database.save(RecordZone(zoneName: "bench-\(run)")).zoneID
            let batches = makeBatches(zone)
            let start = ContinuousClock.now
            try await save(batches, in: database)
            saving = min(saving, (ContinuousClock.now - start) / .seconds(1))
        }
        let limit = try RecordBenchmark(zone: BenchmarkZone()).rates(fields: 10, size: 100)
        let saved = Double(Self.records) / saving
        report.row("records of ten 100 B fields, the core alone seals", limit.sealed, "/s")
        report.row("sealed, saved, durable", saved, "/s", ratio: saved / limit.sealed, aim: .atLeast(0.5))

        var fetching = Double.infinity
        for _ in 0..<3 {
            // A device that has seen nothing: every roster, statement and field is verified anew.
            let fresh = try Container("org.sealkit.bench", account: account).privateDatabase.fetchingAssets(.onDemand)
            _ = try await fresh.recordZone(for: zone)
            let start = ContinuousClock.now
            var count = 0
            for try await page in fresh.allRecordZoneChanges(inZoneWith: zone) {
                for (_, result) in page.modifications where try result.get().encryptedValues.allKeys().count == 10 {
                    count += 1
                }
            }
            guard count == Self.records else { throw Mismatch(found: count) }
            fetching = min(fetching, (ContinuousClock.now - start) / .seconds(1))
        }
        let fetched = Double(Self.records) / fetching
        report.row("records of ten 100 B fields, the core alone opens", limit.opened, "/s")
        report.row("fetched, verified, opened", fetched, "/s", ratio: fetched / limit.opened, aim: .atLeast(0.6))
    }

    struct Mismatch: Error { let found: Int }

    private func makeBatches(_ zone: RecordZone.ID) -> [[Record]] {
        let text = String(repeating: "0123456789", count: 10)
        return stride(from: 0, to: Self.records, by: Self.batch).map { start in
            (start..<start + Self.batch).map { index in
                var record = Record(
                    recordType: "Note", recordID: Record.ID(recordName: "record-\(index)", zoneID: zone))
                for field in 0..<10 { record.encryptedValues["field\(field)"] = text }
                return record
            }
        }
    }

    private func save(_ batches: [[Record]], in database: Database) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = batches.makeIterator()
            for _ in 0..<Self.inFlight {
                guard let batch = rest.next() else { break }
                group.addTask { try await Self.save(batch, in: database) }
            }
            while try await group.next() != nil {
                if let batch = rest.next() { group.addTask { try await Self.save(batch, in: database) } }
            }
        }
    }

    private static func save(_ batch: [Record], in database: Database) async throws {
        for result in try await database.modifyRecords(saving: batch).saveResults.values { _ = try result.get() }
    }

    private func asset(_ database: Database, _ server: ServerProcess, _ report: inout Report) async throws {
        let folder = server.folder
        let file = folder.appendingPathComponent("asset")
        try Self.makeFile(file)
        let zone = try await database.save(RecordZone(zoneName: "assets")).zoneID
        var up = Double.infinity
        var down = Double.infinity
        for run in 0..<3 {
            let seconds = try await Self.transfer(file, named: "file-\(run)", zone, database)
            (up, down) = (min(up, seconds.up), min(down, seconds.down))
        }
        let megabytes = Double(Self.assetBytes) / 1_000_000
        // Before the limit is measured, whose buffers hold whole files.
        let memory = ServerProcess.megabytes("VmHWM", of: getpid())
        let limit = try AssetBenchmark().rates()
        report.row("an asset of 256 MiB, the core alone seals", limit.sealed, "MB/s")
        report.row(
            "up, sealed, durable", megabytes / up, "MB/s", ratio: megabytes / up / limit.sealed, aim: .atLeast(0.9))
        report.row("an asset of 256 MiB, the core alone opens", limit.opened, "MB/s")
        report.row(
            "down, checked, opened", megabytes / down, "MB/s", ratio: megabytes / down / limit.opened,
            aim: .atLeast(0.9))
        report.row("peak memory, server", server.peakMegabytes, "MiB", aim: .atMost(100))
        report.row("peak memory, client (this process)", memory, "MiB", aim: .atMost(100))
    }

    /// Seconds for a file that goes up, with its record, and comes down again beside itself.
    static func transfer(
        _ file: URL, named name: String, _ zone: RecordZone.ID, _ database: Database
    ) async throws -> (up: Double, down: Double) {
        var record = Record(recordType: "File", recordID: Record.ID(recordName: name, zoneID: zone))
        record["file"] = Asset(fileURL: file)
        var start = ContinuousClock.now
        try await database.save(record)
        let up = (ContinuousClock.now - start) / .seconds(1)
        let found: Asset? = try await database.record(for: record.recordID)["file"]
        let copy = file.appendingPathExtension("copy")
        guard let found else { throw Mismatch(found: 0) }
        start = ContinuousClock.now
        try await database.download(found, of: record.recordID, to: copy)
        let down = (ContinuousClock.now - start) / .seconds(1)
        try FileManager.default.removeItem(at: copy)
        return (up, down)
    }

    static func makeFile(_ url: URL) throws {
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        let handle = try FileHandle(forWritingTo: url)
        var state: UInt64 = 88_172_645_463_325_252
        var block = [UInt64](repeating: 0, count: (1 << 20) / 8)
        for _ in 0..<(Self.assetBytes >> 20) {
            for index in block.indices {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                block[index] = state
            }
            try handle.write(contentsOf: block.withUnsafeBytes { Data($0) })
        }
        try handle.close()
    }
}
