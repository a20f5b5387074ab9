import Hummingbird
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
        let found = try await transactions.read { [addresses] in
            try LinkedAddresses.all(of: call.session.accountID, addresses, in: $0)
        }
        return .with { $0.addresses = found }
    }

    private func update(
        _ message: Sealkit_V1_UpdateAddressRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_UpdateAddressResponse {
        let handle = try AddressHandle(message.address, addresses)
        let changed = try await transactions.write(as: call.session, at: .everything) { [addresses] connection in
            try LinkedAddresses.setDiscoverable(
                message.isDiscoverable, handle, of: call.session.accountID, addresses, in: connection)
        }
        return .with { $0.address = changed }
    }

    private func unlink(
        _ message: Sealkit_V1_UnlinkAddressRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_UnlinkAddressResponse {
        let handle = try AddressHandle(message.address, addresses)
        let wasLinked = try await transactions.write(as: call.session, at: .everything) { [addresses] in
            try LinkedAddresses.unlink(handle, from: call.session.accountID, addresses, in: $0)
        }
        return .with { $0.wasLinked = wasLinked }
    }
}
