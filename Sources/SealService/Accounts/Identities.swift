import SealCoding
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// One account's identity in one container.
package struct IdentityRow: Sendable {
    package let id: Int64
    package let accountID: Int64
    package let userID: UserID
    package let chain: IdentityChain
}

/// The rows of identities, in the caller's transaction.
package enum Identities {
    package static func find(
        account: Int64, container: String, in connection: any SQLConnection
    ) throws -> IdentityRow? {
        try connection.first(
            "SELECT id, account, chain FROM identity WHERE account = $1 AND container = $2",
            [.integer(account), .text(container)]
        ) { try row($0, container) }
    }

    package static func find(user: UserID, container: String, in connection: any SQLConnection) throws -> IdentityRow? {
        try connection.first(
            "SELECT id, account, chain FROM identity WHERE container = $1 AND user_name = $2",
            [.text(container), .text(user.recordName)]
        ) { try row($0, container) }
    }

    /// `identity.id`; nil for a user whom the server does not know.
    package static func id(of user: UserID, container: String, in connection: any SQLConnection) throws -> Int64? {
        try connection.first(
            "SELECT id FROM identity WHERE container = $1 AND user_name = $2",
            [.text(container), .text(user.recordName)]
        ) { try $0.int64("id") }
    }

    /// Cheap: the chain is neither read nor checked.
    package static func idAndName(
        account: Int64, container: String, in connection: any SQLConnection
    ) throws -> (id: Int64, userID: UserID)? {
        try connection.first(
            "SELECT id, user_name FROM identity WHERE account = $1 AND container = $2",
            [.integer(account), .text(container)]
        ) { (try $0.int64("id"), try UserID(recordName: try $0.text("user_name"))) }
    }

    /// All of an account's.
    static func names(
        of account: Int64, in connection: any SQLConnection
    ) throws -> [(container: String, user: String)] {
        try connection.rows(
            "SELECT container, user_name FROM identity WHERE account = $1 ORDER BY container", [.integer(account)]
        ) { (container: try $0.text("container"), user: try $0.text("user_name")) }
    }

    /// The chain as it travels, unchecked: those who receive it check it anyway.
    package static func wireChain(
        account: Int64, container: String, in connection: any SQLConnection
    ) throws -> Sealkit_V1_IdentityChain? {
        try connection.first(
            "SELECT chain FROM identity WHERE account = $1 AND container = $2", [.integer(account), .text(container)]
        ) { try Sealkit_V1_IdentityChain(serializedBytes: try $0.data("chain")) }
    }

    /// - Parameter isLive: nothing of a user whose account was deleted. Records of theirs verify still.
    package static func wireChain(
        user: UserID, container: String, isLive: Bool = false, in connection: any SQLConnection
    ) throws -> Sealkit_V1_IdentityChain? {
        try connection.first(
            "SELECT chain FROM identity WHERE container = $1 AND user_name = $2" + (isLive ? " AND account > 0" : ""),
            [.text(container), .text(user.recordName)]
        ) { try Sealkit_V1_IdentityChain(serializedBytes: try $0.data("chain")) }
    }

    /// Of whoever has proven an address and lets others find them by it: one statement, whatever there is.
    package static func wireChain(
        discoverableAddress hash: [UInt8], container: String, in connection: any SQLConnection
    ) throws -> Sealkit_V1_IdentityChain? {
        try connection.first(
            """
            SELECT i.chain FROM linked_address a JOIN identity i ON i.account = a.account AND i.container = $2
            WHERE a.address_hash = $1 AND a.discoverable = 1
            """, [.blob(hash), .text(container)]
        ) { try Sealkit_V1_IdentityChain(serializedBytes: try $0.data("chain")) }
    }

    /// A chain that a client sent, verified.
    package static func chain(
        _ wire: Sealkit_V1_IdentityChain, container: String
    ) throws(ServerError) -> IdentityChain {
        do {
            return try IdentityChain(wire, container: container)
        } catch .invalidSignature, .invalidIdentity {
            throw ServerError(
                .integrityFailure, "The identity's generations do not follow from one another in this container.",
                remedy: "Send the whole chain from generation 0, for this container.")
        } catch {
            throw ServerError(
                .invalidArguments, "An identity statement is malformed.",
                remedy: "Send each statement as it was signed.")
        }
    }

    /// The identity's newest key has signed a login key of the account: nobody registers another's identity.
    package static func checkBinding(
        _ binding: [UInt8], of chain: IdentityChain, to account: Int64, in connection: any SQLConnection
    ) throws {
        let isBound = try Accounts.loginKeys(of: account, in: connection).contains { loginKey in
            let signed = Challenges.loginBinding(container: chain.current.container, loginKey: loginKey)
            return (try? chain.current.signingKey.verify(binding, over: signed)) != nil
        }
        guard isBound else {
            throw ServerError(
                .integrityFailure, "The identity's newest key has not signed this account's login key.",
                remedy: "Sign the login key with the identity's current signing key.")
        }
    }

    /// Registers a verified chain, or a longer one in place of its own beginning.
    ///
    /// - Returns: whether the account had none here.
    ///
    /// Throws `serverRejectedRequest` when the account has another identity in the container, the identity belongs to
    /// another account, or the chain leaves out or contradicts generations that the server has.
    @discardableResult
    package static func register(
        _ chain: IdentityChain, account: Int64, container: String, in connection: any SQLConnection
    ) throws -> Bool {
        let bytes = try chain.wire.serializedData()
        if let known = try find(user: chain.userID, container: container, in: connection) {
            guard known.accountID == account else {
                throw ServerError(
                    .serverRejectedRequest, "This identity belongs to another account.",
                    remedy: "Log in to the account that registered it.")
            }
            guard chain.signed.starts(with: known.chain.signed) else {
                throw ServerError(
                    .serverRejectedRequest, "The server has other or later generations of this identity.",
                    remedy: "Fetch the identity and continue from its newest generation.")
            }
            guard chain.signed.count > known.chain.signed.count else { return false }
            try connection.execute(
                "UPDATE identity SET chain = $1 WHERE id = $2", [.data(bytes), .integer(known.id)])
            return false
        }
        guard try idAndName(account: account, container: container, in: connection) == nil else {
            throw ServerError(
                .serverRejectedRequest, "The account has another identity in this container.",
                remedy: "Use that identity, or another account.")
        }
        let id = try ShardedNumber.next(in: ShardedNumber(rawValue: account).shard, connection).rawValue
        try connection.execute(
            "INSERT INTO identity (id, account, container, user_name, chain) VALUES ($1, $2, $3, $4, $5)",
            [.integer(id), .integer(account), .text(container), .text(chain.userID.recordName), .data(bytes)])
        return true
    }

    private static func row(_ row: any SQLRow, _ container: String) throws -> IdentityRow {
        let wire = try Sealkit_V1_IdentityChain(serializedBytes: try row.data("chain"))
        let chain = try IdentityChain(wire, container: container)
        return IdentityRow(
            id: try row.int64("id"), accountID: try row.int64("account"), userID: chain.userID, chain: chain)
    }
}
