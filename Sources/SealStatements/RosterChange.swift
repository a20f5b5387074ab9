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

/// What an entry does to a roster. `Roster+Rules.swift` says who may make which change when.
public enum RosterChange: Sendable, Hashable {
    // The large ones lie elsewhere: a change may be one byte of an entry, and many of them must take no more memory
    // than those bytes justify.
    /// The first entry, or the first after `close`: the owner alone.
    indirect case open(Opening)
    /// The scope is shared, how the public may join, and which share-wide URL is the one in use.
    indirect case settings(Settings)
    indirect case invite(Invitation)
    case revoke(ID16)
    /// Authored by the acceptor; the signature is the invitation key's.
    indirect case accept(Acceptance)
    case setPermission(UserID, Permission)
    /// Administrator or private user: the other roles come with opening and accepting.
    case setRole(UserID, Role)
    case remove(UserID)
    case leave
    /// The author's new generations, oldest first; each signed by its own key and the one before.
    case identity([SignedIdentity])
    /// The name can't accept any more; a member is removed with it, a known person's invitation revoked.
    case block(UserID)
    case unblock(UserID)
    /// Ends an incarnation. Only the owner's `open` may follow.
    case close

    public struct Opening: Sendable, Hashable {
        public let scope: Scope
        public let incarnations: Incarnations
        /// Of the zone; a hierarchical share's is always `perRecord`, since another zone has none.
        public let encryptionScope: EncryptionScope
        /// The root record of a hierarchical share; nil for a zone.
        public let rootRecordName: String?
        /// The end of another branch of this log, which the owner gives up: the only end of a fork.
        public let abandoned: AbandonedHead?
        public let owner: IdentityChain

        public init(
            scope: Scope, incarnations: Incarnations, encryptionScope: EncryptionScope, rootRecordName: String? = nil,
            abandoned: AbandonedHead? = nil, owner: IdentityChain
        ) {
            self.scope = scope
            self.incarnations = incarnations
            self.encryptionScope = encryptionScope
            self.rootRecordName = rootRecordName
            self.abandoned = abandoned
            self.owner = owner
        }
    }

    /// A head that some devices have verified and that the server lost.
    public struct AbandonedHead: Sendable, Hashable {
        public let sequence: UInt64
        public let hash: Digest

        public init(sequence: UInt64, hash: Digest) {
            self.sequence = sequence
            self.hash = hash
        }
    }

    public struct Settings: Sendable, Hashable {
        /// Names the share-wide link secret in use (`LinkSecret.id(in:)`): copies of it are checked against this.
        public let linkID: Digest
        /// nil for the public permission none.
        public let publicSeat: PublicSeat?

        public init(linkID: Digest, publicSeat: PublicSeat? = nil) {
            self.linkID = linkID
            self.publicSeat = publicSeat
        }
    }

    public struct Acceptance: Sendable, Hashable {
        /// An open invitation's id, or the public seat's.
        public let invitationID: ID16
        public let acceptor: IdentityChain
        public let signature: [UInt8]

        public init(invitationID: ID16, acceptor: IdentityChain, signature: [UInt8]) {
            self.invitationID = invitationID
            self.acceptor = acceptor
            self.signature = signature
        }

        /// What the invitation key signs: that this identity held the invitation when the roster's head was this.
        public static func signedBytes(scopeID: Digest, invitationID: ID16, acceptor: IdentityChain, head: Digest)
            -> PAE
        {
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
    /// Lowering a permission or a role depends on the roster's state and is judged there.
    var alwaysNeedsEpoch: Bool {
        switch self {
        case .revoke, .remove, .block: true
        case .open, .settings, .invite, .accept, .setPermission, .setRole, .leave, .identity, .unblock, .close: false
        }
    }
}
