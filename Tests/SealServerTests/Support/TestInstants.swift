import Synchronization

/// What a test's server measures durations by: it stands still until the test moves it.
final class TestInstants: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    var clock: @Sendable () -> ContinuousClock.Instant { { self.now } }

    func advance(seconds: Int) { instant.withLock { $0 += .seconds(seconds) } }
}
