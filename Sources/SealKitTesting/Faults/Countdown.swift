import Synchronization

/// So many times, or always, whoever asks at once.
package final class Countdown: Sendable {
    private let left: Mutex<Int?>

    package init(_ count: Int?) { left = Mutex(count) }

    package func isLeft() -> Bool {
        left.withLock { left in
            guard let count = left else { return true }
            guard count > 0 else { return false }
            left = count - 1
            return true
        }
    }
}
