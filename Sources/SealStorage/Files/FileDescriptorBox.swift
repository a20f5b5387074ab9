import Foundation
import Synchronization

/// An open file that closes itself once, at the latest when the last user lets go of it.
final class FileDescriptorBox: Sendable {
    let rawValue: Int32
    private let isOpen = Atomic(true)

    init(_ rawValue: Int32) { self.rawValue = rawValue }

    func close() {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        Foundation.close(rawValue)
    }

    deinit { close() }
}
