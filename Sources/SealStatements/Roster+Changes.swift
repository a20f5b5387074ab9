import SealPrimitives

/// What each single change does, where it is allowed.
extension Roster {
    /// Remembers what a member can do from an entry on; `isMember: false` when it is none any more.
    private mutating func remember(_ member: Member, isMember: Bool = true, from sequence: UInt64) {
        history[member.userID, default: []].append(
            Standing(
                from: sequence, role: member.role, permission: isMember ? member.permission : nil,
                identity: member.identity))
    }

    private mutating func update(_ user: UserID, at sequence: UInt64, _ body: (inout Member) -> Void) {
        guard var member = members[user] else { return }
        body(&member)
        members[user] = member
        remember(member, from: sequence)
    }

    /// A chain that comes into the roster again has to be the one that it knows, or newer generations after it.
    private func checkKnown(_ chain: IdentityChain) throws(SealError) {
        if let known = knownIdentity(of: chain.userID), !chain.continues(known) { throw .invalidIdentity }
    }

    // MARK: Lives

    mutating func applyOpening(_ opening: RosterChange.Opening, of entry: RosterEntry) throws(SealError) {
        let isZone = scope.shareRecordName.isEmpty
        guard entry.changes.count == 1, entry.sequence == 0 || isClosed || opening.abandoned != nil else {
            throw .changeNotApplicable
        }
        guard opening.scope == scope else { throw .wrongContext }
        guard entry.author == scope.owner, opening.owner.userID == scope.owner else { throw .changeNotPermitted }
        try checkKnown(opening.owner)
        guard isZone == (opening.rootRecordName == nil) else { throw .changeNotApplicable }
        guard opening.incarnations.zone >= max(1, incarnations.zone),
            !isZone || opening.incarnations.zone == opening.incarnations.scope
        else { throw .changeNotApplicable }
        // A zone that is under its own keys alone has no hierarchical shares.
        guard isZone || opening.encryptionScope == .perRecord else { throw .changeNotApplicable }
        if let abandoned = opening.abandoned {
            // The end of a fork gives the zone no other keys than it was made with.
            guard entry.sequence == 0 || opening.encryptionScope == encryptionScope else { throw .changeNotApplicable }
            // The branch that is given up may have had lives that this one does not know.
            guard opening.incarnations.scope > incarnations.scope,
                abandoned.sequence >= nextSequence || hashes[Int(abandoned.sequence)] != abandoned.hash
            else { throw .changeNotApplicable }
        } else {
            // Compared so that the last number there is refuses instead of stopping the reader.
            guard opening.incarnations.scope > incarnations.scope,
                opening.incarnations.scope - incarnations.scope == 1
            else { throw .changeNotApplicable }
        }
        guard let epoch = entry.epoch else { throw .epochRequired }
        endLife(at: entry.sequence)
        if let abandoned = opening.abandoned {
            abandonments.append(Abandonment(head: abandoned, incarnations: opening.incarnations, owner: opening.owner))
        }
        incarnations = opening.incarnations
        encryptionScope = opening.encryptionScope
        rootRecordName = opening.rootRecordName
        isClosed = false
        let owner = Member(
            identity: opening.owner, role: .owner, permission: .readWrite, invitation: nil, since: entry.sequence)
        members = [scope.owner: owner]
        remember(owner, from: entry.sequence)
        try applyEpoch(epoch, of: entry, isFirst: true)
    }

    /// All memberships, invitations and settings end.
    mutating func endLife(at sequence: UInt64) {
        for member in members.values { remember(member, isMember: false, from: sequence) }
        members = [:]
        invitations = [:]
        inviters = [:]
        blocked = []
        linkID = nil
        publicSeat = nil
        rotationDue = false
        isClosed = true
    }

    // MARK: Seats

    /// - Returns: whether it takes a right away.
    mutating func applySettings(
        _ settings: RosterChange.Settings, by author: Member, of entry: RosterEntry
    ) throws(SealError) -> Bool {
        let before = publicSeat?.permission
        let after = settings.publicSeat?.permission
        let renewsLink = linkID != settings.linkID
        if author.role != .owner {
            // Administrators renew the URL, as they have to when they remove somebody; who may join is the owner's
            // affair.
            guard author.mayAdminister, isShared, before == after else { throw .changeNotPermitted }
        }
        guard renewsLink || before != after else { throw .changeNotApplicable }
        // Whoever has the old URL, or joined by it, may do less than before.
        let lowers = before.map { before in renewsLink || after.map { $0 < before } ?? true } ?? false
        linkID = settings.linkID
        publicSeat = settings.publicSeat
        if let seat = settings.publicSeat {
            guard usedInvitations[seat.id] == nil else { throw .changeNotApplicable }
            usedInvitations[seat.id] = entry.sequence
            commit(seat.grantHash, to: seat.id, of: entry)
        }
        // Public users have the public permission, whatever it becomes.
        for member in members.values where member.role == .publicUser && member.permission != after {
            if let after {
                update(member.userID, at: entry.sequence) { $0.permission = after }
            } else {
                endMembership(of: member, at: entry.sequence)
            }
        }
        return lowers
    }

    mutating func applyInvitation(_ invitation: Invitation, by author: Member, of entry: RosterEntry) throws(SealError)
    {
        guard usedInvitations[invitation.id] == nil else { throw .changeNotApplicable }
        try checkRoom()
        if let invitee = invitation.invitee {
            let user = invitee.userID
            guard members[user] == nil, self.invitation(for: user) == nil, !blocked.contains(user) else {
                throw .changeNotApplicable
            }
            try checkKnown(invitee)
        }
        usedInvitations[invitation.id] = entry.sequence
        invitations[invitation.id] = invitation
        inviters[invitation.id] = author.userID
        commit(invitation.grantHash, to: invitation.id, of: entry)
    }

    /// A new seat's grant is under the epoch in force after the entry: one that the entry opens lists it itself.
    private mutating func commit(_ grantHash: Digest, to seat: ID16, of entry: RosterEntry) {
        if entry.epoch == nil { epochs[epochs.count - 1].grantHashes[.invitation(seat)] = grantHash }
    }

    private func checkRoom() throws(SealError) {
        guard members.count + invitations.count <= Limits.participantsPerScope else { throw .tooManyParticipants }
    }

    mutating func endInvitation(_ id: ID16) {
        invitations[id] = nil
        inviters[id] = nil
    }

    mutating func applyAcceptance(_ acceptance: RosterChange.Acceptance, of entry: RosterEntry) throws(SealError) {
        guard !isClosed, entry.changes.count == 1, entry.epoch == nil else { throw .changeNotApplicable }
        let acceptor = acceptance.acceptor
        guard entry.author == acceptor.userID else { throw .changeNotPermitted }
        guard members[acceptor.userID] == nil else { throw .changeNotApplicable }
        guard !blocked.contains(acceptor.userID) else { throw .changeNotPermitted }
        try checkKnown(acceptor)
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: scopeID, invitationID: acceptance.invitationID, acceptor: acceptor, head: entry.previous)
        let member: Member
        if let invitation = invitations[acceptance.invitationID] {
            if let invitee = invitation.invitee {
                guard invitee.userID == acceptor.userID else { throw .changeNotPermitted }
                guard acceptor.continues(invitee) else { throw .invalidIdentity }
            }
            try invitation.signingKey.verify(acceptance.signature, over: message)
            endInvitation(invitation.id)
            member = Member(
                identity: acceptor, role: .privateUser, permission: invitation.permission, invitation: invitation,
                since: entry.sequence)
        } else if let seat = publicSeat, seat.id == acceptance.invitationID {
            try checkRoom()
            try seat.signingKey.verify(acceptance.signature, over: message)
            member = Member(
                identity: acceptor, role: .publicUser, permission: seat.permission, invitation: nil,
                since: entry.sequence)
        } else {
            throw .changeNotApplicable
        }
        // One seat a person: another one's grant would be sealed to it even after it is removed as a member.
        if let other = invitation(for: member.userID) { endInvitation(other.id) }
        members[member.userID] = member
        remember(member, from: entry.sequence)
    }

    // MARK: Members

    /// - Returns: whether it takes a right away.
    mutating func applyPermission(
        _ permission: Permission, of user: UserID, by author: Member, at sequence: UInt64
    ) throws(SealError) -> Bool {
        let target = try subordinate(user, to: author)
        // Public users have the public permission, and administrators may write: what they can give they have.
        guard target.role == .privateUser, target.permission != permission else { throw .changeNotApplicable }
        update(user, at: sequence) { $0.permission = permission }
        return permission < target.permission
    }

    /// - Returns: whether it takes a right away.
    mutating func applyRole(_ role: Role, of user: UserID, by author: Member, at sequence: UInt64) throws(SealError)
        -> Bool
    {
        guard author.role == .owner else { throw .changeNotPermitted }
        let target = try subordinate(user, to: author)
        guard target.role != role, role == .privateUser || (role == .administrator && target.permission == .readWrite)
        else {
            throw .changeNotApplicable
        }
        update(user, at: sequence) { $0.role = role }
        if target.role == .administrator { endPlaceholders(of: user) }
        return target.role == .administrator
    }

    /// An administrator takes the open one-time invitations along that it made: it knows their URLs.
    private mutating func endPlaceholders(of user: UserID) {
        for (id, invitation) in invitations where invitation.invitee == nil && inviters[id] == user {
            endInvitation(id)
        }
    }

    mutating func endMembership(of member: Member, at sequence: UInt64) {
        members[member.userID] = nil
        remember(member, isMember: false, from: sequence)
        if member.mayAdminister { endPlaceholders(of: member.userID) }
    }

    mutating func applyBlock(_ user: UserID, by author: Member, at sequence: UInt64) throws(SealError) {
        guard author.mayAdminister, user != scope.owner else { throw .changeNotPermitted }
        guard !blocked.contains(user) else { throw .changeNotApplicable }
        guard blocked.count < Limits.blockedPerScope else { throw .tooManyParticipants }
        if members[user] != nil { endMembership(of: try subordinate(user, to: author), at: sequence) }
        if let invitation = invitation(for: user) { endInvitation(invitation.id) }
        blocked.insert(user)
    }

    mutating func applyLeave(of author: Member, at sequence: UInt64) throws(SealError) {
        guard author.role != .owner else { throw .changeNotPermitted }
        endMembership(of: author, at: sequence)
        makeRotationDue(by: author)
    }

    /// Whoever joined by the public URL could come back by it: what it does keeps nobody from writing.
    private mutating func makeRotationDue(by author: Member) {
        if author.role != .publicUser { rotationDue = true }
    }

    mutating func applyIdentity(_ generations: [SignedIdentity], of author: Member, at sequence: UInt64)
        throws(SealError)
    {
        let extended = try author.identity.extended(by: generations)
        update(author.userID, at: sequence) { $0.identity = extended }
        makeRotationDue(by: author)
    }

    // MARK: Epochs

    mutating func applyEpoch(_ opening: EpochOpening, of entry: RosterEntry, isFirst: Bool = false) throws(SealError) {
        if isFirst {
            guard opening.number == 0 else { throw .epochRequired }
        } else {
            guard opening.number == currentEpoch.number + 1, opening.keyID != currentEpoch.keyID else {
                throw .epochRequired
            }
        }
        guard opening.coverage.map({ $0.subject }) == subjects else { throw .coverageMismatch }
        // A seat that this very entry makes names its grant twice: the two have to agree.
        var made: [GrantSubject: Digest] = [:]
        for change in entry.changes {
            switch change {
            case .invite(let invitation): made[.invitation(invitation.id)] = invitation.grantHash
            case .settings(let settings):
                if let seat = settings.publicSeat { made[.invitation(seat.id)] = seat.grantHash }
            default: break
            }
        }
        for covered in opening.coverage {
            if let hash = made[covered.subject], hash != covered.grantHash { throw .coverageMismatch }
        }
        epochs.append(
            Epoch(
                context: EpochContext(scopeID: scopeID, incarnations: incarnations, epoch: opening.number),
                keyID: opening.keyID, previousKey: opening.previousKey, openedAt: entry.sequence,
                grantHashes: Dictionary(uniqueKeysWithValues: opening.coverage.map { ($0.subject, $0.grantHash) })))
        rotationDue = false
    }
}
