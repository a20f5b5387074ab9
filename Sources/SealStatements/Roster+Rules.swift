public import SealPrimitives

/// The rules (PROTOCOL.md, "Roster rules"): which entry may follow which. Applied by every client always, and by the
/// server too; no reader believes another's judgement.
extension Roster {
    /// Starts a roster with its entry 0.
    /// - Throws: as `append`, and `wrongContext` when the entry opens another scope than `scope`.
    public init(opening signed: SignedRosterEntry, scope: Scope) throws(SealError) {
        self.scope = scope
        scopeID = scope.id
        incarnations = Incarnations(zone: 0, scope: 0)
        let entry = try RosterEntry(canonicalBytes: signed.bytes, container: scope.container)
        guard entry.changes.count == 1, case .open = entry.changes[0] else { throw .notNextEntry }
        try append(signed)
    }

    /// Checks an entry against the rules and applies it; on any error the roster stays as it was.
    /// - Throws: `notNextEntry` when it does not follow the head; `changeNotPermitted`, `changeNotApplicable`,
    ///   `epochRequired`, `coverageMismatch`, `tooManyParticipants`; `invalidSignature`; decoding errors.
    public mutating func append(_ signed: SignedRosterEntry) throws(SealError) {
        let entry = try RosterEntry(canonicalBytes: signed.bytes, container: scope.container)
        guard entry.scopeID == scopeID else { throw .wrongContext }
        guard entry.sequence == nextSequence, entry.previous == head else { throw .notNextEntry }

        let before = Undo(self)
        do throws(SealError) {
            let key = try apply(entry)
            try key.verify(signed.signature, over: RosterEntry.signedBytes(signed.bytes))
        } catch {
            undo(before)
            throw error
        }
        hashes.append(RosterEntry.hash(signed.bytes))
    }

    /// What takes a refused entry back: the part of the state that is bounded, as it was. What grows with the log is
    /// marked with the sequence of its entry instead, so that appending never copies it.
    private struct Undo {
        let incarnations: Incarnations
        let isClosed, isShared, rotationDue: Bool
        let members: [UserID: Member]
        let invitations: [ID16: Invitation]
        let rootRecordName: String?
        let lastGrantHashes: [GrantSubject: Digest]

        init(_ roster: Roster) {
            incarnations = roster.incarnations
            isClosed = roster.isClosed
            isShared = roster.isShared
            rotationDue = roster.rotationDue
            members = roster.members
            invitations = roster.invitations
            rootRecordName = roster.rootRecordName
            lastGrantHashes = roster.epochs.last?.grantHashes ?? [:]
        }
    }

    private mutating func undo(_ before: Undo) {
        incarnations = before.incarnations
        isClosed = before.isClosed
        isShared = before.isShared
        rotationDue = before.rotationDue
        members = before.members
        invitations = before.invitations
        rootRecordName = before.rootRecordName
        let refused = nextSequence
        epochs.removeAll { $0.openedAt >= refused }
        if !epochs.isEmpty { epochs[epochs.count - 1].grantHashes = before.lastGrantHashes }
        usedInvitations = usedInvitations.filter { $0.value < refused }
        for (user, rights) in history where rights.contains(where: { $0.from >= refused }) {
            let kept = rights.filter { $0.from < refused }
            history[user] = kept.isEmpty ? nil : kept
        }
    }

    /// Applies an entry's changes and epoch; returns the key that must have signed it.
    private mutating func apply(_ entry: RosterEntry) throws(SealError) -> VerificationKey {
        switch entry.changes.first {
        case .open(let opening):
            try applyOpening(opening, of: entry)
            return opening.owner.current.signingKey
        case .accept(let acceptance):
            try applyAcceptance(acceptance, of: entry)
            return acceptance.acceptor.current.signingKey
        default:
            break
        }
        guard !isClosed else { throw .changeNotApplicable }
        // Rights are those before the entry: nobody is judged by what the same entry gives or takes.
        guard let author = members[entry.author] else { throw .changeNotPermitted }
        var needsEpoch = false
        for change in entry.changes {
            if change.alwaysNeedsEpoch { needsEpoch = true }
            switch change {
            case .open, .accept:
                // As the first change they have been judged above; after another one they have no place.
                throw .changeNotApplicable
            case .leave, .close:
                guard entry.changes.count == 1, entry.epoch == nil else { throw .changeNotApplicable }
                if case .leave = change { try applyLeave(of: author, at: entry.sequence) } else { try applyClose(by: author) }
            case .settings:
                guard author.role == .owner else { throw .changeNotPermitted }
                guard !isShared else { throw .changeNotApplicable }
                isShared = true
            case .invite(let invitation):
                guard isShared else { throw .changeNotApplicable }
                guard author.mayAdminister else { throw .changeNotPermitted }
                try applyInvitation(invitation, of: entry)
            case .revoke(let id):
                guard author.mayAdminister else { throw .changeNotPermitted }
                guard invitations.removeValue(forKey: id) != nil else { throw .changeNotApplicable }
            case .setPermission(let user, let permission):
                let target = try subordinate(user, to: author)
                guard target.permission != permission else { throw .changeNotApplicable }
                if permission < target.permission { needsEpoch = true }
                members[user]?.permission = permission
                remember(user, permission, target.identity.current.signingKey, from: entry.sequence)
            case .remove(let user):
                let target = try subordinate(user, to: author)
                members[user] = nil
                remember(user, nil, target.identity.current.signingKey, from: entry.sequence)
            }
        }
        if let epoch = entry.epoch {
            // While rotation is due any member who may write rotates, and changes nothing else: otherwise a writer could
            // open epochs at will.
            let isDueRotation = rotationDue && entry.changes.isEmpty && author.permission == .readWrite
            guard author.mayAdminister || isDueRotation else { throw .changeNotPermitted }
            try applyEpoch(epoch, of: entry)
        } else {
            guard !needsEpoch, !entry.changes.isEmpty else { throw .epochRequired }
        }
        return author.identity.current.signingKey
    }

    /// A member below the author: never the owner, and only the owner stands above administrators.
    private func subordinate(_ user: UserID, to author: Member) throws(SealError) -> Member {
        guard author.mayAdminister else { throw .changeNotPermitted }
        guard let target = members[user] else { throw .changeNotApplicable }
        guard target.role != .owner, author.role == .owner || target.role != .administrator else { throw .changeNotPermitted }
        return target
    }

    private mutating func remember(_ user: UserID, _ permission: Permission?, _ key: VerificationKey, from sequence: UInt64) {
        history[user, default: []].append(Right(from: sequence, permission: permission, signingKey: key))
    }

    // MARK: Single changes

    private mutating func applyOpening(_ opening: RosterChange.Opening, of entry: RosterEntry) throws(SealError) {
        guard entry.changes.count == 1, entry.sequence == 0 || isClosed else { throw .changeNotApplicable }
        guard opening.scope == scope else { throw .wrongContext }
        guard entry.author == scope.owner, opening.owner.userID == scope.owner else { throw .changeNotPermitted }
        let isZone = scope.shareRecordName.isEmpty
        guard isZone == (opening.rootRecordName == nil) else { throw .changeNotApplicable }
        let follows = opening.incarnations.scope == incarnations.scope + 1 && opening.incarnations.zone >= max(1, incarnations.zone)
        guard follows, !isZone || opening.incarnations.zone == opening.incarnations.scope else { throw .changeNotApplicable }
        guard let epoch = entry.epoch else { throw .epochRequired }
        incarnations = opening.incarnations
        rootRecordName = opening.rootRecordName
        isClosed = false
        members = [
            scope.owner: Member(
                identity: opening.owner, role: .owner, permission: .readWrite, invitation: nil, since: entry.sequence)
        ]
        remember(scope.owner, .readWrite, opening.owner.current.signingKey, from: entry.sequence)
        try applyEpoch(epoch, of: entry, isFirst: true)
    }

    private mutating func applyInvitation(_ invitation: Invitation, of entry: RosterEntry) throws(SealError) {
        guard usedInvitations[invitation.id] == nil else { throw .changeNotApplicable }
        guard members.count + invitations.count < Limits.participantsPerScope + 1 else { throw .tooManyParticipants }
        if let invitee = invitation.invitee {
            guard members[invitee.userID] == nil, self.invitation(for: invitee.userID) == nil else { throw .changeNotApplicable }
        }
        usedInvitations[invitation.id] = entry.sequence
        invitations[invitation.id] = invitation
        // Its grant is under the epoch in force after the entry: one that the entry opens lists it itself.
        if entry.epoch == nil { epochs[epochs.count - 1].grantHashes[.invitation(invitation.id)] = invitation.grantHash }
    }

    private mutating func applyAcceptance(_ acceptance: RosterChange.Acceptance, of entry: RosterEntry) throws(SealError) {
        guard !isClosed, entry.changes.count == 1, entry.epoch == nil else { throw .changeNotApplicable }
        guard let invitation = invitations[acceptance.invitationID] else { throw .changeNotApplicable }
        let acceptor = acceptance.acceptor
        guard entry.author == acceptor.userID else { throw .changeNotPermitted }
        guard members[acceptor.userID] == nil else { throw .changeNotApplicable }
        if let invitee = invitation.invitee {
            guard invitee.userID == acceptor.userID else { throw .changeNotPermitted }
            // The invited generations, or newer ones after them: never an older key, nor a fork.
            guard acceptor.signed.starts(with: invitee.signed) else { throw .invalidIdentity }
        }
        try invitation.signingKey.verify(
            acceptance.signature,
            over: RosterChange.Acceptance.signedBytes(
                scopeID: scopeID, invitationID: invitation.id, acceptor: acceptor, head: entry.previous))
        invitations[invitation.id] = nil
        members[acceptor.userID] = Member(
            identity: acceptor, role: .privateUser, permission: invitation.permission, invitation: invitation,
            since: entry.sequence)
        remember(acceptor.userID, invitation.permission, acceptor.current.signingKey, from: entry.sequence)
    }

    private mutating func applyLeave(of author: Member, at sequence: UInt64) throws(SealError) {
        guard author.role != .owner else { throw .changeNotPermitted }
        members[author.userID] = nil
        remember(author.userID, nil, author.identity.current.signingKey, from: sequence)
        rotationDue = true
    }

    private mutating func applyClose(by author: Member) throws(SealError) {
        guard author.role == .owner else { throw .changeNotPermitted }
        for member in members.values {
            remember(member.userID, nil, member.identity.current.signingKey, from: nextSequence)
        }
        members = [:]
        invitations = [:]
        rotationDue = false
        isShared = false
        isClosed = true
    }

    private mutating func applyEpoch(_ opening: EpochOpening, of entry: RosterEntry, isFirst: Bool = false) throws(SealError) {
        if isFirst {
            guard opening.number == 0 else { throw .epochRequired }
        } else {
            guard opening.number == currentEpoch.number + 1, opening.keyID != currentEpoch.keyID else { throw .epochRequired }
        }
        guard opening.coverage.map({ $0.subject }) == subjects else { throw .coverageMismatch }
        for covered in opening.coverage {
            guard case .invitation(let id) = covered.subject else { continue }
            // An invitation of this very entry names its grant twice: the two have to agree.
            let isNew = entry.changes.contains { if case .invite(let new) = $0 { new.id == id } else { false } }
            if isNew, invitations[id]?.grantHash != covered.grantHash { throw .coverageMismatch }
        }
        epochs.append(
            Epoch(
                context: EpochContext(scopeID: scopeID, incarnations: incarnations, epoch: opening.number),
                keyID: opening.keyID, previousKey: opening.previousKey, openedAt: entry.sequence,
                grantHashes: Dictionary(uniqueKeysWithValues: opening.coverage.map { ($0.subject, $0.grantHash) })))
        rotationDue = false
    }
}
