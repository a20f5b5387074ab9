/// A session that reads, used by the thread of its reader.
final class PostgresReader: ReaderConnection, @unchecked Sendable {
    private let session: PostgresSession

    /// Connects: where the database has no connection left it is no reader, and another one takes its reads.
    /// - Throws: `unavailable`, `unsuitable`.
    init(
        _ address: PostgresAddress, _ era: PostgresEra, _ metrics: ServerMetrics, _ opening: PostgresOpening
    ) throws {
        session = PostgresSession(.reader, address, of: era) { session in
            try PostgresServer.prepareReader(session)
            try opening.look(at: PostgresConnection(session))
            try PostgresServer.enter(era, session)
            metrics.count(.connects, "reader")
        }
        try session.connectAgain()
    }

    func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        do { return try readOnce(body) } catch {
            // It had been idle, and the server was restarted meanwhile: nothing was written.
            guard session.mayBeginAnew else { throw error }
            return try readOnce(body)
        }
    }

    private func readOnce<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        try session.connectAgain()
        session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { session.rollBack() }
        return try body(PostgresConnection(session))
    }

    func close() throws { session.close() }
}
