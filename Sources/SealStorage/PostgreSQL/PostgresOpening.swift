import Synchronization

/// What is done with each new connection before anything else is.
///
/// While a process was cut off, others did not see it: the database may have been brought to another version, or moved
/// elsewhere, and what is written then where it was is lost.
final class PostgresOpening: Sendable {
    private struct State {
        var look: (@Sendable (any SQLConnection) throws -> Void)?
        var body: (@Sendable (any SQLConnection) throws -> Void)?
    }
    private let state = Mutex(State())

    /// - Parameter look: throws where the database is not what it was found to be at the start.
    func require(_ look: @escaping @Sendable (any SQLConnection) throws -> Void) { state.withLock { $0.look = look } }

    func set(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) { state.withLock { $0.body = body } }

    /// - Throws: `unavailable`; `unsuitable` for whatever the database is not.
    func look(at connection: any SQLConnection) throws {
        guard let look = state.withLock({ $0.look }) else { return }
        do { try look(connection) } catch {
            if case StorageError.unavailable = error { throw error }
            throw StorageError.unsuitable(message: "\(error)")
        }
    }

    /// By a connection that writes, which others see already: what it looks at stays as it is. Where this fails there
    /// is no connection.
    func run(on session: PostgresSession) throws {
        let connection = PostgresConnection(session)
        try look(at: connection)
        guard let body = state.withLock({ $0.body }) else { return }
        session.begin(PostgresHomes.begin(Homes(.everything)))
        do {
            try body(connection)
            try session.commit()
        } catch {
            session.rollBack()
            throw error
        }
    }
}
