/// A PostgreSQL database that this process has to itself: no server starts on it meanwhile.
package final class PostgresHold: WholeDatabase {
    private let session: PostgresSession

    /// - Throws: `unavailable`; `unsuitable`, also where a server runs on it.
    package init(_ address: PostgresAddress) throws {
        let server = PostgresServer(isAlone: true)
        var wasHeld = false
        session = PostgresSession(.writer, address) { session in
            // What holds the database is the connection: after it was lost somebody else may have written.
            guard !wasHeld else { throw StorageError.unavailable(message: "the connection was lost meanwhile") }
            try server.prepareWriter(session)
            wasHeld = true
        }
        try session.connectAgain()
    }

    package func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        try session.connectAgain()
        session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { session.rollBack() }
        return try body(PostgresConnection(session))
    }

    package func write<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        try PostgresConnection(session).transaction { try body($0) }
    }

    package func close() { session.close() }
}
