import SealService

/// What has to come of a sequence of events, as somebody would work it out who knows nothing of rosters, keys and
/// servers.
struct OrderModel: Equatable, Sendable {
    enum Actor: Int, CaseIterable, Sendable { case ann, bob, carol }

    enum Step: Hashable, Sendable, CustomStringConvertible {
        /// By the owner.
        case invite(Actor)
        case remove(Actor)
        case rotate
        case accept(Actor)
        case leave(Actor)
        case write(Actor)
        /// The actor's device forgets what it has seen since the beginning, as one restored from an old backup.
        case forget(Actor)

        /// Whose device does it.
        var actor: Actor {
            switch self {
            case .invite, .remove, .rotate: .ann
            case .accept(let actor), .leave(let actor), .write(let actor), .forget(let actor): actor
            }
        }

        var description: String {
            switch self {
            case .invite(let actor): "invite \(actor)"
            case .remove(let actor): "remove \(actor)"
            case .rotate: "rotate"
            case .accept(let actor): "\(actor) accepts"
            case .leave(let actor): "\(actor) leaves"
            case .write(let actor): "\(actor) writes"
            case .forget(let actor): "\(actor) forgets"
            }
        }
    }

    private(set) var members: Set<Actor> = [.ann]
    private(set) var invited: Set<Actor> = []
    /// New keys since the beginning.
    private(set) var keys = 0
    /// Somebody left: whoever writes next opens a new key.
    private(set) var isDue = false
    private(set) var texts: [Actor: String] = [:]
    /// The newest key that somebody had who is out now.
    private(set) var lastKey: [Actor: Int] = [:]

    /// - Returns: whether it can be done; what cannot leaves everything as it is.
    mutating func take(_ step: Step, _ text: String) -> Bool {
        switch step {
        case .invite(let actor):
            if !members.contains(actor) { invited.insert(actor) }
        case .remove(let actor):
            guard members.contains(actor) || invited.contains(actor) else { return true }
            if members.remove(actor) != nil { lastKey[actor] = keys }
            invited.remove(actor)
            newKey()
        case .rotate:
            newKey()
        case .accept(let actor):
            if members.contains(actor) { return true }
            guard invited.remove(actor) != nil else { return false }
            members.insert(actor)
            lastKey[actor] = nil
        case .leave(let actor):
            guard members.remove(actor) != nil else { return false }
            lastKey[actor] = keys
            isDue = true
        case .write(let actor):
            guard members.contains(actor) else { return false }
            if isDue { newKey() }
            texts[actor] = text
        case .forget:
            break
        }
        return true
    }

    private mutating func newKey() {
        keys += 1
        isDue = false
    }

    // MARK: Orders

    /// All ways to merge scripts, each keeping its own order.
    static func orders(of scripts: [[Step]]) -> [[Step]] {
        guard scripts.contains(where: { !$0.isEmpty }) else { return [[]] }
        return scripts.indices.flatMap { index -> [[Step]] in
            guard let first = scripts[index].first else { return [] }
            var rest = scripts
            rest[index].removeFirst()
            return orders(of: rest).map { [first] + $0 }
        }
    }

    /// All orders of some things.
    static func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard !elements.isEmpty else { return [[]] }
        return elements.indices.flatMap { index -> [[Element]] in
            var rest = elements
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }
}
