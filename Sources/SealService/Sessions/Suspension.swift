package import SealStorage
import SealWire

/// That the server's operator has suspended an account: it gets no session, its server-to-server keys do nothing, and
/// what it owns stays as it is. Whoever takes part in its shares goes on with them.
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

    package static func end(of account: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE account SET suspended = NULL, suspension_reason = NULL WHERE id = $1", [.integer(account)])
    }
}
