import SealKit
import SealLab

/// Random steps of several devices, each answer held against the model's; a failure is made as short as it can be.
struct ModelTest {
    let seed: UInt64
    let steps: Int
    /// One for each device.
    let transport: @Sendable () throws -> any Transport

    /// Steps that one account plays; then another one begins, with fresh zones and devices.
    private static let life = 400
    /// How often a failure is played again to shorten it.
    private static let attempts = 60

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Returns: what was played.
    func run() async throws -> ModelCounts {
        var counts = ModelCounts()
        var random = SeededRandom(seed: seed)
        try await ModelRun.prepare(transport())
        var left = steps
        while left > 0 {
            let count = min(left, Self.life)
            // Zones first, or the first steps meet none.
            let all = (0..<count).map { _ in random.next() }
            if let failure = try await play(all, &counts) {
                let prefix = Array(all.prefix(failure.count))
                let (shortest, text) = try await shortened(prefix, failure.text)
                throw Failure(
                    description:
                        "step \(failure.count) of seed \(seed): \(text)\n  they are shown by STEPS=\(shortest.map(String.init).joined(separator: ","))"
                )
            }
            left -= count
        }
        return counts
    }

    /// Plays only the steps that a failure named.
    func replay(_ steps: [UInt64]) async throws {
        try await ModelRun.prepare(transport())
        var counts = ModelCounts()
        if let failure = try await play(steps, &counts, showing: steps.count) {
            throw Failure(description: failure.text)
        }
    }

    /// - Parameter showing: how many of the steps before the failure.
    /// - Returns: nil when all went well; otherwise how many steps it took to fail, and how.
    private func play(
        _ steps: [UInt64], _ counts: inout ModelCounts, showing: Int = 12
    ) async throws -> (count: Int, text: String)? {
        var run = try await ModelRun(transport)
        var done: [String] = []
        func failure(_ error: any Error) -> String {
            (done.suffix(showing) + ["\(run.doing): \(error)"]).joined(separator: "\n    ")
        }
        for (index, step) in steps.enumerated() {
            do { try await run.play(step) } catch { return (index + 1, failure(error)) }
            done.append(run.doing)
        }
        do { try await run.checkEnd() } catch { return (steps.count, failure(error)) }
        counts.add(run.counts)
        return nil
    }

    /// Leaves out what the failure does not need: halves, quarters, … single steps.
    private func shortened(_ steps: [UInt64], _ text: String) async throws -> ([UInt64], String) {
        var (best, bestText) = (steps, text)
        var size = max(1, steps.count / 2)
        var attempts = 0
        var counts = ModelCounts()
        while true {
            var start = 0
            while start < best.count, attempts < Self.attempts {
                attempts += 1
                let end = min(best.count, start + size)
                let candidate = Array(best[..<start] + best[end...])
                if let failure = try await play(candidate, &counts) {
                    (best, bestText) = (Array(candidate.prefix(failure.count)), failure.text)
                } else {
                    start = end
                }
            }
            guard size > 1, attempts < Self.attempts else { return (best, bestText) }
            size = max(1, size / 2)
        }
    }
}
