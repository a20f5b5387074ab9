public import Foundation
import SealCoding
import SealWire
import SwiftProtobuf

/// An e-mail address or phone number that was proven to be an account's.
///
/// The server keeps a keyed hash of it and no more: it cannot say which address this is. It can be told by asking for
/// the address itself, as ``Account/setDiscoverable(_:address:)`` does.
public struct LinkedAddress: Sendable, Hashable, Identifiable {
    /// What kind of address it is.
    public enum Kind: Sendable, Hashable {
        /// A mailbox.
        case emailAddress
        /// A telephone.
        case phoneNumber
        /// Linked before the server kept kinds.
        case unknown
    }

    /// 16 bytes, the same for this address on this server whoever has it.
    public let id: Data
    /// What kind of address it is.
    public let kind: Kind
    /// When it was last proven.
    public let linked: Date
    /// Whether others find the account by it: CloudKit's user discoverability, an address at a time.
    public let isDiscoverable: Bool

    init(_ wire: Sealkit_V1_LinkedAddress) {
        id = wire.id
        kind =
            switch wire.kind {
            case "email": .emailAddress
            case "phone": .phoneNumber
            default: .unknown
            }
        linked = Date(microseconds: wire.linked)
        isDiscoverable = wire.isDiscoverable
    }
}

extension Account {
    /// The addresses that are linked to this account, in the order in which they were proven.
    ///
    /// ``Container/beginVerification(of:for:language:)`` and ``Verification/complete(code:discoverable:)`` link one.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func linkedAddresses() async throws(SealKitError) -> [LinkedAddress] {
        let response: Sealkit_V1_ListAddressesResponse = try await call(
            Endpoints.people.listAddresses, Sealkit_V1_ListAddressesRequest())
        return response.addresses.map(LinkedAddress.init)
    }

    /// Whether others find this account by the address.
    /// - Throws: `unknownItem` where the address is not linked to this account; `invalidArguments` for what is no
    ///   address.
    @discardableResult
    public func setDiscoverable(_ isDiscoverable: Bool, address: String) async throws(SealKitError) -> LinkedAddress {
        try await setDiscoverable(isDiscoverable, .with { $0.address = address })
    }

    /// The same for one that ``linkedAddresses()`` showed.
    @discardableResult
    public func setDiscoverable(_ isDiscoverable: Bool, id: LinkedAddress.ID) async throws(SealKitError)
        -> LinkedAddress
    {
        try await setDiscoverable(isDiscoverable, .with { $0.id = id })
    }

    private func setDiscoverable(
        _ isDiscoverable: Bool, _ handle: Sealkit_V1_AddressHandle
    ) async throws(SealKitError) -> LinkedAddress {
        let response: Sealkit_V1_UpdateAddressResponse = try await call(
            Endpoints.people.updateAddress,
            Sealkit_V1_UpdateAddressRequest.with {
                $0.address = handle
                $0.isDiscoverable = isDiscoverable
            })
        return LinkedAddress(response.address)
    }

    /// Takes an address off this account. Shares that were accepted by it stay; invitations to it need a code again.
    /// One that is not linked is no error.
    /// - Returns: whether it was linked until now; false also where a first try had arrived, and its answer was lost.
    /// - Throws: `invalidArguments` for what is no address.
    @discardableResult
    public func unlinkAddress(_ address: String) async throws(SealKitError) -> Bool {
        try await unlink(.with { $0.address = address })
    }

    /// The same for one that ``linkedAddresses()`` showed.
    @discardableResult
    public func unlinkAddress(id: LinkedAddress.ID) async throws(SealKitError) -> Bool {
        try await unlink(.with { $0.id = id })
    }

    private func unlink(_ handle: Sealkit_V1_AddressHandle) async throws(SealKitError) -> Bool {
        let response: Sealkit_V1_UnlinkAddressResponse = try await call(
            Endpoints.people.unlinkAddress, Sealkit_V1_UnlinkAddressRequest.with { $0.address = handle })
        return response.wasLinked
    }
}
