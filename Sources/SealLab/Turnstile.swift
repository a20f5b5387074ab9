import Synchronization

/// Lets so many in at once; the others wait in the order in which they came.
public final class Turnstile: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    public init(atOnce: Int) { state = Mutex(State(free: atOnce)) }

    public func enter() async {
        await withCheckedContinuation { continuation in
            let isIn = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isIn { continuation.resume() }
        }
    }

    public func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
