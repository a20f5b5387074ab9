import Foundation
import Synchronization

/// An open file that closes itself once, at the latest when the last user lets go of it.
package final class FileDescriptorBox: Sendable {
    package let rawValue: Int32
    private let isOpen = Atomic(true)

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    package func close() {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        Foundation.close(rawValue)
    }

    deinit { close() }
}
