public import SealPrimitives

/// The rules (PROTOCOL.md, "Rules"): which entry may follow which. Applied by every client always, and by the server
/// too; no reader believes another's judgement. `Roster+Changes.swift` has what each single change does.
extension Roster {
    /// Starts a roster with its entry 0.
    /// - Throws: as `append`, and `wrongContext` when the entry opens another scope than `scope`.
    public init(opening signed: SignedRosterEntry, scope: Scope) throws(SealError) {
        self.scope = scope
        scopeID = scope.id
        incarnations = Incarnations(zone: 0, scope: 0)
        let entry = try RosterEntry(canonicalBytes: signed.bytes, container: scope.container)
        guard case .open? = entry.changes.first else { throw .notNextEntry }
        try append(signed)
    }

    /// The roster that a log says, from its first entry on; nil when there is none.
    /// - Throws: what `append` does.
    public init?(replaying entries: some Sequence<SignedRosterEntry>, scope: Scope) throws(SealError) {
        var entries = entries.makeIterator()
        guard let first = entries.next() else { return nil }
        try self.init(opening: first, scope: scope)
        while let entry = entries.next() { try append(entry) }
    }

    /// Checks an entry against the rules and applies it; on any error the roster stays as it was.
    /// - Throws: `notNextEntry` when it does not follow the head; `changeNotPermitted`, `changeNotApplicable`,
    ///   `epochRequired`, `renewalRequired`, `coverageMismatch`, `tooManyParticipants`; `invalidIdentity`;
    ///   `invalidSignature`; decoding errors.
    public mutating func append(_ signed: SignedRosterEntry) throws(SealError) {
        let entry = try RosterEntry(canonicalBytes: signed.bytes, container: scope.container)
        guard entry.scopeID == scopeID else { throw .wrongContext }
        guard entry.sequence == nextSequence, entry.previous == head else { throw .notNextEntry }

        let before = RosterUndo(self)
        do throws(SealError) {
            let key = try apply(entry)
            try key.verify(signed.signature, over: RosterEntry.signedBytes(signed.bytes))
        } catch {
            before.restore(&self)
            throw error
        }
        hashes.append(RosterEntry.hash(signed.bytes))
    }

    /// The roster as it would be after these changes by `author`, before an epoch is opened: whom that has to cover,
    /// and with which keys. For whoever writes the next entry; nothing is signed yet.
    /// - Throws: as `append`.
    public func applying(_ changes: [RosterChange], by author: UserID) throws(SealError) -> Roster {
        var next = self
        let entry = RosterEntry(
            scopeID: scopeID, sequence: nextSequence, previous: head, author: author, time: 0, changes: changes,
            epoch: nil)
        _ = try next.applyChanges(of: entry)
        return next
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
        let (author, needsEpoch) = try applyChanges(of: entry)
        if let epoch = entry.epoch {
            guard author.mayAdminister || mayRotate(author, with: entry.changes) else { throw .changeNotPermitted }
            try applyEpoch(epoch, of: entry)
        } else {
            guard !needsEpoch, !entry.changes.isEmpty else { throw .epochRequired }
        }
        return author.identity.current.signingKey
    }

    /// While rotation is due any member who may write rotates, and changes nothing else: otherwise a writer could open
    /// epochs at will. Whoever brings new keys may do it in the same step. Public users are anybody, and never do.
    private func mayRotate(_ author: Member, with changes: [RosterChange]) -> Bool {
        guard rotationDue, author.permission == .readWrite, author.role != .publicUser else { return false }
        guard let change = changes.first else { return true }
        if case .identity = change { return true }
        return false
    }

    /// Applies all changes but `open` and `accept`.
    /// - Returns: the author as it was before the entry, and whether a right was taken away.
    private mutating func applyChanges(of entry: RosterEntry) throws(SealError) -> (author: Member, needsEpoch: Bool) {
        guard !isClosed else { throw .changeNotApplicable }
        // Rights are those before the entry: nobody is judged by what the same entry gives or takes.
        guard let author = members[entry.author] else { throw .changeNotPermitted }
        let linkBefore = linkID
        var needsEpoch = false
        var needsRenewal = false
        for change in entry.changes {
            if change.alwaysNeedsEpoch { needsEpoch = true }
            switch change {
            case .open, .accept:
                // As the first change they are judged elsewhere; after another one they have no place.
                throw .changeNotApplicable
            case .leave:
                guard entry.changes.count == 1, entry.epoch == nil else { throw .changeNotApplicable }
                try applyLeave(of: author, at: entry.sequence)
            case .close:
                guard entry.changes.count == 1, entry.epoch == nil else { throw .changeNotApplicable }
                guard author.role == .owner else { throw .changeNotPermitted }
                endLife(at: entry.sequence)
            case .identity(let generations):
                guard entry.changes.count == 1 else { throw .changeNotApplicable }
                try applyIdentity(generations, of: author, at: entry.sequence)
            case .settings(let settings):
                if try applySettings(settings, by: author, of: entry) { needsEpoch = true }
            case .invite(let invitation):
                guard isShared else { throw .changeNotApplicable }
                guard author.mayAdminister else { throw .changeNotPermitted }
                try applyInvitation(invitation, by: author, of: entry)
            case .revoke(let id):
                guard author.mayAdminister else { throw .changeNotPermitted }
                guard invitations[id] != nil else { throw .changeNotApplicable }
                endInvitation(id)
            case .setPermission(let user, let permission):
                if try applyPermission(permission, of: user, by: author, at: entry.sequence) { needsEpoch = true }
            case .setRole(let user, let role):
                if try applyRole(role, of: user, by: author, at: entry.sequence) { needsEpoch = true }
            case .remove(let user):
                endMembership(of: try subordinate(user, to: author), at: entry.sequence)
                needsRenewal = true
            case .block(let user):
                try applyBlock(user, by: author, at: entry.sequence)
                needsRenewal = true
            case .unblock(let user):
                guard author.mayAdminister else { throw .changeNotPermitted }
                guard blocked.remove(user) != nil else { throw .changeNotApplicable }
            }
        }
        // Whoever was put out knows the URL: while that lets people join, it has to be another one.
        if needsRenewal, publicSeat != nil, linkID == linkBefore { throw .renewalRequired }
        return (author, needsEpoch)
    }

    /// A member below the author: never the owner, and only the owner stands above administrators.
    func subordinate(_ user: UserID, to author: Member) throws(SealError) -> Member {
        guard author.mayAdminister else { throw .changeNotPermitted }
        guard let target = members[user] else { throw .changeNotApplicable }
        guard target.role != .owner, author.role == .owner || target.role != .administrator else {
            throw .changeNotPermitted
        }
        return target
    }
}
