import SealService
import SealStorage

extension Services {
    /// A transaction in a session's name: where the session has ended meanwhile, nothing of it happens. Everything that
    /// a session changes goes through here, but for records: see `Sessions.recheck`.
    /// - Throws: `sessionExpired` too.
    @discardableResult
    func write<T: Sendable>(
        as session: Session, at home: Home, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        let now = clock()
        return try await write(at: home) { connection in
            try Sessions.check(session, now: now, in: connection)
            return try body(connection)
        }
    }

    /// A transaction that may need rosters. Where it would have to replay a long one it is taken back, and begun again
    /// once that has been done beside the writer: `body` may run more than once.
    @discardableResult
    func write<T: Sendable>(
        at home: Home, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        for _ in 0..<Self.mostRosters {
            do {
                return try await database.write(at: home, body)
            } catch let cold as RosterCache.Cold {
                try await database.read { try self.rosters.warm(cold.zone, in: $0) }
            }
        }
        throw StorageError.busy
    }

    /// Long rosters of one request that nobody has asked for lately.
    private static let mostRosters = 50
}
