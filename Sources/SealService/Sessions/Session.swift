import SealWire

/// Who sent a request, once its session token has been checked.
package struct Session: Sendable, Equatable {
    package let accountID: Int64
    /// Names the session, in the database and in caches. The token itself is kept nowhere.
    package let tokenHash: [UInt8]
    /// Whose it is; nil where a server-to-server key signs each request instead.
    package var device: Int64?
    /// Of the account's list of devices, which every answer names: a device that knows another one looks.
    package var deviceRevision: Int64 = 0
    /// Microseconds since 1970. A server-to-server key ends by revocation only.
    package var expires = Int64.max
    /// Where the database holds nothing of it.
    package var provisional: ProvisionalSession?
    /// `Sessions.generation` as of when it was looked up: while that stands still, no session has ended since.
    package var generation: UInt64 = 0
}

extension ServerError {
    package static let needsSession = ServerError(
        .notAuthenticated, "This request needs a session.", remedy: "Log in and send the session token.")

    package static let endedSession = ServerError(
        .sessionExpired, "The session has ended or expired.", remedy: "Log in again.")
}
