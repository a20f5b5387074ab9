package import SealPrimitives
package import SealStatements
package import SealStorage
import SealWire

/// Server-to-server keys, in the caller's transaction.
///
/// Each is a user of its own: an identity with an account that nobody can log in to. It is the creator of what it
/// saves, custom roles can be given to it, and it is nobody else: it opens nothing, and whoever steals it has what it
/// has.
package enum ServerKeys {
    package struct Row: Sendable {
        package let account: Int64
        package let container: String
        package let environment: Environment
        package let publicKey: VerificationKey
        /// Of the account that made it.
        let suspension: Suspension?

        /// For whoever has shown that it holds the key: nobody else is told.
        /// - Throws: `accountSuspended`.
        package func requireInForce() throws(ServerError) {
            if let suspension { throw suspension.refusal }
        }
    }

    package static let outOfReach = ServerError(
        .permissionFailure, "A server-to-server key is for records and assets of one container's public database.",
        remedy: "Use the container and environment that it was made for; for anything else log in to an account.")

    package static let unknown = ServerError(
        .notAuthenticated, "There is no such server-to-server key, or none any more.",
        remedy: "Make one with an account, and use its credential.")

    package static func find(_ user: UserID, in connection: any SQLConnection) throws -> Row? {
        try connection.first(
            """
            SELECT k.account, k.container, k.environment, k.public_key, a.suspended, a.suspension_reason
            FROM server_key k JOIN account a ON a.id = k.owner WHERE k.user_name = $1
            """, [.text(user.recordName)]
        ) { row in
            return Row(
                account: try row.int64("account"), container: try row.text("container"),
                environment: try row.environment("environment"),
                publicKey: try VerificationKey(try row.bytes("public_key")), suspension: try Suspension(row))
        }
    }

    /// - Throws: `notAuthenticated` where the key that the request was signed with was revoked meanwhile;
    ///   `accountSuspended`.
    package static func check(_ session: Session, in connection: any SQLConnection) throws {
        guard let key = try find(UserID(ID16(session.tokenHash)), in: connection) else { throw unknown }
        try key.requireInForce()
    }

    /// Remembers a request until it is too old to be taken anyway; durable like all else, so that a restart forgets
    /// none.
    /// - Returns: false when it was remembered already, or the key was revoked meanwhile.
    package static func remember(
        nonce: ID16, until expires: Int64, of user: UserID, in connection: any SQLConnection
    ) throws -> Bool {
        try connection.execute(
            """
            INSERT INTO server_request (account, nonce, expires)
            SELECT account, $1, $2 FROM server_key WHERE user_name = $3
            ON CONFLICT (account, nonce) DO NOTHING
            """, [.blob(nonce.bytes), .integer(expires), .text(user.recordName)]) == 1
    }

    /// Forgets some nonces of requests that nobody could repeat any more.
    /// - Returns: whether there may be more.
    package static func sweep(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.execute(
            """
            DELETE FROM server_request WHERE (account, nonce) IN
                (SELECT account, nonce FROM server_request WHERE expires < $1 LIMIT $2)
            """, [.integer(now), .integer(sweptAtOnce)]) == sweptAtOnce
    }

    private static let sweptAtOnce: Int64 = 500
}
