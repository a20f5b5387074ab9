import Synchronization

/// The zones that a command took for the account's own, since no owner was named: where there is none of the name,
/// others may share one.
final class OwnZones: Sendable {
    private let noted = Mutex<Set<String>>([])

    var names: Set<String> { noted.withLock { $0 } }

    func note(_ name: String) { noted.withLock { _ = $0.insert(name) } }
}
