package import SealStorage
import SealWire

/// That the server's operator has suspended an account: it gets no session, its server-to-server keys do nothing,
/// no webhook of either is sent anything, and what it owns stays as it is. Whoever takes part in its shares goes on
/// with them.
package struct Suspension: Sendable, Equatable {
    /// What the operator may give as the reason, in UTF-8.
    package static let mostReasonBytes = 255

    /// Microseconds since 1970.
    package let since: Int64
    /// Empty where none was given.
    package let reason: String

    /// Of a row with the account's columns `suspended` and `suspension_reason`; nil unless it is suspended.
    package init?(_ row: any SQLRow) throws {
        guard let since = try row.optionalInt64("suspended") else { return nil }
        self.since = since
        reason = try row.optionalText("suspension_reason") ?? ""
    }

    /// A condition of SQL: that an identity's account is suspended, or the one that has made the server-to-server key
    /// which the identity is.
    /// - Parameter identity: an expression for its id.
    package static func holds(identity: String) -> String {
        """
        EXISTS (SELECT 1 FROM identity i JOIN account a ON a.id = i.account
            WHERE i.id = \(identity) AND (a.suspended IS NOT NULL OR EXISTS (
                SELECT 1 FROM server_key k JOIN account o ON o.id = k.owner
                WHERE k.user_name = i.user_name AND o.suspended IS NOT NULL)))
        """
    }

    var refusal: ServerError {
        ServerError(
            .accountSuspended,
            "This server's operator has suspended the account\(reason.isEmpty ? "." : ": \(reason)")",
            remedy: "Ask the server's operator. Nothing of the account is lost, and its shares go on for those in them."
        )
    }

    /// Begins one, in the caller's transaction, and ends the account's sessions: `Sessions.forget` has to follow it.
    /// Again it changes the reason, where another is given, and nothing else.
    package static func begin(
        of account: Int64, reason: String, now: Int64, in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            UPDATE account SET suspended = COALESCE(suspended, $2),
                suspension_reason = CASE WHEN $3 = '' THEN COALESCE(suspension_reason, '') ELSE $3 END
            WHERE id = $1
            """, [.integer(account), .integer(now), .text(reason)])
        try Sessions.endAll(of: account, in: connection)
    }

    /// - Returns: whether it was suspended.
    package static func end(of account: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.execute(
            """
            UPDATE account SET suspended = NULL, suspension_reason = NULL WHERE id = $1 AND suspended IS NOT NULL
            """, [.integer(account)]) > 0
    }
}
