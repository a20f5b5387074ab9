import Foundation
import SealKit
import SealStorage
import Synchronization

/// How long calls took, microseconds.
struct Latencies {
    private(set) var spread = LogHistogram()
    private(set) var longest: Int64 = 0

    mutating func add(_ microseconds: Int64) {
        spread.add(microseconds)
        longest = max(longest, microseconds)
    }

    var text: String {
        func milliseconds(_ value: Int64) -> String { String(format: "%.1f ms", Double(value) / 1_000) }
        return "\(spread.total) times, p50 \(milliseconds(spread.quantile(0.5))), "
            + "p99 \(milliseconds(spread.quantile(0.99))), longest \(milliseconds(longest))"
    }
}

/// What all clients of a soak saw.
final class SoakNotes: Sendable {
    private struct State {
        var isDown = false
        /// Calls that were under way while the server was killed may end in any way.
        var life = 0
        var unexpected: [String] = []
        var cut = 0
        var heard = 0
        var turns: [String: Set<Int>] = [:]
        var latencies: [String: Latencies] = [:]
    }
    private let state = Mutex(State())

    /// Of the server, which changes when it is killed and when it is there again.
    var life: Int { state.withLock { $0.life } }
    var isDown: Bool { state.withLock { $0.isDown } }
    var unexpected: [String] { state.withLock { $0.unexpected } }
    var cut: Int { state.withLock { $0.cut } }
    var heard: Int { state.withLock { $0.heard } }
    var latencies: [String: Latencies] { state.withLock { $0.latencies } }

    func serverIsDown(_ isDown: Bool) {
        state.withLock {
            $0.isDown = isDown
            $0.life += 1
        }
    }

    func forgetLatencies() { state.withLock { $0.latencies = [:] } }
    func noteCut() { state.withLock { $0.cut += 1 } }
    func noteHeard() { state.withLock { $0.heard += 1 } }

    /// Whether nobody else was told that this is theirs.
    func isFirst(turn: Int, of record: String) -> Bool {
        state.withLock { $0.turns[record, default: []].insert(turn).inserted }
    }

    func note(unexpected text: String) {
        state.withLock { if $0.unexpected.count < 1_000 { $0.unexpected.append(text) } }
    }

    func note(_ name: String, took duration: Duration) {
        state.withLock { $0.latencies[name, default: Latencies()].add(Int64(duration / .microseconds(1))) }
    }
}
