public import SealPrimitives

/// A scope's members, invitations and epochs: the state that replaying its entries gives, each checked against the
/// rules (`Roster+Rules.swift`). Clients and server run the same code.
public struct Roster: Sendable {
    public let scope: Scope
    public let scopeID: Digest
    /// The hash of every entry, by sequence: statements cite them.
    public internal(set) var hashes: [Digest] = []
    public internal(set) var incarnations: Incarnations
    /// As the newest `open` says; always `perRecord` for a hierarchical share.
    public internal(set) var encryptionScope = EncryptionScope.perRecord
    public internal(set) var isClosed = false
    /// A member left or changed keys: nobody writes records before the next epoch.
    public internal(set) var rotationDue = false
    /// Names the share-wide link secret in use; nil while the owner has not shared the scope.
    public internal(set) var linkID: Digest?
    /// What whoever has the share-wide URL may take; nil for the public permission none.
    public internal(set) var publicSeat: PublicSeat?
    public internal(set) var members: [UserID: Member] = [:]
    public internal(set) var invitations: [ID16: Invitation] = [:]
    /// Names that can't accept nor be invited.
    public internal(set) var blocked: Set<UserID> = []
    /// Other branches of this log that the owner gave up.
    public internal(set) var abandonments: [Abandonment] = []
    /// Every epoch of every incarnation, oldest first.
    public internal(set) var epochs: [Epoch] = []
    public internal(set) var rootRecordName: String?
    /// Invitation ids that were ever used, with the entry that used them: none comes twice.
    var usedInvitations: [ID16: UInt64] = [:]
    /// Who made each open invitation.
    var inviters: [ID16: UserID] = [:]
    /// Who could do what from which entry on, former members included.
    var history: [UserID: [Standing]] = [:]

    public struct Member: Sendable {
        public internal(set) var identity: IdentityChain
        public internal(set) var role: Role
        public internal(set) var permission: Permission
        /// The seat it took; nil for the owner and for public users.
        public internal(set) var invitation: Invitation?
        public var invitationID: ID16? { invitation?.id }
        /// The entry that made it a member.
        public internal(set) var since: UInt64

        public var userID: UserID { identity.userID }
        public var mayAdminister: Bool { role == .owner || role == .administrator }
    }

    public struct Epoch: Sendable {
        public let context: EpochContext
        public let keyID: Digest
        public let previousKey: [UInt8]
        /// The entry that opened it.
        public let openedAt: UInt64
        public internal(set) var grantHashes: [GrantSubject: Digest]

        public var number: UInt32 { context.epoch }
    }

    /// The opening in which the owner gave another branch up.
    public struct Abandonment: Sendable {
        public let head: RosterChange.AbandonedHead
        /// The life that it opened.
        public let incarnations: Incarnations
        public let owner: IdentityChain
    }

    /// What somebody could do after some entry, and with which keys.
    public struct Standing: Sendable {
        /// The entry from which on it counts.
        public let from: UInt64
        public let role: Role
        /// nil: none any more.
        public let permission: Permission?
        public let identity: IdentityChain

        public var mayAdminister: Bool { permission != nil && (role == .owner || role == .administrator) }
    }

    /// Where the log ends.
    public var head: Digest { hashes.last ?? .zero }
    public var sequence: UInt64 { UInt64(hashes.count) - 1 }
    public var nextSequence: UInt64 { UInt64(hashes.count) }

    /// The epoch in force now. A roster has one from its first entry on.
    public var currentEpoch: Epoch { epochs[epochs.count - 1] }

    public var owner: UserID { scope.owner }

    public func permission(of user: UserID) -> Permission? { members[user]?.permission }

    /// The epoch of this incarnation with that number.
    public func epoch(_ number: UInt32, incarnations: Incarnations) -> Epoch? {
        epochs.last { $0.number == number && $0.context.incarnations == incarnations }
    }

    /// The epoch in force after the entry with that sequence.
    public func epochInForce(at sequence: UInt64) -> Epoch? {
        // Few epochs, and statements cite recent ones.
        epochs.last { $0.openedAt <= sequence }
    }

    /// What `user` could do, and with which keys, after the entry with that sequence; nil when it was no member.
    public func standing(of user: UserID, at sequence: UInt64) -> Standing? {
        guard let standing = history[user]?.last(where: { $0.from <= sequence }), standing.permission != nil else {
            return nil
        }
        return standing
    }

    /// The entry by which somebody ceased to be a member; nil for who is one, and for who never was.
    public func end(of user: UserID) -> UInt64? {
        history[user]?.last.flatMap { $0.permission == nil ? $0.from : nil }
    }

    /// The entries after which somebody who was a member was none.
    public func absences(of user: UserID) -> Set<UInt64> {
        Set((history[user] ?? []).lazy.filter { $0.permission == nil }.map { $0.from })
    }

    /// The newest generations that this roster has seen of somebody who is or was a member.
    public func knownIdentity(of user: UserID) -> IdentityChain? { history[user]?.last?.identity }

    /// Those that the owner has had in this life: from the newest at its opening on.
    var ownersGenerations: Range<Int> {
        let opening = epochs.first { $0.context.incarnations == incarnations }?.openedAt ?? 0
        let first = standing(of: owner, at: opening)?.identity.signingKeys.count ?? 1
        return first - 1..<max(first, knownIdentity(of: owner)?.signingKeys.count ?? 0)
    }

    /// The epoch in force when this roster was told of the owner's next generation; nil where it knows none.
    func epoch(thatReplaced generation: Int) -> UInt32? {
        guard let told = history[owner]?.first(where: { $0.identity.signingKeys.count - 1 > generation }), told.from > 0
        else { return nil }
        return epochInForce(at: told.from - 1)?.number
    }

    /// The newest generations that this roster has seen of everybody whom it names: members, former ones, and those
    /// whom an open invitation knows.
    public var knownIdentities: [IdentityChain] {
        history.values.compactMap { $0.last?.identity } + invitations.values.compactMap { $0.invitee }
    }

    public var isShared: Bool { linkID != nil }

    /// The entry that made an invitation, open or not; nil for an id that was never used.
    public func sequence(ofInvitation id: ID16) -> UInt64? { usedInvitations[id] }

    /// Whether a device that holds `other` takes this log over: it continues `other`, or it ends a fork. Anything else
    /// that differs is an error (PROTOCOL.md, "Forks").
    ///
    /// A fork ends with the opening in which the owner gives the head of `other` up: signed with no older key than
    /// `other` knows, and for a life that `other` has not had, so that a stolen key of the past ends nothing.
    public func succeeds(_ other: Roster) -> Bool {
        guard scopeID == other.scopeID else { return false }
        if nextSequence >= other.nextSequence, hashes[Int(other.sequence)] == other.head { return true }
        let head = RosterChange.AbandonedHead(sequence: other.sequence, hash: other.head)
        return abandonments.contains { abandonment in
            abandonment.head == head && abandonment.incarnations.scope > other.incarnations.scope
                && abandonment.incarnations.zone >= other.incarnations.zone
                && (other.knownIdentity(of: other.owner).map { abandonment.owner.continues($0) } ?? false)
        }
    }

    /// Whom the next epoch has to cover, ascending.
    public var subjects: [GrantSubject] {
        var subjects =
            members.keys.map { GrantSubject.member($0) } + invitations.keys.map { GrantSubject.invitation($0) }
        if let publicSeat { subjects.append(.invitation(publicSeat.id)) }
        return subjects.sorted()
    }

    /// The open invitation of a known person.
    public func invitation(for user: UserID) -> Invitation? {
        invitations.values.first { $0.invitee?.userID == user }
    }
}
