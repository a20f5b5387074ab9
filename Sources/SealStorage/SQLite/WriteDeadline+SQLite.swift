import GRDB
import GRDBSQLite

extension WriteDeadline {
    /// Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond.
    private static let steps: CInt = 4_000

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
}
