import Synchronization

/// Microseconds that pass when a test says so, or by a step whenever somebody asks.
final class SteppingClock: Sendable {
    private let state = Mutex((now: Int64(0), step: Int64(0)))

    var read: @Sendable () -> Int64 {
        { [self] in
            state.withLock { state in
                state.now += state.step
                return state.now
            }
        }
    }

    func step(_ microseconds: Int64) { state.withLock { $0.step = microseconds } }
    func advance(_ microseconds: Int64) { state.withLock { $0.now += microseconds } }
}
