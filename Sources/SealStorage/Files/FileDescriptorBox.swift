import Foundation
import Synchronization

/// An open file that closes itself once, at the latest when the last user lets go of it.
package final class FileDescriptorBox: Sendable {
    package let rawValue: Int32
    private let isLock: Bool
    private let isOpen = Atomic(true)

    /// - Parameter isLock: whether it is locked (`flock`). A process that is just being started has a copy of it, which
    ///   would hold the lock for a moment longer: it is let go before the file is closed.
    package init(_ rawValue: Int32, isLock: Bool = false) { (self.rawValue, self.isLock) = (rawValue, isLock) }

    package func close() {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        if isLock { flock(rawValue, LOCK_UN) }
        Foundation.close(rawValue)
    }

    deinit { close() }
}
