public import SealPrimitives
public import SealStatements

/// Writes roster entries and the grants that belong to them.
public struct RosterAuthor<H: HybridEncryption>: Sendable {
    public let user: UserID
    public let keys: IdentityKeys

    public init(user: UserID, keys: IdentityKeys) {
        self.user = user
        self.keys = keys
    }

    /// An entry that is ready to send, with what the server stores beside it.
    public struct Draft: Sendable {
        public let entry: SignedRosterEntry
        public let grants: [Grant]
        /// The epoch's key where the entry opens one.
        public let epochKey: EpochKey?
    }

    public struct Grant: Sendable {
        public let subject: GrantSubject
        public let epoch: UInt32
        public let sealed: [UInt8]
    }

    /// Entry 0, or the one after `close`: the owner alone, epoch 0.
    public func open(
        _ scope: Scope, following: Roster?, zoneIncarnation: UInt32? = nil, rootRecordName: String? = nil,
        identity: IdentityChain, time: Int64, random: inout some RandomSource
    ) throws(SealError) -> Draft {
        let scopeIncarnation = (following?.incarnations.scope ?? 0) + 1
        let incarnations = Incarnations(zone: zoneIncarnation ?? scopeIncarnation, scope: scopeIncarnation)
        let context = EpochContext(scopeID: scope.id, incarnations: incarnations, epoch: 0)
        let key = EpochKey(random: &random, context: context)
        let sealed = try Grants<H>.seal(key, to: identity)
        let opening = EpochOpening(
            number: 0, keyID: key.keyID, previousKey: [],
            coverage: [.init(subject: .member(user), grantHash: GrantHash.of(sealed))])
        let change = RosterChange.open(
            .init(scope: scope, incarnations: incarnations, rootRecordName: rootRecordName, owner: identity))
        let entry = RosterEntry(
            scopeID: scope.id, sequence: following?.nextSequence ?? 0, previous: following?.head ?? .zero, author: user,
            time: time, changes: [change], epoch: opening)
        return Draft(
            entry: sign(entry), grants: [Grant(subject: .member(user), epoch: 0, sealed: sealed)], epochKey: key)
    }

    /// The next entry of a roster.
    ///
    /// - Parameters:
    ///   - invitations: new ones whose grant hash is still open; they are sealed here, under the new epoch if there is one.
    ///   - current: the key of the epoch in force.
    ///   - rotating: open a new epoch in the same step.
    public func next(
        on roster: Roster, changes: [RosterChange], invitations: [InvitationDraft] = [], rotating: Bool, current: EpochKey,
        time: Int64, random: inout some RandomSource
    ) throws(SealError) -> Draft {
        var grants: [Grant] = []
        var epochKey: EpochKey?
        let sealingKey: EpochKey
        if rotating {
            let context = EpochContext(
                scopeID: roster.scopeID, incarnations: roster.incarnations, epoch: roster.currentEpoch.number + 1)
            let new = EpochKey(random: &random, context: context)
            epochKey = new
            sealingKey = new
        } else {
            sealingKey = current
        }

        var changes = changes
        var removed: Set<GrantSubject> = []
        for change in changes {
            switch change {
            case .revoke(let id): removed.insert(.invitation(id))
            case .remove(let user): removed.insert(.member(user))
            default: break
            }
        }
        for draft in invitations {
            let sealed = try Grants<H>.seal(
                sealingKey, invitationID: draft.id, invitationKey: draft.grantKey, invitee: draft.invitee)
            grants.append(Grant(subject: .invitation(draft.id), epoch: sealingKey.context.epoch, sealed: sealed))
            changes.append(.invite(draft.invitation(grantHash: GrantHash.of(sealed))))
        }

        var opening: EpochOpening?
        if let new = epochKey {
            for member in roster.members.values where !removed.contains(.member(member.userID)) {
                let sealed = try Grants<H>.seal(new, to: member.identity)
                grants.append(Grant(subject: .member(member.userID), epoch: new.context.epoch, sealed: sealed))
            }
            for invitation in roster.invitations.values where !removed.contains(.invitation(invitation.id)) {
                let sealed = try Grants<H>.seal(new, to: invitation)
                grants.append(Grant(subject: .invitation(invitation.id), epoch: new.context.epoch, sealed: sealed))
            }
            let coverage = grants
                .map { EpochOpening.Coverage(subject: $0.subject, grantHash: GrantHash.of($0.sealed)) }
                .sorted { $0.subject < $1.subject }
            opening = EpochOpening(
                number: new.context.epoch, keyID: new.keyID, previousKey: new.seal(previous: current, random: &random),
                coverage: coverage)
        }
        let entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: user, time: time,
            changes: changes, epoch: opening)
        return Draft(entry: sign(entry), grants: grants, epochKey: epochKey)
    }

    /// Takes an invitation's seat; the acceptor seals its own grant.
    public func accept(
        _ invitation: Invitation, on roster: Roster, invitationKeys: InvitationKeys, identity: IdentityChain,
        epochKey: EpochKey, time: Int64
    ) throws(SealError) -> Draft {
        guard invitationKeys.signingKey.verificationKey == invitation.signingKey else { throw .invalidURL }
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: roster.scopeID, invitationID: invitation.id, acceptor: identity, head: roster.head)
        let acceptance = RosterChange.Acceptance(
            invitationID: invitation.id, acceptor: identity, signature: invitationKeys.signingKey.sign(message))
        let entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: user, time: time,
            changes: [.accept(acceptance)], epoch: nil)
        let grant = Grant(
            subject: .member(user), epoch: epochKey.context.epoch, sealed: try Grants<H>.seal(epochKey, to: identity))
        return Draft(entry: sign(entry), grants: [grant], epochKey: nil)
    }

    /// A change that needs no key: leaving, closing.
    public func plain(_ change: RosterChange, on roster: Roster, time: Int64) -> Draft {
        let entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: user, time: time,
            changes: [change], epoch: nil)
        return Draft(entry: sign(entry), grants: [], epochKey: nil)
    }

    private func sign(_ entry: RosterEntry) -> SignedRosterEntry {
        let bytes = entry.canonicalBytes()
        return SignedRosterEntry(bytes: bytes, signature: keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }
}

/// An invitation before its grant is sealed.
public struct InvitationDraft: Sendable {
    public let id: ID16
    public let permission: Permission
    public let invitee: IdentityChain?
    public let signingKey: VerificationKey
    public let grantKey: [UInt8]
    public let expires: Int64
    public let sealedAddresses: [SealedAddress]

    public init<H: HybridEncryption>(
        keys: InvitationKeys, permission: Permission, invitee: IdentityChain?, expires: Int64 = 0,
        sealedAddresses: [SealedAddress] = [], using: H.Type
    ) throws(SealError) {
        id = keys.id
        self.permission = permission
        self.invitee = invitee
        signingKey = keys.signingKey.verificationKey
        grantKey = try H.publicKey(seed: keys.grantSeed)
        self.expires = expires
        self.sealedAddresses = sealedAddresses
    }

    func invitation(grantHash: Digest) -> Invitation {
        Invitation(
            id: id, permission: permission, invitee: invitee, signingKey: signingKey, grantKey: grantKey,
            grantHash: grantHash, expires: expires, sealedAddresses: sealedAddresses)
    }
}
