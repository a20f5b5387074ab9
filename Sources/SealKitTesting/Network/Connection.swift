import SealKit
import Synchronization

/// An event stream or a download that is open. It ends where the network goes, or where somebody else answers from now
/// on.
final class Connection: Sendable {
    private let isEnded = Mutex(false)
    private let whenEnded: @Sendable (SealKitError) -> Void

    /// - Parameter whenEnded: for whoever waits for what comes next.
    init(whenEnded: @escaping @Sendable (SealKitError) -> Void = { _ in }) { self.whenEnded = whenEnded }

    private static var failure: SealKitError {
        SealKitError(.networkFailure, "the test network ended the connection", remedy: "connect again")
    }

    func end() {
        isEnded.withLock { $0 = true }
        whenEnded(Self.failure)
    }

    /// - Throws: `networkFailure` once it was ended.
    func check() throws(SealKitError) {
        if isEnded.withLock({ $0 }) { throw Self.failure }
    }
}
