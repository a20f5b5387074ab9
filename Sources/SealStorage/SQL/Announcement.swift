import Synchronization

/// What a transaction tells the rest of the process once it is durable, and other processes on the same database. It
/// says that something is there to be looked at, never what: who hears it reads the database.
package enum Announcement: Hashable, Sendable {
    /// A user's feed of notifications has grown.
    case notifications(of: Int64)
    /// A webhook may have something to send.
    case webhooks
    /// Databases' feeds are to be moved.
    case zoneTouches
    /// Subscribers of a public database are to be told.
    case publicChanges
    /// A session of the account has ended, or a server-to-server key that it stands for; or its list of devices is
    /// another one.
    case sessions(account: Int64)
    /// Anything: others' announcements may have been missed.
    case anything
}

extension Announcement {
    /// As other processes are told it: a word without spaces.
    var word: String {
        switch self {
        case .notifications(let viewer): "n\(viewer)"
        case .sessions(let account): "s\(account)"
        case .webhooks: "w"
        case .zoneTouches: "z"
        case .publicChanges: "p"
        case .anything: "a"
        }
    }

    /// Nil for a word of another version's.
    init?(word: Substring) {
        let number = Int64(word.dropFirst())
        switch (word.first, number) {
        case ("n", let viewer?): self = .notifications(of: viewer)
        case ("s", let account?): self = .sessions(account: account)
        case ("w", nil): self = .webhooks
        case ("z", nil): self = .zoneTouches
        case ("p", nil): self = .publicChanges
        case ("a", nil): self = .anything
        default: return nil
        }
    }
}

/// What the transaction under way has announced so far.
final class PendingAnnouncements: Sendable {
    private let values = Mutex<[Announcement]>([])

    var count: Int { values.withLock(\.count) }

    func add(_ announcement: Announcement) { values.withLock { $0.append(announcement) } }

    /// Takes back what came after `count`, with the savepoint that it belonged to.
    func rollBack(to count: Int) { values.withLock { $0.removeSubrange(count...) } }

    func takeAll() -> Set<Announcement> {
        values.withLock { values in
            defer { values.removeAll() }
            return Set(values)
        }
    }
}

/// Whom announcements are told to.
///
/// The function has a place in a type of its own. As the value of a `Mutex` itself it would be wrapped once more by the
/// compiler at each look, and be called through all wrappers: slower with each commit, and larger.
final class AnnouncementListener: Sendable {
    private struct State {
        var hear: (@Sendable (Set<Announcement>) -> Void)?
    }
    private let state = Mutex(State())

    func listen(_ hear: @escaping @Sendable (Set<Announcement>) -> Void) { state.withLock { $0.hear = hear } }

    /// Whoever listens is not told of nothing.
    func tell(_ announced: Set<Announcement>) {
        guard !announced.isEmpty, let hear = state.withLock({ $0.hear }) else { return }
        hear(announced)
    }
}
