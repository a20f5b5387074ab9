import SealWire

/// Who sent a request, once its session token has been checked.
struct Session: Sendable, Equatable {
    let accountID: Int64
    /// Names the session, in the database and in caches. The token itself is kept nowhere.
    let tokenHash: [UInt8]
}

extension SealRequestContext {
    /// The session, or the error for a route that needs one: `notAuthenticated` without a token, `sessionExpired` for one
    /// that is unknown, ended or expired.
    func requireSession() throws(ServerError) -> Session {
        if let session { return session }
        guard serverKey == nil else { throw ServerKeys.outOfReach }
        guard hasEndedSession else { throw ServerError.needsSession }
        throw ServerError(.sessionExpired, "The session has ended or expired.", remedy: "Log in again.")
    }
}
