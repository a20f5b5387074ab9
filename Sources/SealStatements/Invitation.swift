public import SealPrimitives

/// A seat that somebody may take.
public struct Invitation: Sendable, Hashable {
    public let id: ID16
    public let permission: Permission
    /// The known invitee's identity; nil for a placeholder, who comes with a one-time URL of its own.
    public let invitee: IdentityChain?
    /// From the link secret: proves to every reader of the roster that an acceptor had the URL.
    public let signingKey: VerificationKey
    /// From the link secret, X-Wing: receives the invitation's grant.
    public let grantKey: [UInt8]
    /// The hash of its grant under the epoch in force (after this entry).
    public let grantHash: Digest
    /// Microseconds since 1970; 0 for never. The server's check; for clients a `revoke` counts.
    public let expires: Int64
    /// The look-up address, sealed to owner and administrators, ascending by user.
    public let sealedAddresses: [SealedAddress]

    public init(
        id: ID16, permission: Permission, invitee: IdentityChain?, signingKey: VerificationKey, grantKey: [UInt8],
        grantHash: Digest, expires: Int64 = 0, sealedAddresses: [SealedAddress] = []
    ) {
        self.id = id
        self.permission = permission
        self.invitee = invitee
        self.signingKey = signingKey
        self.grantKey = grantKey
        self.grantHash = grantHash
        self.expires = expires
        self.sealedAddresses = sealedAddresses
    }
}

public struct SealedAddress: Sendable, Hashable {
    public let reader: UserID
    public let sealed: [UInt8]

    public init(reader: UserID, sealed: [UInt8]) {
        self.reader = reader
        self.sealed = sealed
    }
}

/// The seat of public access: whoever has the share-wide URL may take it, and it stays open.
public struct PublicSeat: Sendable, Hashable {
    public let id: ID16
    public let permission: Permission
    /// From the share-wide link secret, as an invitation's.
    public let signingKey: VerificationKey
    public let grantKey: [UInt8]
    /// The hash of its grant under the epoch in force (after this entry).
    public let grantHash: Digest

    public init(id: ID16, permission: Permission, signingKey: VerificationKey, grantKey: [UInt8], grantHash: Digest) {
        self.id = id
        self.permission = permission
        self.signingKey = signingKey
        self.grantKey = grantKey
        self.grantHash = grantHash
    }
}

// MARK: Canonical encoding

extension Invitation {
    func write(to writer: inout CanonicalWriter) {
        writer.id(id)
        writer.number(permission.rawValue)
        writer.flag(invitee != nil)
        invitee?.write(to: &writer)
        writer.raw(signingKey.bytes)
        writer.raw(grantKey)
        writer.digest(grantHash)
        writer.number(expires)
        writer.number(UInt16(sealedAddresses.count))
        for address in sealedAddresses {
            writer.id(address.reader.id)
            writer.blob(address.sealed)
        }
    }

    init(reading reader: inout CanonicalReader, container: String) throws(SealError) {
        id = try reader.id()
        permission = try reader.permission()
        invitee = try reader.flag() ? try IdentityChain(reading: &reader, container: container) : nil
        signingKey = try VerificationKey(reader.raw(32))
        grantKey = try reader.grantKey()
        grantHash = try reader.digest()
        expires = try reader.number()
        let count = try reader.count(UInt16.self, ofAtLeast: 20)
        guard count <= Limits.sealedAddressesPerInvitation else { throw .invalidLength }
        var addresses: [SealedAddress] = []
        for _ in 0..<count {
            let address = SealedAddress(
                reader: UserID(try reader.id()), sealed: try reader.blob(atMost: Limits.sealedAddressBytes))
            if let last = addresses.last, !(last.reader < address.reader) { throw .malformed }
            addresses.append(address)
        }
        sealedAddresses = addresses
    }
}

extension PublicSeat {
    /// Everything but the permission, which stands before it.
    func write(to writer: inout CanonicalWriter) {
        writer.id(id)
        writer.raw(signingKey.bytes)
        writer.raw(grantKey)
        writer.digest(grantHash)
    }

    init(reading reader: inout CanonicalReader, permission: Permission) throws(SealError) {
        self.permission = permission
        id = try reader.id()
        signingKey = try VerificationKey(reader.raw(32))
        grantKey = try reader.grantKey()
        grantHash = try reader.digest()
    }
}
