import Hummingbird
import SealPrimitives
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `devices/list`, `name` and `revoke`: any device of an account may do each to any.
struct DevicesController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let clock: @Sendable () -> Int64

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.devices.list) { try await list($0, $1) }
        router.on(Endpoints.devices.name) { try await name($0, $1) }
        router.on(Endpoints.devices.revoke) { try await revoke($0, $1) }
    }

    private func list(
        _ message: Sealkit_V1_ListDevicesRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_DevicesResponse {
        let account = call.session.accountID
        let answer = try await transactions.read { connection in
            try Devices.list(
                account: account, revision: try Devices.revision(account: account, in: connection), in: connection)
        }
        return answer
    }

    private func name(_ message: Sealkit_V1_NameDeviceRequest, _ call: SessionCall) async throws
        -> Sealkit_V1_DevicesResponse
    {
        let session = call.session
        let device = try DeviceStatement(
            id: message.id, name: message.name, added: message.added, signature: message.signature)
        let now = clock()
        return try await transactions.write(asAccountOf: session) { connection in
            try Accounts.rename(device, of: session.accountID, now: now, in: connection)
        }
    }

    private func revoke(
        _ message: Sealkit_V1_RevokeDeviceRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_DevicesResponse {
        let session = call.session
        let id = try DeviceStatement.id(message.id)
        let now = clock()
        let answer = try await transactions.write(asAccountOf: session) { connection in
            let revision = try Devices.revoke(id, account: session.accountID, now: now, in: connection)
            return try Devices.list(account: session.accountID, revision: revision, in: connection)
        }
        sessions.forget(account: session.accountID)
        return answer
    }
}
