package import SealPrimitives
package import SealStorage
import SealWire

/// The rows of accounts, in the caller's transaction.
package enum Accounts {
    static let unknownKey = ServerError(
        .unknownItem, "No account has this login key.", remedy: "Create the account.")

    package struct Row: Sendable {
        package let id: Int64
        package let name: String
        /// Nil unless the operator has suspended it.
        let suspension: Suspension?

        /// For whoever has shown that they hold its login key: nobody else is told.
        /// - Throws: `accountSuspended`.
        func requireInForce() throws(ServerError) {
            if let suspension { throw suspension.refusal }
        }
    }

    package static func find(loginKey: VerificationKey, in connection: any SQLConnection) throws -> Row? {
        try connection.first(
            """
            SELECT account.id, account.name, account.suspended, account.suspension_reason
            FROM login_key JOIN account ON account.id = login_key.account
            WHERE public_key = $1 AND replaced = 0 AND account.id > 0
            """, [.blob(loginKey.bytes)]
        ) { Row(id: try $0.int64("id"), name: try $0.text("name"), suspension: try Suspension($0)) }
    }

    /// Whether the key's account was deleted: nobody gets another one by it.
    package static func isDeleted(_ loginKey: VerificationKey, in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM login_key WHERE public_key = $1 AND account < 0", [.blob(loginKey.bytes)])
    }

    /// - Throws: `serverRejectedRequest` for the key of an account that was deleted; `keysReplaced` for one that was in
    ///   use once.
    package static func create(
        loginKey: VerificationKey, name: String, now: Int64, in connection: any SQLConnection
    ) throws -> Row {
        guard try !isDeleted(loginKey, in: connection) else {
            throw ServerError(
                .serverRejectedRequest, "The account of this login key was deleted.",
                remedy: "Make an account with new keys.")
        }
        guard try !KeyRotation.isReplaced(loginKey, in: connection) else { throw KeyRotation.replaced }
        let id = try insert(name: name, shard: try ShardedNumber.shard(of: connection), now: now, in: connection)
        try add(loginKey, to: id, in: connection)
        return Row(id: id, name: name, suspension: nil)
    }

    static func add(_ loginKey: VerificationKey, to account: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            "INSERT INTO login_key (public_key, account) VALUES ($1, $2)", [.blob(loginKey.bytes), .integer(account)])
    }

    /// An account that nobody logs in to, until it gets a login key.
    package static func insert(
        name: String, shard: Int64, now: Int64, in connection: any SQLConnection
    ) throws -> Int64 {
        let id = try ShardedNumber.next(in: shard, connection).rawValue
        try connection.execute(
            "INSERT INTO account (id, name, created) VALUES ($1, $2, $3)", [.integer(id), .text(name), .integer(now)])
        return id
    }

    package static func loginKeys(of account: Int64, in connection: any SQLConnection) throws -> [VerificationKey] {
        try connection.rows("SELECT public_key FROM login_key WHERE account = $1 AND replaced = 0", [.integer(account)])
        {
            try VerificationKey(try $0.bytes("public_key"))
        }
    }
}
