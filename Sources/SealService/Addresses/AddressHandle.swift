import SealPrimitives
import SealStorage
package import SealWire

/// Which of an account's addresses is meant: as it is written, or by the id that the list of them shows.
package enum AddressHandle: Sendable {
    case hash([UInt8])
    case id([UInt8])

    /// - Throws: `invalidArguments`.
    package init(_ wire: Sealkit_V1_AddressHandle, _ addresses: AddressHasher) throws(ServerError) {
        switch wire.handle {
        case .address(let text): self = .hash(try addresses.hash(text))
        case .id(let id) where id.count == ID16.byteCount: self = .id([UInt8](id))
        case .id, nil:
            throw ServerError(
                .invalidArguments, "The request names no address.",
                remedy: "Give an address, or the id of 16 bytes that the list shows.")
        }
    }

    /// Nil for an id that is none of the account's.
    func hash(of account: Int64, _ addresses: AddressHasher, in connection: any SQLConnection) throws -> [UInt8]? {
        switch self {
        case .hash(let hash): hash
        case .id(let id):
            try LinkedAddresses.hashes(of: account, in: connection).first { addresses.publicID(of: $0) == id }
        }
    }
}
