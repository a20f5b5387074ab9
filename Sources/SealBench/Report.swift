import Foundation

/// Prints figures as a table, each with its aim where there is one. A ratio compares with a limit that was measured in
/// the same run, in turns with what is measured; nothing here fails on a slow machine.
struct Report {
    enum Aim {
        case atMost(Double)
        case atLeast(Double)

        func isMet(_ value: Double) -> Bool {
            switch self {
            case .atMost(let limit): value <= limit
            case .atLeast(let limit): value >= limit
            }
        }

        var text: String {
            switch self {
            case .atMost(let limit): "≤ " + Report.number(limit)
            case .atLeast(let limit): "≥ " + Report.number(limit)
            }
        }
    }

    private var aims = 0
    private var missed: [String] = []

    func heading(_ title: String, _ model: String = "") {
        print("\n\(title)")
        if !model.isEmpty { print("  " + model.replacing("\n", with: "\n  ")) }
    }

    /// A figure, perhaps with its ratio to the limit; the aim is the ratio's where there is one.
    mutating func row(_ name: String, _ value: Double, _ unit: String, ratio: Double? = nil, aim: Aim? = nil) {
        var line = "  " + name.padding(toLength: max(50, name.count), withPad: " ", startingAt: 0)
        line += Report.right(Report.number(value), 9) + " " + unit.padding(toLength: 10, withPad: " ", startingAt: 0)
        line += Report.right(ratio.map { Report.number($0) + " x" } ?? "", 9)
        if let aim { line += "   " + judge(name, ratio ?? value, aim) }
        print(line)
    }

    /// Of an odd number of values, which are not none.
    static func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// A share of something, in percent.
    /// - Parameter aim: what it may be at most.
    mutating func cost(_ name: String, _ share: Double, aim: Double) {
        row(name, share * 100, "%", aim: .atMost(aim * 100))
    }

    /// How far shares lie apart, from the smallest over quartiles to the largest, in percent.
    func spread(_ name: String, _ shares: [Double]) {
        let sorted = shares.sorted()
        guard let last = sorted.indices.last else { return }
        let quartiles = (0...4).map { Report.number(sorted[last * $0 / 4] * 100) }
        print("    \(name): \(quartiles.joined(separator: " … ")) %")
    }

    /// One ratio for each column, under one aim.
    mutating func ratios(_ name: String, _ values: [(column: String, ratio: Double)], aim: Aim) {
        var line = "  " + name.padding(toLength: 26, withPad: " ", startingAt: 0)
        var good = true
        for value in values {
            line += Report.right(Report.number(value.ratio), 9)
            aims += 1
            guard !aim.isMet(value.ratio) else { continue }
            good = false
            missed.append("\(name), \(value.column): \(Report.number(value.ratio))")
        }
        print(line + "   aim \(aim.text)  \(good ? "met" : "NOT MET")")
    }

    mutating func finish() {
        guard aims > 0 else { return }
        print("\n\(aims - missed.count) of \(aims) aims met.")
        for miss in missed { print("  not met: \(miss)") }
    }

    private mutating func judge(_ name: String, _ value: Double, _ aim: Aim) -> String {
        aims += 1
        let isMet = aim.isMet(value)
        if !isMet { missed.append("\(name): \(Report.number(value)), aim \(aim.text)") }
        return "aim \(aim.text)  \(isMet ? "met" : "NOT MET")"
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    static func number(_ value: Double) -> String {
        guard value < 1000 else { return Int(value.rounded()).formatted(.number.locale(Locale(identifier: "en_US"))) }
        return String(format: value >= 100 ? "%.0f" : "%.2f", value)
    }
}

/// Seconds that each of several pieces of work takes: all in turns, the best of some rounds, so that what disturbs the
/// machine disturbs none of them alone.
func measure(rounds: Int = 7, _ work: [() throws -> Void]) throws -> [Double] {
    var best = [Double](repeating: .infinity, count: work.count)
    for _ in 0..<rounds {
        for (index, body) in work.enumerated() {
            let start = ContinuousClock.now
            try body()
            best[index] = min(best[index], (ContinuousClock.now - start) / .seconds(1))
        }
    }
    return best
}
