import Hummingbird
import SealPrimitives
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `addresses/list`, `addresses/update`, `addresses/unlink`: the addresses that an account has proven. Proving one is
/// `VerificationController`'s.
struct AddressesController: Sendable {
    let transactions: Transactions
    let addresses: AddressHasher

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.people.listAddresses) { try await list($0, $1) }
        router.on(Endpoints.people.updateAddress) { try await update($0, $1) }
        router.on(Endpoints.people.unlinkAddress) { try await unlink($0, $1) }
    }

    private func list(
        _ message: Sealkit_V1_ListAddressesRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_ListAddressesResponse {
        let session = call.session
        let addresses = self.addresses
        let found = try await transactions.read {
            try LinkedAddresses.all(of: session.accountID, addresses, in: $0)
        }
        return Sealkit_V1_ListAddressesResponse.with { $0.addresses = found }
    }

    private func update(
        _ message: Sealkit_V1_UpdateAddressRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_UpdateAddressResponse {
        let session = call.session
        let (addresses, wanted) = (self.addresses, message.isDiscoverable)
        let handle = try Handle(message.address, addresses)
        let changed = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_LinkedAddress? in
            guard let hash = try handle.hash(of: session.accountID, addresses, in: connection) else { return nil }
            return try LinkedAddresses.setDiscoverable(wanted, hash, of: session.accountID, addresses, in: connection)
        }
        guard let changed else {
            throw ServerError(
                .unknownItem, "This address is not linked to the account.",
                remedy: "Prove it first: begin a verification of it.")
        }
        return Sealkit_V1_UpdateAddressResponse.with { $0.address = changed }
    }

    private func unlink(
        _ message: Sealkit_V1_UnlinkAddressRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_UnlinkAddressResponse {
        let session = call.session
        let addresses = self.addresses
        let handle = try Handle(message.address, addresses)
        let wasLinked = try await transactions.write(as: session, at: .everything) { connection in
            guard let hash = try handle.hash(of: session.accountID, addresses, in: connection) else { return false }
            return try LinkedAddresses.unlink(hash, from: session.accountID, in: connection)
        }
        return Sealkit_V1_UnlinkAddressResponse.with { $0.wasLinked = wasLinked }
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
            case .id(let id):
                try LinkedAddresses.hashes(of: account, in: connection).first { addresses.publicID(of: $0) == id }
            }
        }
    }
}
