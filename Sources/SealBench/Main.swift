import Foundation
import SealPrimitives

@main
struct SealBench {
    /// `SealBench core`, `SealBench end-to-end`, `SealBench server`, `SealBench changes`, `SealBench first-sync`,
    /// `SealBench streams`, `SealBench sharing`, `SealBench removal`, `SealBench verification`, `SealBench cloudkit`,
    /// `SealBench telemetry`, or one part of the first two alone (`records`, `assets`; `sealing`, `statements`,
    /// `grants`, `rosters`, `chunks`). `SealBench postgres` compares the engines, where Debian's PostgreSQL is, and
    /// `SealBench s3` files with an S3 store, which it installs from PyPI.
    /// Nothing fails on a slow machine: what misses its aim says so.
    static func main() async throws {
        Sodium.start()
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "bare-server", let bytes = Int(arguments[2]) {
            return try await BareServer.serve(bytes)
        }
        var report = Report()
        let part = arguments.dropFirst().first
        if let part, !(whole + ["core"] + parts).contains(part) {
            print(
                "SealBench: \(part) is nothing that is measured: \((whole + ["core"] + parts).joined(separator: ", "))")
            exit(64)
        }
        // The whole path first: its memory is measured as the process's peak.
        if part == nil || ["end-to-end", "records", "assets"].contains(part) {
            try await EndToEndBenchmark().run(part, &report)
        }
        if part == nil || part == "server" { try await ServerBenchmark().run(&report) }
        if part == nil || part == "telemetry" { try await TelemetryBenchmark().run(&report) }
        if part == "postgres" { try await PostgresBenchmark().run(&report) }
        if part == "s3" { try await S3Benchmark().run(&report) }
        if part == nil || part == "changes" { try await ChangesBenchmark().run(&report) }
        if part == nil || part == "streams" { try await StreamsBenchmark().run(&report) }
        if part == nil || part == "first-sync" { try await FirstSyncBenchmark().run(&report) }
        if part == nil || part == "sharing" { try await SharingBenchmark().run(&report) }
        if part == nil || part == "removal" { try await RemovalBenchmark().run(&report) }
        if part == nil || part == "verification" { try await VerificationBenchmark().run(&report) }
        #if !canImport(Darwin)
            if part == nil || part == "cloudkit" { try await CloudKitBenchmark().run(&report) }
        #endif
        if part.map({ !whole.contains($0) }) ?? true {
            let zone = try BenchmarkZone()
            func isWanted(_ name: String) -> Bool { part == nil || part == "core" || part == name }
            if isWanted("sealing") { try RecordBenchmark(zone: zone).run(&report) }
            if isWanted("statements") { try StatementBenchmark(zone: zone).run(&report) }
            if isWanted("grants") { try GrantBenchmark(zone: zone).run(&report) }
            if isWanted("rosters") { try RosterBenchmark().run(&report) }
            if isWanted("chunks") { try AssetBenchmark().run(&report) }
        }
        report.finish()
    }

    private static let whole = [
        "end-to-end", "server", "changes", "first-sync", "streams", "sharing", "removal", "verification",
        "cloudkit", "telemetry", "postgres", "s3",
    ]
    /// Of the whole path and of the core.
    private static let parts = ["records", "assets", "sealing", "statements", "grants", "rosters", "chunks"]
}
