import Synchronization

/// One at a time, in the order in which they came.
final class SyncTurns: Sendable {
    private struct Line {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let line = Mutex(Line())

    /// Returns when it is the caller's turn, whether it is cancelled or not: give it back.
    func take() async {
        await withCheckedContinuation { continuation in
            let isNow = line.withLock { line in
                guard line.isTaken else {
                    line.isTaken = true
                    return true
                }
                line.waiting.append(continuation)
                return false
            }
            if isNow { continuation.resume() }
        }
    }

    func give() {
        let next = line.withLock { line -> CheckedContinuation<Void, Never>? in
            guard line.waiting.isEmpty else { return line.waiting.removeFirst() }
            line.isTaken = false
            return nil
        }
        next?.resume()
    }
}

/// That a delegate is being told something in this task, or in one that began in it: who waits for the engine then
/// would wait for itself.
final class SyncHandling: Sendable {
    @TaskLocal private static var current: SyncHandling?

    private let place: SyncPlace
    private let outer: SyncHandling?
    private let isOver = Mutex(false)

    private init(_ place: SyncPlace, outer: SyncHandling?) {
        self.place = place
        self.outer = outer
    }

    static func during<T: Sendable>(_ place: SyncPlace, _ body: () async -> T) async -> T {
        // What is over says nothing any more: a chain of tasks, each begun in the one before, would keep all of it.
        var outer = current
        while let one = outer, one.isOver.withLock({ $0 }) { outer = one.outer }
        let handling = SyncHandling(place, outer: outer)
        defer { handling.isOver.withLock { $0 = true } }
        return await $current.withValue(handling) { await body() }
    }

    /// For any of its databases: two that are told something and wait for each other would wait for ever.
    static func isActive(in place: SyncPlace) -> Bool {
        var handling = current
        while let one = handling {
            if one.place.isBeside(place), !one.isOver.withLock({ $0 }) { return true }
            handling = one.outer
        }
        return false
    }
}
