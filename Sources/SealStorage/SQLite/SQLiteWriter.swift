import GRDB

/// The pool's writer as the engine of a `GroupWriter`.
final class SQLiteWriter: WriterEngine {
    let pool: DatabasePool
    private let statements = SQLiteStatements()
    private let closePool: @Sendable () throws -> Void

    /// - Parameter close: called last, on the writer's thread.
    init(pool: DatabasePool, close: @escaping @Sendable () throws -> Void) {
        self.pool = pool
        closePool = close
    }

    func withConnection<T>(
        announcing announcements: PendingAnnouncements?, until deadline: WriteDeadline?,
        _ body: (SQLiteConnection) throws -> T
    ) throws -> T {
        try pool.writeWithoutTransaction { database in
            deadline?.watch(database)
            defer { deadline?.ignore(database) }
            return try body(
                SQLiteConnection(
                    database: database, statements: statements, announcements: announcements, deadline: deadline))
        }
    }

    func close() throws {
        statements.removeAll()
        try closePool()
    }
}

extension SQLiteConnection: WriterConnection {
    // One writer has everything to itself.
    func begin(at homes: Homes) throws { try execute("BEGIN IMMEDIATE") }

    // Its deadline stops statements, which SQLite asks.
    func beginWrite(limit: Int64?) throws { try execute("SAVEPOINT job") }
    func takeBackWrite() throws { try execute("ROLLBACK TO job") }
    func endWrite() throws { try execute("RELEASE job") }
    func commit() throws { try execute("COMMIT") }

    // A statement that fails takes back itself alone.
    var failure: StorageError? { nil }
    var mayBeginAnew: Bool { false }
}
