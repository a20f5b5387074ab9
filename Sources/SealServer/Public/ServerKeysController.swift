import Foundation
import Hummingbird
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// `server-keys/create`, `list` and `revoke`: by an account's session, below the public database that the keys are for.
struct ServerKeysController: Sendable {
    let services: Services

    func addRoutes(to router: Router<SealRequestContext>) {
        let group = router.group(DatabasePath.route)
        group.post("server-keys/create") { try await create($0, $1) }
        group.post("server-keys/list") { try await list($0, $1) }
        group.post("server-keys/revoke") { try await revoke($0, $1) }
    }

    private func create(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let (session, path) = try Self.place(context)
        let message = try await request.decode(Sealkit_V1_CreateServerKeyRequest.self, context)
        let (name, binding) = (message.name, [UInt8](message.loginBinding))
        guard (1...255).contains(name.utf8.count), !name.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            throw ServerError(
                .invalidArguments, "A server-to-server key's name has 1 to 255 bytes and no control characters.",
                remedy: "Name it after the server that it is for.")
        }
        let chain = try Identities.chain(message.chain, container: path.container)
        guard chain.signed.count == 1 else {
            throw ServerError(
                .invalidArguments, "A server-to-server key is of one generation.", remedy: "Make a new key, and revoke the old one.")
        }
        let now = services.clock()
        try services.limiter.count(
            .serverKeyCreation, .account(session.accountID), rule: services.limits.serverKeyCreation, now: now)
        let accountName = Hex.encode(services.randomBytes(16))
        let key = try await services.write(as: session) { connection in
            try Identities.checkBinding(binding, of: chain, to: session.accountID, in: connection)
            return try ServerKeys.create(
                chain, name: name, by: session, path, accountName: accountName, now: now, in: connection)
        }
        return try Response(Sealkit_V1_CreateServerKeyResponse.with { $0.key = key }, for: request)
    }

    private func list(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let (session, path) = try Self.place(context)
        _ = try await request.decode(Sealkit_V1_ListServerKeysRequest.self, context)
        let keys = try await services.database.read { try ServerKeys.list(of: session, path, in: $0) }
        return try Response(Sealkit_V1_ListServerKeysResponse.with { $0.keys = keys }, for: request)
    }

    private func revoke(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let (session, path) = try Self.place(context)
        let user = try await request.decode(Sealkit_V1_RevokeServerKeyRequest.self, context).userRecordName
        try await services.write(as: session) { try ServerKeys.revoke(user, by: session, path, in: $0) }
        return try Response(Sealkit_V1_RevokeServerKeyResponse(), for: request)
    }

    /// An account's session: a key makes and revokes no keys.
    private static func place(_ context: SealRequestContext) throws(ServerError) -> (Session, DatabasePath) {
        let path = try DatabasePath(context, takesPublic: true)
        guard path.database == .public else {
            throw ServerError(
                .badDatabase, "Server-to-server keys are for public databases.", remedy: "Use the public database's path.")
        }
        return (try context.requireSession(), path)
    }
}
