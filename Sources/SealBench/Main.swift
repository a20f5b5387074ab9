import SealPrimitives

@main
struct SealBench {
    static func main() async throws {
        Sodium.start()
        var report = Report()
        // The whole path first: its memory is measured as the process's peak.
        try await EndToEndBenchmark().run(&report)
        try SealingBenchmark().run(&report)
    }
}
