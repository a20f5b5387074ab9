import Synchronization

/// Whether a database has said of itself that it is damaged, since it was opened: what is read often may be whole all
/// the while.
package final class DatabaseDamage: Sendable {
    private let found = Atomic(false)

    package init() {}

    package var isFound: Bool { found.load(ordering: .relaxed) }

    func note(_ error: any Error) {
        guard case .damaged? = error as? StorageError else { return }
        found.store(true, ordering: .relaxed)
    }
}
