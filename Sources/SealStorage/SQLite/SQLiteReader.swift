import GRDB

/// A connection that reads beside the writer.
struct SQLiteReader: ReaderConnection {
    private let database: DatabaseQueue
    private let statements = SQLiteStatements()

    /// - Parameter path: of a database that is there already and has a write-ahead log.
    init(path: String, configuration: Configuration) throws {
        database = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// The snapshot begins with the first statement.
    func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        try database.unsafeRead { database in
            let connection = SQLiteConnection(database: database, statements: statements)
            try connection.execute("BEGIN")
            // It has written nothing: ending the snapshot is all that this does.
            defer { connection.rollBack() }
            return try body(connection)
        }
    }

    func close() throws {
        statements.removeAll()
        try database.close()
    }
}
