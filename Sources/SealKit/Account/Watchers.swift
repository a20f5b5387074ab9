/// Who is told of something, each for as long as it is there.
struct Watchers<Element: Sendable>: Sendable {
    private struct Watcher: Sendable {
        weak var owner: (any AnyObject & Sendable)?
        let body: @Sendable (Element) -> Void
    }

    private var all: [Watcher] = []

    /// Those that are gone make room.
    mutating func add(_ owner: any AnyObject & Sendable, _ body: @escaping @Sendable (Element) -> Void) {
        all.removeAll { $0.owner == nil }
        all.append(Watcher(owner: owner, body: body))
    }

    /// To be called without a lock.
    var bodies: [@Sendable (Element) -> Void] { all.filter { $0.owner != nil }.map(\.body) }
    /// Those that are gone among them, until another one comes.
    var count: Int { all.count }
}
