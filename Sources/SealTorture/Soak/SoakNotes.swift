import Foundation
import SealKit
import Synchronization

/// What all clients of a soak saw.
final class SoakNotes: Sendable {
    private struct State {
        var isDown = false
        /// Calls that were under way while the server was killed may end in any way.
        var life = 0
        var unexpected: [String] = []
        var cut = 0
        var heard = 0
        var latencies: [String: Latencies] = [:]
    }
    private let state = Mutex(State())

    /// Of the server, which changes when it is killed and when it is there again.
    var life: Int { state.withLock { $0.life } }
    var isDown: Bool { state.withLock { $0.isDown } }
    var unexpected: [String] { state.withLock { $0.unexpected } }
    var cut: Int { state.withLock { $0.cut } }
    var heard: Int { state.withLock { $0.heard } }
    var latencies: [(name: String, latency: Latencies.Summary)] {
        state.withLock { $0.latencies.map { ($0.key, $0.value.summary) } }.sorted { $0.0 < $1.0 }
    }

    func serverIsDown(_ isDown: Bool) {
        state.withLock {
            $0.isDown = isDown
            $0.life += 1
        }
    }

    func forgetLatencies() { state.withLock { $0.latencies = [:] } }
    func noteCut() { state.withLock { $0.cut += 1 } }
    func noteHeard() { state.withLock { $0.heard += 1 } }

    func note(unexpected text: String) {
        state.withLock { if $0.unexpected.count < 1_000 { $0.unexpected.append(text) } }
    }

    func note(_ name: String, seconds: Double) {
        state.withLock { $0.latencies[name, default: Latencies()].add(seconds) }
    }
}
