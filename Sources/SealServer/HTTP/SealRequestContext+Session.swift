import SealService
import SealStorage
import SealWire

extension SealRequestContext {
    /// The session, or the error for a route that needs one: `notAuthenticated` without a token, `sessionExpired` for
    /// one that is unknown, ended or expired.
    func requireSession() throws(ServerError) -> Session {
        if let session { return session }
        guard serverKey == nil else { throw ServerKeys.outOfReach }
        guard hasEndedSession else { throw ServerError.needsSession }
        throw ServerError.endedSession
    }

    /// To be called once the body is there: whoever sends may hold it back until the session has ended. It costs a
    /// statement only where some session has ended meanwhile.
    /// - Throws: `sessionExpired`.
    func recheckSession() async throws {
        guard let session, let services else { return }
        let now = services.clock()
        guard !services.sessions.isUnchanged(session, now: now) else { return }
        try await services.database.read { try Sessions.check(session, now: now, in: $0) }
    }
}
