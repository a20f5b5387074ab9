import SealStorage
import SealWire

/// Who sent a request, once its session token has been checked.
struct Session: Sendable, Equatable {
    let accountID: Int64
    /// Names the session, in the database and in caches. The token itself is kept nowhere.
    let tokenHash: [UInt8]
    /// Whose it is; nil where a server-to-server key signs each request instead.
    var device: Int64?
    /// Of the account's list of devices, which every answer names: a device that knows another one looks.
    var deviceRevision: Int64 = 0
    /// Microseconds since 1970. A server-to-server key ends by revocation only.
    var expires = Int64.max
    /// `Sessions.generation` as of when it was looked up: while that stands still, no session has ended since.
    var generation: UInt64 = 0
}

extension SealRequestContext {
    /// The session, or the error for a route that needs one: `notAuthenticated` without a token, `sessionExpired` for one
    /// that is unknown, ended or expired.
    func requireSession() throws(ServerError) -> Session {
        if let session { return session }
        guard serverKey == nil else { throw ServerKeys.outOfReach }
        guard hasEndedSession else { throw ServerError.needsSession }
        throw ServerError.endedSession
    }

    /// To be called once the body is there: whoever sends may hold it back until the session has ended. It costs a statement only
    /// where some session has ended meanwhile.
    /// - Throws: `sessionExpired`.
    func recheckSession() async throws {
        guard let session, let services else { return }
        let now = services.clock()
        guard !services.sessions.isUnchanged(session, now: now) else { return }
        try await services.database.read { try Sessions.check(session, now: now, in: $0) }
    }
}

extension Services {
    /// A transaction in a session's name: where the session has ended meanwhile, nothing of it happens. Everything that a session
    /// changes goes through here, but for records: see `Sessions.recheck`.
    /// - Throws: `sessionExpired` too.
    @discardableResult
    func write<T: Sendable>(
        as session: Session, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        let now = clock()
        return try await write { connection in
            try Sessions.check(session, now: now, in: connection)
            return try body(connection)
        }
    }

    /// A transaction that may need rosters. Where it would have to replay a long one it is taken back, and begun again once that has
    /// been done beside the writer: `body` may run more than once.
    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        for _ in 0..<Self.mostRosters {
            do {
                return try await database.write(body)
            } catch let cold as RosterCache.Cold {
                try await database.read { try self.rosters.warm(cold.zone, in: $0) }
            }
        }
        throw StorageError.busy
    }

    /// Long rosters of one request that nobody has asked for lately.
    private static let mostRosters = 50
}

extension ServerError {
    static let endedSession = ServerError(.sessionExpired, "The session has ended or expired.", remedy: "Log in again.")
}
