import Foundation

/// Collects figures and prints them as a table. A ratio compares with a limit measured in the same run; nothing here
/// fails on a slow machine.
struct Report {
    private var lines: [String] = []

    mutating func ratio(_ name: String, _ value: Double, to peer: Double, limit: Double, peer peerName: String) {
        let ratio = value / peer
        add(name, String(format: "%.2f x %@ (aim: at most %.2f)", ratio, peerName, limit))
    }

    mutating func rate(_ name: String, _ value: Double, _ unit: String, aim: String = "") {
        let figure = value >= 100 ? String(format: "%.0f", value) : String(format: "%.2f", value)
        add(name, "\(figure) \(unit)" + (aim.isEmpty ? "" : " (aim: \(aim))"))
    }

    private mutating func add(_ name: String, _ text: String) {
        let line = name.padding(toLength: 52, withPad: " ", startingAt: 0) + text
        lines.append(line)
        print(line)
    }
}

/// The shortest of a few runs, in seconds: the one that was disturbed least.
func measure(runs: Int = 3, _ body: () throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<runs {
        let start = ContinuousClock.now
        try body()
        best = min(best, (ContinuousClock.now - start) / .seconds(1))
    }
    return best
}
