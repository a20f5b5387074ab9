import Foundation

/// How long calls took, by bounds that grow by a twentieth, so that an hour of them takes no room.
struct Latencies {
    private static let smallest = 0.000_1
    private static let growth = 1.05
    private var counts: [Int] = []
    private var longest = 0.0

    mutating func add(_ seconds: Double) {
        let place = seconds <= Self.smallest ? 0 : Int((log(seconds / Self.smallest) / log(Self.growth)).rounded(.up))
        if place >= counts.count { counts += Array(repeating: 0, count: place + 1 - counts.count) }
        counts[place] += 1
        longest = max(longest, seconds)
    }

    struct Summary {
        var count = 0
        /// Seconds, each at most a twentieth too long.
        var p50 = 0.0
        var p99 = 0.0
        var longest = 0.0

        func text(_ seconds: Double) -> String { String(format: "%.1f ms", seconds * 1_000) }
    }

    var summary: Summary {
        let count = counts.reduce(0, +)
        return Summary(count: count, p50: bound(of: 0.5, count), p99: bound(of: 0.99, count), longest: longest)
    }

    private func bound(of part: Double, _ count: Int) -> Double {
        var rest = Int((Double(count) * part).rounded(.up))
        for (place, here) in counts.enumerated() {
            rest -= here
            if rest <= 0 { return min(longest, Self.smallest * pow(Self.growth, Double(place))) }
        }
        return longest
    }
}
