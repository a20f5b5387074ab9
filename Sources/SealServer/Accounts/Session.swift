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
}

extension ServerError {
    static let endedSession = ServerError(.sessionExpired, "The session has ended or expired.", remedy: "Log in again.")
}
