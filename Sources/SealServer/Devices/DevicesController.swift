import Hummingbird
import SealPrimitives
import SealWire
import SwiftProtobuf

/// `devices/list`, `name` and `revoke`: any device of an account may do each to any.
struct DevicesController: Sendable {
    let services: Services

    func addRoutes(to router: Router<SealRequestContext>) {
        router.post("1/devices/list") { try await list($0, $1) }
        router.post("1/devices/name") { try await name($0, $1) }
        router.post("1/devices/revoke") { try await revoke($0, $1) }
    }

    private func list(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let account = try context.requireSession().accountID
        _ = try await request.decode(Sealkit_V1_ListDevicesRequest.self, context)
        let answer = try await services.database.read { connection in
            try Devices.list(account: account, revision: try Devices.revision(account: account, in: connection), in: connection)
        }
        return try Response(answer, for: request)
    }

    private func name(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let message = try await request.decode(Sealkit_V1_NameDeviceRequest.self, context)
        let device = try DeviceStatement(id: message.id, name: message.name, added: message.added, signature: message.signature)
        let now = services.clock()
        let answer = try await services.write(as: session) { connection in
            // The newest generation's: a statement by an older one would be replaced at the device's next login.
            let keys = try Accounts.loginKeys(of: session.accountID, in: connection)
            guard let key = keys.first(where: { (try? device.verify(by: $0)) != nil }) else {
                throw ServerError(
                    .notAuthenticated, "The signature does not hold for the device's id, name and time.",
                    remedy: "Sign them with the account's login key.")
            }
            let revision = try Devices.rename(device, account: session.accountID, loginKey: key, now: now, in: connection)
            return try Devices.list(account: session.accountID, revision: revision, in: connection)
        }
        return try Response(answer, for: request)
    }

    private func revoke(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let id = try DeviceStatement.id(try await request.decode(Sealkit_V1_RevokeDeviceRequest.self, context).id)
        let now = services.clock()
        let answer = try await services.write(as: session) { connection in
            let revision = try Devices.revoke(id, account: session.accountID, now: now, in: connection)
            return try Devices.list(account: session.accountID, revision: revision, in: connection)
        }
        services.sessions.forget(account: session.accountID)
        return try Response(answer, for: request)
    }
}
