import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `1/management-tokens/create`, `list`, `revoke`: with the operator's token.
struct ManagementTokensController: Sendable {
    let transactions: Transactions
    let clock: @Sendable () -> Int64
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// Two hundred years: no sum with it overflows.
    static let longestLifetime: UInt64 = 200 * 366 * 86_400

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.management.createToken) { try await create($0, $1) }
        router.on(Endpoints.management.listTokens) { try await list($0, $1) }
        router.on(Endpoints.management.revokeToken) { try await revoke($0, $1) }
    }

    private func create(
        _ message: Sealkit_V1_CreateManagementTokenRequest, _ call: OpenCall
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
        let token = ManagementTokens.prefix + Base64URL.encode(bytes)
        let hash = ServerHash.digest(.managementToken, bytes)
        let made = Sealkit_V1_ManagementToken.with {
            $0.id = Hex.encode(randomBytes(8))
            $0.container = message.container
            $0.name = message.name
            $0.created = now
            $0.expires = message.lifetime == 0 ? 0 : now + Int64(message.lifetime) * 1_000_000
        }
        try await transactions.write(at: .everything) { connection in
            try connection.execute(
                "DELETE FROM management_token WHERE container = $1 AND expires <= $2",
                [.text(made.container), .integer(now)])
            let count = try connection.first(
                "SELECT COUNT(*) AS count FROM management_token WHERE container = $1", [.text(made.container)]
            ) { try $0.int64("count") }
            guard count ?? 0 < Int64(ManagementTokens.mostPerContainer) else {
                throw ServerError(
                    .limitExceeded, "A container has at most \(ManagementTokens.mostPerContainer) management tokens.",
                    remedy: "Revoke those that are not in use.")
            }
            try connection.execute(
                """
                INSERT INTO management_token (container, id, name, token_hash, created, expires)
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .text(made.container), .text(made.id), .text(made.name), .blob(hash), .integer(made.created),
                    made.expires == 0 ? .null : .integer(made.expires),
                ])
        }
        return Sealkit_V1_CreateManagementTokenResponse.with {
            $0.token = made
            $0.secret = token
        }
    }

    private func list(
        _ message: Sealkit_V1_ListManagementTokensRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_ListManagementTokensResponse {
        if !message.container.isEmpty { try Self.check(container: message.container) }
        let (now, after) = (clock(), message.after)
        var tokens = try await transactions.read { connection in
            try connection.rows(
                """
                SELECT id, container, name, created, expires FROM management_token
                WHERE (container = $1 OR $1 = '') AND (expires IS NULL OR expires > $2)
                    AND (container, created, id) > ($3, $4, $5) ORDER BY container, created, id LIMIT $6
                """,
                [
                    .text(message.container), .integer(now), .text(after.container), .integer(after.created),
                    .text(after.id),
                    .integer(Int64(ManagementTokens.mostPerPage + 1)),
                ]
            ) { row in
                let (id, container, name) = (try row.text("id"), try row.text("container"), try row.text("name"))
                let (created, expires) = (try row.int64("created"), try row.optionalInt64("expires") ?? 0)
                return Sealkit_V1_ManagementToken.with {
                    ($0.id, $0.container, $0.name, $0.created, $0.expires) = (id, container, name, created, expires)
                }
            }
        }
        let moreComing = tokens.count > ManagementTokens.mostPerPage
        if moreComing { tokens.removeLast() }
        return Sealkit_V1_ListManagementTokensResponse.with { [tokens] in
            $0.tokens = tokens
            $0.moreComing = moreComing
        }
    }

    /// At once, on every route.
    private func revoke(
        _ message: Sealkit_V1_RevokeManagementTokenRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_RevokeManagementTokenResponse {
        guard message.id.utf8.count == 16, (try? Hex.decode(message.id)) != nil else {
            throw ServerError(
                .invalidArguments, "A management token's id has 16 hexadecimal digits.",
                remedy: "List the tokens to see their ids.")
        }
        try await transactions.write(at: .everything) { connection in
            guard try connection.execute("DELETE FROM management_token WHERE id = $1", [.text(message.id)]) > 0 else {
                throw ServerError(
                    .unknownItem, "There is no such management token any more.",
                    remedy: "List the tokens to see their ids.")
            }
        }
        return Sealkit_V1_RevokeManagementTokenResponse()
    }

    private static func check(container: String) throws(ServerError) {
        guard Names.isContainer(container) else {
            throw ServerError(
                .badContainer, "The request does not name a container.",
                remedy: "A container's name has letters, digits, dots and hyphens, up to 255.")
        }
    }
}
