import Foundation
import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `server-keys/create`, `list` and `revoke`: by an account's session, below the public database that the keys are for.
struct ServerKeysController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let randomBytes: @Sendable (Int) -> [UInt8]

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.management.createServerKey) { try await create($0, $1) }
        router.on(Endpoints.management.listServerKeys) { try await list($0, $1) }
        router.on(Endpoints.management.revokeServerKey) { try await revoke($0, $1) }
    }

    private func create(
        _ message: Sealkit_V1_CreateServerKeyRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_CreateServerKeyResponse {
        let (session, path) = (call.session, call.path)
        let chain = try ServerKeys.chain(message, container: path.container)
        let now = clock()
        try await rates.countForAll(.serverKeyCreation, .account(session.accountID))
        let accountName = Hex.encode(randomBytes(16))
        let key = try await transactions.write(as: session, at: .everything) { connection in
            try Identities.checkBinding([UInt8](message.loginBinding), of: chain, to: session.accountID, in: connection)
            return try ServerKeys.create(
                chain, name: message.name, by: session, path, accountName: accountName, now: now, in: connection)
        }
        return Sealkit_V1_CreateServerKeyResponse.with { $0.key = key }
    }

    private func list(
        _ message: Sealkit_V1_ListServerKeysRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_ListServerKeysResponse {
        let (session, path) = (call.session, call.path)
        let keys = try await transactions.read { try ServerKeys.list(of: session, path, in: $0) }
        return Sealkit_V1_ListServerKeysResponse.with { $0.keys = keys }
    }

    private func revoke(
        _ message: Sealkit_V1_RevokeServerKeyRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_RevokeServerKeyResponse {
        let (session, path) = (call.session, call.path)
        let (user, now) = (message.userRecordName, clock())
        try await transactions.write(as: session, at: .everything) {
            try ServerKeys.revoke(user, by: session, path, now: now, in: $0)
        }
        return Sealkit_V1_RevokeServerKeyResponse()
    }
}
