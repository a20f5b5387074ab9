import GRDB
import GRDBSQLite
import Synchronization

/// When the transaction under way has to give the writer back. SQLite asks within statements, `SQLiteConnection` between them.
///
/// Once it has passed, that stays so until the next one begins: a body that swallows the error writes nothing either.
final class WriteDeadline: Sendable {
    /// Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond.
    private static let steps: CInt = 4_000

    private let clock: @Sendable () -> Int64
    private let end = Atomic<Int64>(.max)
    private let passed = Atomic<Bool>(false)

    init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    /// Has SQLite ask on this connection, which must not outlive the deadline.
    func watch(_ database: Database) {
        sqlite3_progress_handler(
            database.sqliteConnection, Self.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<WriteDeadline>.fromOpaque(context).takeUnretainedValue().hasPassed ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func ignore(_ database: Database) {
        sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
    }

    func begin(_ end: Int64?) {
        passed.store(false, ordering: .relaxed)
        self.end.store(end ?? .max, ordering: .relaxed)
    }

    /// Nothing is cut short from here on.
    /// - Returns: whether something was.
    func finish() -> Bool {
        end.store(.max, ordering: .relaxed)
        return passed.load(ordering: .relaxed)
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
