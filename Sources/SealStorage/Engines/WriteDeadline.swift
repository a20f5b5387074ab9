import Synchronization

/// When the transaction under way has to give the writer back. Connections ask between statements, and SQLite within
/// them.
///
/// Once it has passed, that stays so until the next one begins: a body that swallows the error writes nothing either.
final class WriteDeadline: Sendable {
    /// Statements between two looks at the clock: what takes long within one of them, the engine notices.
    private static let statements = 8

    private let clock: @Sendable () -> Int64
    /// Of the transaction under way, since the last look at the clock.
    private let begun = Atomic(0)
    private let end = Atomic<Int64>(.max)
    private let passed = Atomic<Bool>(false)
    private let pauses = Atomic<Int64>(0)

    init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    func begin(_ end: Int64?) {
        passed.store(false, ordering: .relaxed)
        begun.store(0, ordering: .relaxed)
        self.end.store(end ?? .max, ordering: .relaxed)
    }

    /// Looks at the clock for the last time: nothing is cut short from here on.
    /// - Returns: whether the time had passed, noticed before or not.
    func finish() -> Bool {
        defer { end.store(.max, ordering: .relaxed) }
        return hasPassed
    }

    /// Waits for what others have, which is no time of this transaction's.
    func pause(_ waiting: () throws -> Void) rethrows {
        let start = clock()
        defer {
            let time = clock() - start
            pauses.add(time, ordering: .relaxed)
            let end = end.load(ordering: .relaxed)
            if end != .max { self.end.store(end + time, ordering: .relaxed) }
        }
        try waiting()
    }

    /// Microseconds of all pauses so far.
    var paused: Int64 { pauses.load(ordering: .relaxed) }

    /// To be asked before each statement.
    var hasPassedBeforeStatement: Bool {
        if passed.load(ordering: .relaxed) { return hasPassed }
        guard begun.add(1, ordering: .relaxed).newValue >= Self.statements else { return false }
        begun.store(0, ordering: .relaxed)
        return hasPassed
    }

    var hasPassed: Bool {
        let end = end.load(ordering: .relaxed)
        guard end != .max else { return false }
        guard !passed.load(ordering: .relaxed) else { return true }
        guard clock() > end else { return false }
        passed.store(true, ordering: .relaxed)
        return true
    }
}
