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

        public init(entry: SignedRosterEntry, grants: [Grant], epochKey: EpochKey?) {
            self.entry = entry
            self.grants = grants
            self.epochKey = epochKey
        }
    }

    public struct Grant: Sendable {
        public let subject: GrantSubject
        public let epoch: UInt32
        public let sealed: [UInt8]
    }

    /// Entry 0, or the one after `close`: the owner alone, epoch 0.
    /// - Parameters:
    ///   - encryptionScope: of the zone, as its owner chose; after a fork the one that the log says.
    ///   - incarnations: the next ones where they are not the zone's own: of a hierarchical share, or after a fork.
    ///   - abandoned: the head of another branch of the log, which is given up with this.
    /// - Throws: `changeNotApplicable` after the last life that a number can name; `invalidKey`.
    public func open(
        _ scope: Scope, following: Roster?, encryptionScope: EncryptionScope, incarnations: Incarnations? = nil,
        rootRecordName: String? = nil, abandoned: RosterChange.AbandonedHead? = nil, identity: IdentityChain,
        time: Int64,
        random: inout some RandomSource
    ) throws(SealError) -> Draft {
        let (next, isPastLast) = (following?.incarnations.scope ?? 0).addingReportingOverflow(1)
        // A log whose owner has named the last life that there is ends with it.
        guard incarnations != nil || !isPastLast else { throw .changeNotApplicable }
        let incarnations = incarnations ?? Incarnations(zone: next, scope: next)
        let context = EpochContext(scopeID: scope.id, incarnations: incarnations, epoch: 0)
        let key = EpochKey(random: &random, context: context)
        let sealed = try Grants<H>.seal(key, to: identity)
        let opening = EpochOpening(
            number: 0, keyID: key.keyID, checkpoint: Checkpoint.none, previousKey: [],
            coverage: [.init(subject: .member(user), grantHash: GrantHash.of(sealed))])
        let change = RosterChange.open(
            .init(
                scope: scope, incarnations: incarnations, encryptionScope: encryptionScope,
                rootRecordName: rootRecordName,
                abandoned: abandoned, owner: identity))
        let entry = RosterEntry(
            scopeID: scope.id, sequence: following?.nextSequence ?? 0, previous: following?.head ?? .zero, author: user,
            time: time, changes: [change], epoch: opening)
        return Draft(
            entry: sign(entry), grants: [Grant(subject: .member(user), epoch: 0, sealed: sealed)], epochKey: key)
    }

    /// The next entry of a roster.
    ///
    /// - Parameters:
    ///   - settings: the scope's settings where they change; they come before everything else.
    ///   - invitations: new ones whose grant hash is still open; they are sealed here, under the new epoch if there is
    ///     one.
    ///   - current: the key of the epoch in force.
    ///   - rotating: open a new epoch in the same step.
    /// - Throws: what the rules refuse (`Roster.append`); `invalidKey`.
    public func next(
        on roster: Roster, changes: [RosterChange], settings: SettingsDraft? = nil, invitations: [InvitationDraft] = [],
        rotating: Bool, current: EpochKey, time: Int64, random: inout some RandomSource
    ) throws(SealError) -> Draft {
        var epochKey: EpochKey?
        if rotating {
            let context = EpochContext(
                scopeID: roster.scopeID, incarnations: roster.incarnations, epoch: roster.currentEpoch.number + 1)
            epochKey = EpochKey(random: &random, context: context)
        }
        let sealingKey = epochKey ?? current

        var changes = changes
        var grants: [Grant] = []
        func add(_ sealed: [UInt8], for subject: GrantSubject) -> Digest {
            grants.append(Grant(subject: subject, epoch: sealingKey.context.epoch, sealed: sealed))
            return GrantHash.of(sealed)
        }
        if let settings {
            let seat = try settings.publicSeat(scopeID: roster.scopeID, using: H.self) {
                keys, grantKey throws(SealError) in
                add(
                    try Grants<H>.seal(sealingKey, invitationID: keys.id, invitationKey: grantKey, invitee: nil),
                    for: .invitation(keys.id))
            }
            let linkID = settings.secret.id(in: roster.scopeID)
            changes.insert(.settings(.init(linkID: linkID, publicSeat: seat)), at: 0)
        }
        for draft in invitations {
            let sealed = try Grants<H>.seal(
                sealingKey, invitationID: draft.id, invitationKey: draft.grantKey, invitee: draft.invitee)
            changes.append(.invite(draft.invitation(grantHash: add(sealed, for: .invitation(draft.id)))))
        }

        var opening: EpochOpening?
        if let new = epochKey {
            // Whom the epoch has to cover, and with which keys, the rules say.
            let after = try roster.applying(changes, by: user)
            let sealedAlready = Set(grants.map { $0.subject })
            for subject in after.subjects where !sealedAlready.contains(subject) {
                _ = add(try Grants<H>.seal(new, to: subject, of: after), for: subject)
            }
            let coverage =
                grants
                .map { EpochOpening.Coverage(subject: $0.subject, grantHash: GrantHash.of($0.sealed)) }
                .sorted { $0.subject < $1.subject }
            opening = EpochOpening(
                number: new.context.epoch, keyID: new.keyID, checkpoint: Checkpoint.none,
                previousKey: new.seal(previous: current, random: &random),
                coverage: coverage)
        }
        let entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: user, time: time,
            changes: changes, epoch: opening)
        return Draft(entry: sign(entry), grants: grants, epochKey: epochKey)
    }

    /// Takes the seat of an open invitation, or the public one; the acceptor seals its own grant.
    /// - Throws: `invalidURL` when the keys are of another link secret; `changeNotApplicable` when there is no such
    ///   seat.
    public func accept(
        _ invitationKeys: InvitationKeys, on roster: Roster, identity: IdentityChain, epochKey: EpochKey, time: Int64
    ) throws(SealError) -> Draft {
        let id = invitationKeys.id
        let seat = roster.publicSeat?.id == id ? roster.publicSeat?.signingKey : roster.invitations[id]?.signingKey
        guard let seat else { throw .changeNotApplicable }
        guard invitationKeys.signingKey.verificationKey == seat else { throw .invalidURL }
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: roster.scopeID, invitationID: id, acceptor: identity, head: roster.head)
        let acceptance = RosterChange.Acceptance(
            invitationID: id, acceptor: identity, signature: invitationKeys.signingKey.sign(message))
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
