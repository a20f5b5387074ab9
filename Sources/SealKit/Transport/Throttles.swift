import Synchronization

/// Which classes of calls the server has asked to hold back, and until when.
///
/// A server that says 429 or 503 with a time is not asked again before, by anybody who uses the same account here.
/// Other classes of calls go on.
final class Throttles: Sendable {
    struct Throttle {
        let until: ContinuousClock.Instant
        let error: SealKitError
    }

    private let state = Mutex<[String: Throttle]>([:])

    func hold(_ callClass: String, until: ContinuousClock.Instant, because error: SealKitError) {
        state.withLock { state in
            if let held = state[callClass], held.until >= until { return }
            state[callClass] = Throttle(until: until, error: error)
        }
    }

    /// What still holds the class back; nil when nothing does.
    func current(_ callClass: String, now: ContinuousClock.Instant) -> Throttle? {
        state.withLock { state in
            guard let held = state[callClass] else { return nil }
            guard held.until > now else {
                state[callClass] = nil
                return nil
            }
            return held
        }
    }
}
