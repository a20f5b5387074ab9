import Foundation
import SealKit
import Synchronization

/// The time of a test server and of the waits of its devices: the machine's, and what was slept or skipped beside it.
/// Whoever waits waits in no time, and finds the server's clock as much later.
final class TestClock: Sendable {
    private let skipped = Mutex(Duration.zero)

    /// Microseconds since 1970, as the server has it.
    var now: Int64 {
        let skipped = skipped.withLock { $0 }
        return Int64(Date().timeIntervalSince1970 * 1_000_000) + Int64(skipped / .microseconds(1))
    }

    func skip(_ duration: Duration) { skipped.withLock { $0 += duration } }

    /// Of devices: the longest waits that chance would give, slept in no time.
    var pacing: Pacing {
        Pacing(
            now: { ContinuousClock.now + self.skipped.withLock { $0 } },
            sleep: { duration in
                try Task.checkCancellation()
                self.skip(duration)
                await Task.yield()
            }, chance: { 1 }, time: { self.now })
    }
}
