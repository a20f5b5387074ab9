public import SealPrimitives
import SealStatements

/// A device as it has stated itself: no server can make one of an account up.
public struct DeviceStatement: Sendable, Hashable {
    public let id: ID16
    public let name: String
    /// When it came to the account, by its own clock: microseconds since 1970.
    public let added: Int64
    /// By one of the account's login keys.
    public let signature: [UInt8]

    /// As a server lists it.
    public init(id: ID16, name: String, added: Int64, signature: [UInt8]) {
        self.id = id
        self.name = name
        self.added = added
        self.signature = signature
    }

    /// As the account states it.
    public init(id: ID16, name: String, added: Int64, by key: SigningKey) {
        self.init(
            id: id, name: name, added: added, signature: key.sign(Challenges.device(id, name: name, added: added)))
    }

    /// - Parameter keys: the account's login keys, of all generations in use.
    /// - Throws: `invalidSignature` unless one of them has signed it.
    public func verify(by keys: [VerificationKey]) throws(SealError) {
        let message = Challenges.device(id, name: name, added: added)
        for key in keys where (try? key.verify(signature, over: message)) != nil { return }
        throw .invalidSignature
    }

    /// Nothing of a list is used unless every device in it has its signature.
    /// - Throws: `invalidSignature`; `malformed` for a device that comes twice.
    public static func verify(_ list: [DeviceStatement], by keys: [VerificationKey]) throws(SealError) {
        var ids: Set<ID16> = []
        for device in list {
            guard ids.insert(device.id).inserted else { throw .malformed }
            try device.verify(by: keys)
        }
    }
}

extension DeviceStatement {
    /// - Throws: `invalidLength`.
    public init(_ wire: Wire.Device) throws(SealError) {
        self.init(id: try ID16(wire.id), name: wire.name, added: wire.added, signature: wire.signature)
    }
}
