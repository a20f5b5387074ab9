public import SealPrimitives

public enum Permission: UInt8, Sendable, Hashable, Comparable {
    case readOnly = 1
    case readWrite = 2

    public static func < (left: Permission, right: Permission) -> Bool { left.rawValue < right.rawValue }
}

public enum Role: UInt8, Sendable, Hashable {
    case owner = 1
    case administrator = 2
    case privateUser = 3
    case publicUser = 4
}

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

/// What an entry does to a roster.
///
/// The wire tags of changes that this version does not make yet are reserved and refused when read: setRole 7, identity 10, block 11, unblock 12.
public enum RosterChange: Sendable, Hashable {
    /// The first entry, or the first after `close`: the owner alone.
    case open(Opening)
    /// The owner shares the scope: from here on it may have participants. Public permissions other than none are reserved.
    case settings
    case invite(Invitation)
    case revoke(ID16)
    /// Authored by the acceptor; the signature is the invitation key's.
    case accept(Acceptance)
    case setPermission(UserID, Permission)
    case remove(UserID)
    case leave
    /// Ends an incarnation. Only the owner's `open` may follow.
    case close

    public struct Opening: Sendable, Hashable {
        public let scope: Scope
        public let incarnations: Incarnations
        /// The root record of a hierarchical share; nil for a zone.
        public let rootRecordName: String?
        public let owner: IdentityChain

        public init(scope: Scope, incarnations: Incarnations, rootRecordName: String? = nil, owner: IdentityChain) {
            self.scope = scope
            self.incarnations = incarnations
            self.rootRecordName = rootRecordName
            self.owner = owner
        }
    }

    public struct Acceptance: Sendable, Hashable {
        public let invitationID: ID16
        public let acceptor: IdentityChain
        public let signature: [UInt8]

        public init(invitationID: ID16, acceptor: IdentityChain, signature: [UInt8]) {
            self.invitationID = invitationID
            self.acceptor = acceptor
            self.signature = signature
        }

        /// What the invitation key signs: that this identity held the invitation when the roster's head was this.
        public static func signedBytes(scopeID: Digest, invitationID: ID16, acceptor: IdentityChain, head: Digest) -> PAE {
            var pae = PAE(.acceptance, pieces: 6, capacity: 1600)
            pae.add(scopeID)
            pae.add(invitationID)
            pae.add(acceptor.userID.id)
            pae.add(acceptor.current.signingKey.bytes)
            pae.add(acceptor.current.grantKey)
            pae.add(head)
            return pae
        }
    }

    /// Whether the change takes a right away, so that the same entry has to open a new epoch.
    /// Lowering a permission depends on the roster's state and is judged there.
    var alwaysNeedsEpoch: Bool {
        switch self {
        case .revoke, .remove: true
        case .open, .settings, .invite, .accept, .setPermission, .leave, .close: false
        }
    }
}

// MARK: Canonical encoding

extension RosterChange {
    private enum Tag: UInt8 {
        case open = 1
        case settings = 2
        case invite = 3
        case revoke = 4
        case accept = 5
        case setPermission = 6
        case setRole = 7
        case remove = 8
        case leave = 9
        case identity = 10
        case block = 11
        case unblock = 12
        case close = 13
    }

    func write(to writer: inout CanonicalWriter) {
        switch self {
        case .open(let opening):
            writer.number(Tag.open.rawValue)
            writer.string(opening.scope.container)
            writer.number(opening.scope.environment.rawValue)
            writer.id(opening.scope.owner.id)
            writer.string(opening.scope.zoneName)
            writer.string(opening.scope.shareRecordName)
            writer.number(opening.incarnations.zone)
            writer.number(opening.incarnations.scope)
            writer.optionalString(opening.rootRecordName)
            opening.owner.write(to: &writer)
        case .settings:
            writer.number(Tag.settings.rawValue)
            writer.number(0 as UInt8)  // publicPermission none
        case .invite(let invitation):
            writer.number(Tag.invite.rawValue)
            invitation.write(to: &writer)
        case .revoke(let id):
            writer.number(Tag.revoke.rawValue)
            writer.id(id)
        case .accept(let acceptance):
            writer.number(Tag.accept.rawValue)
            writer.id(acceptance.invitationID)
            acceptance.acceptor.write(to: &writer)
            writer.raw(acceptance.signature)
        case .setPermission(let user, let permission):
            writer.number(Tag.setPermission.rawValue)
            writer.id(user.id)
            writer.number(permission.rawValue)
        case .remove(let user):
            writer.number(Tag.remove.rawValue)
            writer.id(user.id)
        case .leave: writer.number(Tag.leave.rawValue)
        case .close: writer.number(Tag.close.rawValue)
        }
    }

    /// - Parameter container: of the scope, which identity chains must be of.
    init(reading reader: inout CanonicalReader, container: String?) throws(SealError) {
        guard let tag = Tag(rawValue: try reader.byte()) else { throw .malformed }
        switch tag {
        case .open: self = .open(try Opening(reading: &reader))
        case .settings:
            guard try reader.byte() == 0 else { throw .unsupported }
            self = .settings
        case .invite: self = .invite(try Invitation(reading: &reader, container: try RosterChange.known(container)))
        case .revoke: self = .revoke(try reader.id())
        case .accept:
            self = .accept(
                Acceptance(
                    invitationID: try reader.id(),
                    acceptor: try IdentityChain(reading: &reader, container: RosterChange.known(container)),
                    signature: try reader.raw(SigningKey.signatureBytes)))
        case .setPermission: self = .setPermission(UserID(try reader.id()), try reader.permission())
        case .remove: self = .remove(UserID(try reader.id()))
        case .leave: self = .leave
        case .close: self = .close
        case .setRole, .identity, .block, .unblock: throw .unsupported
        }
    }

    /// Changes other than `open` are only readable when the scope, and so the container, is known.
    private static func known(_ container: String?) throws(SealError) -> String {
        guard let container else { throw .notNextEntry }
        return container
    }
}

extension RosterChange.Opening {
    init(reading reader: inout CanonicalReader) throws(SealError) {
        let container = try reader.name()
        guard let environment = Environment(rawValue: try reader.byte()) else { throw .malformed }
        let owner = UserID(try reader.id())
        let zoneName = try reader.name()
        let shareRecordName = try reader.string(atMost: Limits.nameBytes)
        guard shareRecordName.isEmpty || Names.isPlain(shareRecordName) else { throw .invalidName }
        scope = Scope(
            container: container, environment: environment, owner: owner, zoneName: zoneName, shareRecordName: shareRecordName)
        incarnations = Incarnations(zone: try reader.number(), scope: try reader.number())
        rootRecordName = try reader.optionalName()
        self.owner = try IdentityChain(reading: &reader, container: container)
    }
}

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

extension CanonicalReader {
    fileprivate mutating func permission() throws(SealError) -> Permission {
        guard let permission = Permission(rawValue: try byte()) else { throw .malformed }
        return permission
    }
}
