import SealService
import SealWire

extension SealRequestContext {
    /// Whose request this is in a database: a session's, in the public database also a server-to-server key's; nil for
    /// somebody without an account, who may come to the public one.
    /// - Throws: `notAuthenticated`, `sessionExpired`; `permissionFailure` for a key of another container or
    ///   environment.
    func session(in path: DatabasePath) throws(ServerError) -> Session? {
        // A token that is no good is not the same as none: whoever has an account learns that it does not speak for it.
        guard path.database == .public, session == nil, !hasEndedSession else { return try requireSession() }
        return try serverKey?.session(in: path)
    }

    /// As `session(in:)`, for what nobody does without an account.
    func requireSession(in path: DatabasePath) throws(ServerError) -> Session {
        guard let session = try session(in: path) else { throw ServerError.needsSession }
        return session
    }
}
