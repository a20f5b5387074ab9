package import SealStorage

/// What the database is read and written by for requests: sessions that end meanwhile write nothing, and what a write
/// would have to make for too long is made beside the writer.
///
/// One object: it goes with every request through many hands.
package final class Transactions: Sendable {
    package let database: any SQLDatabase
    private let sessions: Sessions
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    package init(_ database: any SQLDatabase, sessions: Sessions, clock: @escaping @Sendable () -> Int64) {
        (self.database, self.sessions, self.clock) = (database, sessions, clock)
    }

    package func read<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await database.read(body)
    }

    /// A transaction in a session's name: where the session has ended meanwhile, nothing of it happens. Everything that
    /// a session changes goes through here, but for records: see `Sessions.recheck`.
    /// - Throws: `sessionExpired` too.
    @discardableResult
    package func write<T: Sendable>(
        as session: Session, at home: Home, beside others: Set<Home> = [],
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        let now = clock()
        return try await write(at: home, beside: others) { connection in
            try Sessions.check(session, now: now, in: connection)
            return try body(connection)
        }
    }

    /// The same, of what is the account's alone.
    @discardableResult
    package func write<T: Sendable>(
        asAccountOf session: Session, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        let account = session.accountID
        return try await write(as: session, at: .account(account), beside: [.bill(account)], body)
    }

    /// A transaction that may need what takes long to make, such as rosters that are replayed. Then it is taken back,
    /// and begun again once that has been made beside the writer: `body` may run more than once.
    @discardableResult
    package func write<T: Sendable>(
        at home: Home, beside others: Set<Home> = [], _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        for _ in 0..<Self.mostPreparations {
            do {
                return try await database.write(at: home, beside: others, body)
            } catch let cold as any ColdWrite {
                try await database.read { try cold.prepare(in: $0) }
            }
        }
        throw StorageError.busy
    }

    /// To be called while a request's body comes, and once it is there: whoever sends may hold it back until the
    /// session has ended. It costs a statement only where some session has ended since it was known to be in force.
    /// - Returns: the session as of now.
    /// - Throws: `sessionExpired`.
    package func recheck(_ session: Session) async throws -> Session {
        let now = clock()
        guard !sessions.isUnchanged(session, now: now) else { return session }
        var session = session
        let generation = sessions.generation
        try await database.read { [session] in try Sessions.check(session, now: now, in: $0) }
        session.generation = generation
        return session
    }

    /// Long rosters of one request that nobody has asked for lately.
    private static let mostPreparations = 50
}
