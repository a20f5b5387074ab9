import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// An account's keys: listed, made, revoked.
extension ServerKeys {
    package static let mostPerAccount = 20

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
            key.userRecordName = try row.text("user_name")
            key.name = try row.text("name")
            key.created = try row.int64("created")
            return key
        }
    }

    /// The identity of a key that is to be made, verified.
    /// - Throws: `invalidArguments` for its name, or more than one generation; `integrityFailure`.
    package static func chain(
        _ message: Sealkit_V1_CreateServerKeyRequest, container: String
    ) throws(ServerError) -> IdentityChain {
        guard (1...255).contains(message.name.utf8.count),
            !message.name.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
        else {
            throw ServerError(
                .invalidArguments, "A server-to-server key's name has 1 to 255 bytes and no control characters.",
                remedy: "Name it after the server that it is for.")
        }
        let chain = try Identities.chain(message.chain, container: container)
        guard chain.signed.count == 1 else {
            throw ServerError(
                .invalidArguments, "A server-to-server key is of one generation.",
                remedy: "Make a new key, and revoke the old one.")
        }
        return chain
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
            "SELECT COUNT(*) AS count FROM server_key WHERE owner = $1", [.integer(session.accountID)]
        ) { try $0.int64("count") }
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
        try ManagementEvents.note(
            .init(
                .serverKeyMade, container: path.container, environment: path.environment.rawValue,
                account: session.accountID, detail: name), now: now, in: connection)
        return .with {
            $0.userRecordName = chain.userID.recordName
            $0.name = name
            $0.created = now
        }
    }

    /// From now on its requests are refused; what it saved stays, signed by it.
    /// - Parameter now: microseconds since 1970.
    /// - Throws: `unknownItem` for one that is none of the session's here.
    package static func revoke(
        _ user: String, by session: Session, _ path: DatabasePath, now: Int64, in connection: any SQLConnection
    ) throws {
        let isGone = try revoke(
            user, where: "AND owner = $2 AND container = $3 AND environment = $4",
            [
                .integer(session.accountID), .text(path.container), .integer(Int64(path.environment.rawValue)),
            ], now: now, in: connection)
        guard isGone else {
            throw ServerError(
                .unknownItem, "The account has no such server-to-server key here.",
                remedy: "List the keys of this container and environment.")
        }
    }

    /// The same by the server's operator, whosever it is.
    /// - Throws: `unknownItem`.
    package static func revoke(_ user: String, now: Int64, in connection: any SQLConnection) throws {
        guard try revoke(user, where: "", [], now: now, in: connection) else {
            throw ServerError(
                .unknownItem, "There is no such server-to-server key any more.", remedy: "Load the list again.")
        }
    }

    /// All that an account has made, wherever they are for.
    package static func revokeAll(of owner: Int64, now: Int64, in connection: any SQLConnection) throws {
        let users = try connection.rows(
            "SELECT user_name FROM server_key WHERE owner = $1 ORDER BY user_name", [.integer(owner)]
        ) { try $0.text("user_name") }
        for user in users { try revoke(user, now: now, in: connection) }
    }

    /// - Returns: whether there was one.
    private static func revoke(
        _ user: String, where condition: String, _ values: [SQLValue], now: Int64, in connection: any SQLConnection
    ) throws -> Bool {
        guard (try? UserID(recordName: user)) != nil else { return false }
        let gone = try connection.first(
            """
            DELETE FROM server_key WHERE user_name = $1 \(condition)
            RETURNING owner, account, name, container, environment
            """, [.text(user)] + values
        ) { row in
            (
                owner: try row.int64("owner"), account: try row.int64("account"), name: try row.text("name"),
                path: DatabasePath(
                    container: try row.text("container"), environment: try row.environment("environment"),
                    database: .public)
            )
        }
        guard let (owner, account, name, path) = gone else { return false }
        try ManagementEvents.note(
            .init(
                .serverKeyRevoked, container: path.container, environment: path.environment.rawValue, account: owner,
                detail: name), now: now, in: connection)
        connection.announce(.sessions(account: account))
        // Its webhooks hear no more.
        let key = try Caller(Session(accountID: account, tokenHash: []), container: path.container, in: connection)
        var subscriptions = Subscriptions(caller: key, path: path, connection: connection)
        try subscriptions.deleteAll()
        return true
    }
}
