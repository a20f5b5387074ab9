import Foundation
import SealKit
import SealLab

/// The same server with its assets in a folder and in an S3 store, in turns: a file that a client seals and uploads,
/// and downloads, verifies and opens. The store runs on this machine too, and has its part of the processors.
struct S3Benchmark {
    private static let rounds = 3

    private struct Place {
        let server: ServerProcess
        let database: Database
        let zone: RecordZone.ID
        var (up, down) = (Double.infinity, Double.infinity)

        init(_ server: ServerProcess) async throws {
            self.server = server
            let account = try await Account.create(
                transport: try HTTPTransport(server: server.origin), deviceName: "bench"
            ).account
            database = try Container("org.sealkit.bench", account: account).privateDatabase.fetchingAssets(.onDemand)
            zone = try await database.save(RecordZone(zoneName: "assets")).zoneID
        }

        mutating func measure(_ file: URL, _ round: Int) async throws {
            let seconds = try await EndToEndBenchmark.transfer(file, named: "file-\(round)", zone, database)
            (up, down) = (min(up, seconds.up), min(down, seconds.down))
        }
    }

    func run(_ report: inout Report) async throws {
        report.heading(
            "Assets in an S3 store against files: 256 MiB through client and server, on loopback",
            "SeaweedFS of one server, on the same processors and the same disk; it does not sync what it writes, the folder does."
        )
        let store = try await S3Process()
        var places: [Place] = []
        defer { for place in places { place.server.remove() } }
        for arguments in [[], ["--blobs", store.url, "--s3-credentials", store.credentialsFile]] {
            places.append(try await Place(try ServerProcess.temporary(arguments: arguments)))
        }
        let file = places[0].server.folder.appendingPathComponent("asset")
        try EndToEndBenchmark.makeFile(file)
        for round in 0..<Self.rounds {
            for index in places.indices { try await places[index].measure(file, round) }
        }
        let (folder, other) = (places[0], places[1])
        let megabytes = Double(EndToEndBenchmark.assetBytes) / 1_000_000
        report.row("up, files", megabytes / folder.up, "MB/s")
        report.row("up, S3", megabytes / other.up, "MB/s", ratio: folder.up / other.up, aim: .atLeast(0.5))
        report.row("down, files", megabytes / folder.down, "MB/s")
        report.row("down, S3", megabytes / other.down, "MB/s", ratio: folder.down / other.down, aim: .atLeast(0.5))
        report.row("peak memory of the server, files", folder.server.peakMegabytes, "MiB")
        report.row(
            "peak memory of the server, S3", other.server.peakMegabytes, "MiB",
            aim: .atMost(folder.server.peakMegabytes + 64))
        await store.stop()
    }
}
