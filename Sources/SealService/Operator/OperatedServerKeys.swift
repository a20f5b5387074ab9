import SealStatements
package import SealStorage

/// Server-to-server keys as the server's operator sees them: whose, and for which public database. Nothing of a key but
/// its name.
package enum OperatedServerKeys {
    package struct Key: Sendable {
        package let userRecordName: String
        package let name: String
        package let container: String
        package let environment: String
        /// The account that made it.
        package let account: String
        /// Microseconds since 1970.
        package let created: Int64
        /// Of the account, and so the key's.
        package let isSuspended: Bool
    }

    /// By container and name of the key's user. It reads all keys.
    /// - Parameter container: empty for all.
    package static func list(
        of container: String, limit: Int, in connection: any SQLConnection
    ) throws -> [Key] {
        try connection.rows(
            """
            SELECT k.user_name, k.name, k.container, k.environment, k.created, a.name AS account, a.suspended
            FROM server_key k JOIN account a ON a.id = k.owner WHERE k.container = $1 OR $1 = ''
            ORDER BY k.container, k.environment, k.user_name LIMIT $2
            """, [.text(container), .integer(Int64(limit))]
        ) { row in
            Key(
                userRecordName: try row.text("user_name"), name: try row.text("name"),
                container: try row.text("container"), environment: try row.environment("environment").name,
                account: try row.text("account"), created: try row.int64("created"),
                isSuspended: try row.optionalInt64("suspended") != nil)
        }
    }
}
