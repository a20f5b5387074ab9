package import SealPrimitives
import SealStatements
package import SealStorage
import SealWire

/// Closes an account for ever, in the caller's transaction: from its commit on nobody logs in, reads or joins anything
/// of it.
///
/// What stays is what keeps its names from anybody else, and what others have signed proof of: login key and
/// identities, whose account is the negative number from now on. Everything else is erased afterwards
/// (`AccountErasure`).
package enum AccountDeletion {
    /// - Parameter now: microseconds since 1970.
    /// - Returns: the accounts that were closed: this one and those of its server-to-server keys; none where that has
    ///   happened before.
    /// - Throws: `unknownItem`; `accountSuspended`: what the operator looks into is not to be erased meanwhile;
    ///   `constraintViolation` while others see a zone of the account, or it one of theirs:
    ///   those ends are signed, which the server cannot do.
    package static func close(
        _ loginKey: VerificationKey, now: Int64, in connection: any SQLConnection
    ) throws -> [Int64] {
        guard let found = try Accounts.find(loginKey: loginKey, in: connection) else {
            guard try Accounts.isDeleted(loginKey, in: connection) else {
                throw ServerError(.unknownItem, "No account has this login key.", remedy: "There is nothing to delete.")
            }
            return []
        }
        try found.requireInForce()
        let account = found.id
        try checkShares(of: account, in: connection)
        let keys = try connection.rows("DELETE FROM server_key WHERE owner = $1 RETURNING account", [.integer(account)])
        {
            try $0.int64("account")
        }
        for account in [account] + keys { try close(account: account, in: connection) }
        try ManagementEvents.note(.init(.accountDeleted), now: now, in: connection)
        return [account] + keys
    }

    /// Whether nothing is left to erase of a deleted account.
    package static func isErased(_ loginKey: VerificationKey, in connection: any SQLConnection) throws -> Bool {
        try !connection.exists(
            "SELECT 1 FROM login_key k JOIN account_deletion d ON d.account = -k.account WHERE k.public_key = $1",
            [.blob(loginKey.bytes)])
    }

    /// The identities of an account by its number, before or after it was closed.
    private static let identities = "(SELECT id FROM identity WHERE account = $1)"

    /// Where it is named by others, in rows that go at once.
    private static let mentions: [(table: Table, column: String)] = Tables.erased.flatMap { table in
        table.mentions.compactMap { mention in
            if case .atClosing = mention.meaning { (table, mention.column) } else { nil }
        }
    }

    private static func checkShares(of account: Int64, in connection: any SQLConnection) throws {
        let own = try connection.exists(
            """
            SELECT 1 FROM zone z WHERE z.owner IN \(identities) AND z.closed = 0 AND (z.participants > 0 OR EXISTS
                (SELECT 1 FROM share s WHERE s.owner = z.owner AND s.zone = z.zone AND s.closed = 0 AND s.participants > 0))
            """, [.integer(account)])
        guard !own else {
            throw ServerError(
                .constraintViolation, "A zone of this account is shared still.",
                remedy: "Delete the shared zones first: their participants are to see a signed end of them.")
        }
        let joined = try connection.exists(
            "SELECT 1 FROM zone_view WHERE viewer IN \(identities) AND shared = 1 AND gone = 0", [.integer(account)])
        guard !joined else {
            throw ServerError(
                .constraintViolation, "This account takes part in somebody's share still.",
                remedy: "Leave all shares first.")
        }
    }

    private static func close(account: Int64, in connection: any SQLConnection) throws {
        let both: [SQLValue] = [.integer(account), .integer(-account)]
        // Names are unique, and those of accounts are random: this one is nobody's.
        try connection.execute(
            "INSERT INTO account (id, name, created) VALUES ($1, $2, 0)",
            [.integer(-account), .text("deleted-\(account)")])
        try connection.execute("UPDATE login_key SET account = $2 WHERE account = $1", both)
        try connection.execute("UPDATE identity SET account = $2 WHERE account = $1", both)
        try StorageUsage.close(account, in: connection)
        for table in Tables.erased {
            guard case (.atClosing, .account(let column)) = (table.erased, table.whose) else { continue }
            try connection.execute("DELETE FROM \(table.name) WHERE \(column) = $1", [.integer(account)])
        }
        connection.announce(.sessions(account: account))
        let closed: [SQLValue] = [.integer(-account)]
        // Rows of those that have ended stay for ever, so there may be very many; they are as they have to be.
        try connection.execute(
            "UPDATE zone SET closed = 1, watched = 0 WHERE owner IN \(identities) AND (closed = 0 OR watched <> 0)",
            closed)
        try connection.execute("UPDATE share SET closed = 1 WHERE owner IN \(identities) AND closed = 0", closed)
        for table in Tables.erased where table.findsZones {
            try connection.execute("DELETE FROM \(table.name) WHERE owner IN \(identities)", closed)
        }
        for (table, column) in mentions {
            try connection.execute(
                """
                DELETE FROM \(table.name)
                WHERE (container, \(column)) IN (SELECT container, user_name FROM identity WHERE account = $1)
                """, closed)
        }
        try connection.execute("INSERT INTO account_deletion (account, swept) VALUES ($1, 0)", [.integer(account)])
    }
}
