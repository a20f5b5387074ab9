import SealPrimitives
import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// Makes, lists and revokes containers' management tokens, for the server's operator.
package struct ContainerTokens: Sendable {
    /// Seconds; two hundred years: no sum with it overflows.
    package static let longestLifetime: UInt64 = 200 * 366 * 86_400
    private static let mostPerPage = 1_000

    private let transactions: Transactions
    private let clock: @Sendable () -> Int64
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - clock: microseconds since 1970.
    ///   - randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, clock: @escaping @Sendable () -> Int64,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.clock = clock
        self.randomBytes = randomBytes
    }

    /// The token itself is in this answer and nowhere else.
    /// - Throws: `badContainer`, `invalidArguments`; `limitExceeded` where the container has too many.
    package func create(
        _ message: Sealkit_V1_CreateManagementTokenRequest
    ) async throws -> Sealkit_V1_CreateManagementTokenResponse {
        try Self.check(container: message.container)
        guard Names.isPlain(message.name) else {
            throw ServerError(
                .invalidArguments, "A token needs a name of printable ASCII, up to 255 bytes.",
                remedy: "Say what the token is for.")
        }
        guard message.lifetime <= Self.longestLifetime else {
            throw ServerError(
                .invalidArguments, "The token's lifetime is longer than 200 years.",
                remedy: "Give it in seconds, or 0 for a token that is good until it is revoked.")
        }
        let now = clock()
        var bytes = randomBytes(32)
        defer { wipe(&bytes) }
        let hash = ServerHash.digest(.managementToken, bytes)
        let made = Sealkit_V1_ManagementToken.with {
            $0.id = Hex.encode(randomBytes(8))
            $0.container = message.container
            $0.name = message.name
            $0.created = now
            $0.expires = message.lifetime == 0 ? 0 : now + Int64(message.lifetime) * 1_000_000
        }
        try await transactions.write(at: .everything) { connection in
            let count = try ManagementTokenRows.count(of: made.container, now: now, in: connection)
            guard count < Int64(ManagementTokens.mostPerContainer) else {
                throw ServerError(
                    .limitExceeded, "A container has at most \(ManagementTokens.mostPerContainer) management tokens.",
                    remedy: "Revoke those that are not in use.")
            }
            try ManagementTokenRows.insert(made, hash: hash, in: connection)
            try ManagementEvents.note(
                .init(.tokenMade, container: made.container, detail: "\(made.id) \(made.name)"), now: now,
                in: connection)
        }
        return .with {
            $0.token = made
            $0.secret = ManagementTokens.prefix + Base64URL.encode(bytes)
        }
    }

    /// - Throws: `badContainer`.
    package func list(
        _ message: Sealkit_V1_ListManagementTokensRequest
    ) async throws -> Sealkit_V1_ListManagementTokensResponse {
        if !message.container.isEmpty { try Self.check(container: message.container) }
        let now = clock()
        // One more than a page holds tells whether there is another one.
        let tokens = try await transactions.read { connection in
            try ManagementTokenRows.page(
                of: message.container, after: message.after, limit: Self.mostPerPage + 1, now: now, in: connection)
        }
        return .with {
            $0.tokens = Array(tokens.prefix(Self.mostPerPage))
            $0.moreComing = tokens.count > Self.mostPerPage
        }
    }

    /// At once, on every route.
    /// - Throws: `invalidArguments`, `unknownItem`.
    package func revoke(_ message: Sealkit_V1_RevokeManagementTokenRequest) async throws {
        guard message.id.utf8.count == 16, (try? Hex.decode(message.id)) != nil else {
            throw ServerError(
                .invalidArguments, "A management token's id has 16 hexadecimal digits.",
                remedy: "List the tokens to see their ids.")
        }
        let now = clock()
        try await transactions.write(at: .everything) { connection in
            guard let gone = try ManagementTokenRows.delete(message.id, in: connection) else {
                throw ServerError(
                    .unknownItem, "There is no such management token any more.",
                    remedy: "List the tokens to see their ids.")
            }
            try ManagementEvents.note(
                .init(.tokenRevoked, container: gone.container, detail: "\(message.id) \(gone.name)"), now: now,
                in: connection)
        }
    }

    private static func check(container: String) throws(ServerError) {
        guard Names.isContainer(container) else {
            throw ServerError(
                .badContainer, "The request does not name a container.",
                remedy: "A container's name has letters, digits, dots and hyphens, up to 255.")
        }
    }
}
