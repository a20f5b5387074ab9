import Foundation
import Synchronization

/// An open file that closes itself once, at the latest when the last user lets go of it.
package final class FileDescriptorBox: Sendable {
    package let rawValue: Int32
    private let isLocked = Atomic(false)
    private let isOpen = Atomic(true)

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// `flock`, which leaves its reason in `errno`. A process that is just being started has a copy of the file, which
    /// would hold the lock for a moment longer: it is let go before the file is closed.
    /// - Parameter operation: `LOCK_EX` or `LOCK_SH`, also with `LOCK_NB`.
    /// - Returns: whether it is locked.
    package func lock(_ operation: Int32) -> Bool {
        guard flock(rawValue, operation) == 0 else { return false }
        isLocked.store(true, ordering: .releasing)
        return true
    }

    package func close() {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        if isLocked.load(ordering: .acquiring) { flock(rawValue, LOCK_UN) }
        Foundation.close(rawValue)
    }

    deinit { close() }
}
