import SealPrimitives
import SealStorage
import SealWire

/// Who may manage containers: schemas, roles, tokens. No account has to do with it: a stolen session changes no schema.
///
/// A token is `sealkit-management-` and 32 random bytes in base64url. The operator's lies in the secrets folder and is
/// good for every container; tokens made with it are good for one. The server keeps hashes.
package struct ManagementTokens: Sendable {
    package static let prefix = "sealkit-management-"
    package static let mostPerContainer = 100
    package static let fileName = "management.token"
    private static let file = TokenFile(prefix: prefix, label: .managementToken)

    /// What a token is good for.
    private enum Authority: Sendable, Equatable {
        case every
        case container(String)
    }

    private let operatorHash: [UInt8]

    /// Reads `management.token` in the secrets folder, or makes it at the first start. To replace the operator's token,
    /// remove the file and restart.
    package init(secretsFolder: String, randomBytes: (Int) -> [UInt8]) throws {
        operatorHash = try Self.file.loadOrCreate(
            at: secretsFolder + "/" + Self.fileName, randomBytes: randomBytes)
    }

    /// Nil for a text that is no management token.
    static func hash(_ token: some StringProtocol) -> [UInt8]? { file.hash(token) }

    /// What the token of a request is good for; `now` in microseconds since 1970.
    /// - Throws: `notAuthenticated`, alike for no token, a session's token, and one that is unknown, revoked or
    ///   expired.
    private func authority(of token: Substring?, _ transactions: Transactions, now: Int64) async throws -> Authority {
        guard let hash = token.flatMap(Self.hash) else { throw Self.refused }
        if constantTimeEqual(hash, operatorHash) { return .every }
        // Looked up by hash: what a comparison's time could tell about a hash is of no use to find a token.
        let container = try await transactions.read { connection in
            try ManagementTokenRows.container(of: hash, now: now, in: connection)
        }
        guard let container else { throw Self.refused }
        return .container(container)
    }

    private static let refused = ServerError(
        .notAuthenticated, "This request needs a management token that is good.",
        remedy: "Send the operator's token, or one made with sealkit management-token create, as the bearer.")

    /// What somebody may do who has shown a container's token once: manage that container, as long as the token is
    /// good.
    package struct Grant: Sendable, Equatable {
        package let container: String
        fileprivate let hash: [UInt8]
    }

    /// For pages: of a container's token alone.
    /// - Throws: `notAuthenticated`; `permissionFailure` for the operator's token, which is for no container.
    package func grant(
        of token: Substring, _ transactions: Transactions, now: Int64
    ) async throws -> Grant {
        guard let hash = Self.hash(token) else { throw Self.refused }
        guard case .container(let container) = try await authority(of: token, transactions, now: now) else {
            throw ServerError(
                .permissionFailure, "The operator's management token is for no page.",
                remedy: "Use the operator's token, or one that was made for a container.")
        }
        return Grant(container: container, hash: hash)
    }

    /// Whether the token is neither revoked nor expired since.
    package static func isGood(_ grant: Grant, _ transactions: Transactions, now: Int64) async throws -> Bool {
        try await transactions.read { connection in
            try ManagementTokenRows.container(of: grant.hash, now: now, in: connection) == grant.container
        }
    }

    /// For calls about one container.
    /// - Throws: `notAuthenticated`; `permissionFailure` for another container's token.
    package func require(
        _ token: Substring?, for container: String, _ transactions: Transactions, now: Int64
    ) async throws {
        let authority = try await authority(of: token, transactions, now: now)
        guard authority == .every || authority == .container(container) else {
            throw ServerError(
                .permissionFailure, "The management token is for another container.",
                remedy: "Use this container's token.")
        }
    }

    /// For calls that only the server's operator may make.
    package func requireOperator(_ token: Substring?, _ transactions: Transactions, now: Int64) async throws {
        guard try await authority(of: token, transactions, now: now) == .every else {
            throw ServerError(
                .permissionFailure, "This needs the operator's management token.",
                remedy: "Use the token in the server's secrets folder.")
        }
    }
}
