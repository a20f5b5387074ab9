import SealPrimitives

@main
struct SealBench {
    static func main() async throws {
        Sodium.start()
        var report = Report()
        // `SealBench records` and so on: one part alone.
        let part = CommandLine.arguments.dropFirst().first
        // The whole path first: its memory is measured as the process's peak.
        if part != "sealing" { try await EndToEndBenchmark().run(part, &report) }
        if part == nil || part == "sealing" { try SealingBenchmark().run(&report) }
    }
}
