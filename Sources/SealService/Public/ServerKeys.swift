import Foundation
package import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Server-to-server keys, in the caller's transaction.
///
/// Each is a user of its own: an identity with an account that nobody can log in to. It is the creator of what it
/// saves, custom roles can be given to it, and it is nobody else: it opens nothing, and whoever steals it has what it
/// has.
package enum ServerKeys {
    package static let mostPerAccount = 20

    package struct Row: Sendable {
        package let account: Int64
        package let container: String
        package let environment: Environment
        package let publicKey: VerificationKey
    }

    /// A request whose signature holds.
    package struct Signed: Sendable {
        package let row: Row
        package let user: UserID
        /// As a session's.
        package let generation: UInt64

        package init(row: Row, user: UserID, generation: UInt64) {
            self.row = row
            self.user = user
            self.generation = generation
        }

        /// - Throws: `permissionFailure` anywhere but in the key's own public database.
        package func session(in path: DatabasePath) throws(ServerError) -> Session {
            guard path.database == .public, path.container == row.container, path.environment == row.environment else {
                throw ServerKeys.outOfReach
            }
            return Session(accountID: row.account, tokenHash: user.id.bytes, generation: generation)
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
            "SELECT account, container, environment, public_key FROM server_key WHERE user_name = $1",
            [.text(user.recordName)]
        ) { row in
            guard let code = UInt8(exactly: try row.int64(2)), let environment = Environment(rawValue: code) else {
                throw StorageError.unexpectedType(column: 2, wanted: "an environment")
            }
            return Row(
                account: try row.int64(0), container: try row.text(1), environment: environment,
                publicKey: try VerificationKey(try row.bytes(3)))
        }
    }

    // MARK: Managing

    package static func list(
        of session: Session, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_ServerKey] {
        try connection.rows(
            """
            SELECT user_name, name, created FROM server_key
            WHERE owner = $1 AND container = $2 AND environment = $3 ORDER BY created, user_name
            """, [.integer(session.accountID), .text(path.container), .integer(Int64(path.environment.rawValue))]
        ) { row in
            var key = Sealkit_V1_ServerKey()
            key.userRecordName = try row.text(0)
            key.name = try row.text(1)
            key.created = try row.int64(2)
            return key
        }
    }

    /// Makes the key's user. The same request again changes nothing: an answer that was lost costs nothing.
    /// - Parameter accountName: for the account behind it; nobody can guess it.
    package static func create(
        _ chain: IdentityChain, name: String, by session: Session, _ path: DatabasePath, accountName: String,
        now: Int64,
        in connection: any SQLConnection
    ) throws -> Sealkit_V1_ServerKey {
        let own = try list(of: session, path, in: connection)
        if let known = own.first(where: { $0.userRecordName == chain.userID.recordName }) { return known }
        let count = try connection.first(
            "SELECT COUNT(*) FROM server_key WHERE owner = $1", [.integer(session.accountID)]
        ) { try $0.int64(0) }
        guard let count, count < mostPerAccount else {
            throw ServerError(
                .limitExceeded, "An account has at most \(mostPerAccount) server-to-server keys.",
                remedy: "Revoke one that is not used any more.")
        }
        let shard = ShardedNumber(rawValue: session.accountID).shard
        let account = try Accounts.insert(name: accountName, shard: shard, now: now, in: connection)
        try Identities.register(chain, account: account, container: path.container, in: connection)
        try connection.execute(
            """
            INSERT INTO server_key (owner, user_name, account, container, environment, name, public_key, created)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .integer(session.accountID), .text(chain.userID.recordName), .integer(account), .text(path.container),
                .integer(Int64(path.environment.rawValue)), .text(name), .blob(chain.current.signingKey.bytes),
                .integer(now),
            ])
        return .with {
            $0.userRecordName = chain.userID.recordName
            $0.name = name
            $0.created = now
        }
    }

    /// From now on its requests are refused; what it saved stays, signed by it.
    package static func revoke(
        _ user: String, by session: Session, _ path: DatabasePath, in connection: any SQLConnection
    ) throws {
        let isName = (try? UserID(recordName: user)) != nil
        let account =
            !isName
            ? nil
            : try connection.first(
                """
                DELETE FROM server_key WHERE owner = $1 AND user_name = $2 AND container = $3 AND environment = $4 RETURNING account
                """,
                [
                    .integer(session.accountID), .text(user), .text(path.container),
                    .integer(Int64(path.environment.rawValue)),
                ]
            ) { try $0.int64(0) }
        guard let account else {
            throw ServerError(
                .unknownItem, "The account has no such server-to-server key here.",
                remedy: "List the keys of this container and environment.")
        }
        connection.announce(.sessions(account: account))
        // Its webhooks hear no more.
        let key = try Caller(Session(accountID: account, tokenHash: []), container: path.container, in: connection)
        var subscriptions = Subscriptions(caller: key, path: path, connection: connection)
        try subscriptions.deleteAll()
    }

    // MARK: Requests

    /// - Throws: `notAuthenticated` where the key that the request was signed with was revoked meanwhile.
    package static func check(_ session: Session, in connection: any SQLConnection) throws {
        guard try find(UserID(ID16(session.tokenHash)), in: connection) != nil else { throw unknown }
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
