import SealPrimitives
import Synchronization

/// Zones of one's own in which records wait to follow their parents, as far as answers to this process said so: the
/// next write there moves them.
final class UnsettledZones: Sendable {
    private let zones = Mutex<Set<Digest>>([])

    /// - Parameter zone: the id of its own scope.
    func has(_ zone: Digest) -> Bool { zones.withLock { $0.contains(zone) } }

    func note(_ zone: Digest, _ isUnsettled: Bool) {
        zones.withLock { zones in if isUnsettled { zones.insert(zone) } else { zones.remove(zone) } }
    }
}
