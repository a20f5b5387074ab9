import Foundation
import SealPrimitives

@main
struct SealBench {
    static func main() async throws {
        setvbuf(stdout, nil, _IOLBF, 0)
        Sodium.start()
        var report = Report()
        try SealingBenchmark().run(&report)
    }
}
