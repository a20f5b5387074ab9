import Hummingbird
import SealPrimitives
import SealWire
import SwiftProtobuf

/// `addresses/list`, `addresses/update`, `addresses/unlink`: the addresses that an account has proven. Proving one is
/// `VerificationController`'s.
struct AddressesController: Sendable {
    let services: Services

    func addRoutes(to router: Router<SealRequestContext>) {
        router.post("1/addresses/list") { try await list($0, $1) }
        router.post("1/addresses/update") { try await update($0, $1) }
        router.post("1/addresses/unlink") { try await unlink($0, $1) }
    }

    private func list(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        _ = try await request.decode(Sealkit_V1_ListAddressesRequest.self, context)
        let addresses = services.addresses
        let found = try await services.database.read { try LinkedAddresses.all(of: session.accountID, addresses, in: $0) }
        return try Response(Sealkit_V1_ListAddressesResponse.with { $0.addresses = found }, for: request)
    }

    private func update(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let message = try await request.decode(Sealkit_V1_UpdateAddressRequest.self, context)
        let (addresses, wanted) = (services.addresses, message.isDiscoverable)
        let handle = try Handle(message.address, addresses)
        let changed = try await services.write(as: session) { connection -> Sealkit_V1_LinkedAddress? in
            guard let hash = try handle.hash(of: session.accountID, addresses, in: connection) else { return nil }
            return try LinkedAddresses.setDiscoverable(wanted, hash, of: session.accountID, addresses, in: connection)
        }
        guard let changed else {
            throw ServerError(
                .unknownItem, "This address is not linked to the account.", remedy: "Prove it first: begin a verification of it.")
        }
        return try Response(Sealkit_V1_UpdateAddressResponse.with { $0.address = changed }, for: request)
    }

    private func unlink(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let message = try await request.decode(Sealkit_V1_UnlinkAddressRequest.self, context)
        let addresses = services.addresses
        let handle = try Handle(message.address, addresses)
        let wasLinked = try await services.write(as: session) { connection in
            guard let hash = try handle.hash(of: session.accountID, addresses, in: connection) else { return false }
            return try LinkedAddresses.unlink(hash, from: session.accountID, in: connection)
        }
        return try Response(Sealkit_V1_UnlinkAddressResponse.with { $0.wasLinked = wasLinked }, for: request)
    }

    /// Which of the account's addresses is meant.
    private enum Handle: Sendable {
        case hash([UInt8])
        case id([UInt8])

        init(_ wire: Sealkit_V1_AddressHandle, _ addresses: AddressHasher) throws(ServerError) {
            switch wire.handle {
            case .address(let text): self = .hash(try addresses.hash(text))
            case .id(let id) where id.count == ID16.byteCount: self = .id([UInt8](id))
            case .id, nil:
                throw ServerError(
                    .invalidArguments, "The request names no address.",
                    remedy: "Give an address, or the id of 16 bytes that the list shows.")
            }
        }

        func hash(of account: Int64, _ addresses: AddressHasher, in connection: any SQLConnection) throws -> [UInt8]? {
            switch self {
            case .hash(let hash): hash
            case .id(let id): try LinkedAddresses.hashes(of: account, in: connection).first { addresses.publicID(of: $0) == id }
            }
        }
    }
}
