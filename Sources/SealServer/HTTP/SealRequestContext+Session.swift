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
}
