import Synchronization

/// Which server this process is connected to. Where a new connection is to another one, the one before has failed: who
/// still reads there would see less than was acknowledged, and what is written there is lost.
final class PostgresEra: Sendable {
    private let state = Mutex((number: 0, start: PostgresStart?.none))

    var current: Int { state.withLock { $0.number } }

    /// - Parameter former: the era in which the connection to it was begun.
    /// - Returns: its era; nil where somebody has been connected to another server meanwhile, or before to one that was
    ///   promoted in its place: it has come back, and knows nothing of that.
    func begin(at start: PostgresStart, since former: Int) -> Int? {
        state.withLock { state -> Int? in
            if state.start == start { return state.number }
            guard state.number == former, state.start?.hasOutlived(start) != true else { return nil }
            state = (former + 1, start)
            return state.number
        }
    }
}

/// What tells a server from every other one: its system, its history, and when it was started.
struct PostgresStart: Equatable, Sendable {
    private let system: Substring
    /// Eight hexadecimal digits: each promotion has a higher one.
    private let timeline: Substring
    private let time: Substring

    /// - Parameter text: as `PostgresServer.started` has it.
    init(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        func part(_ index: Int) -> Substring { parts.indices.contains(index) ? parts[index] : "" }
        (system, timeline, time) = (part(0), part(1), part(2))
    }

    /// Whether the other one is of a history of the same system that this one's took the place of.
    func hasOutlived(_ other: PostgresStart) -> Bool { system == other.system && timeline > other.timeline }
}
