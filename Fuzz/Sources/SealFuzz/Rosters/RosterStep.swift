import SealPrimitives

@testable import SealStatements

/// What holds between a roster and what one entry has made of it. Written from PROTOCOL.md, "Rules", and
/// not from the core: it looks at the two states, and at the entry only for what a state does not tell.
struct RosterStep {
    let before: Roster
    let entry: RosterEntry
    let after: Roster

    var author: UserID { entry.author }
    var isRotated: Bool { after.epochs.count > before.epochs.count }
    var only: RosterChange? { entry.changes.count == 1 ? entry.changes[0] : nil }

    func check() {
        checkPast()
        if case .open(let opening)? = only { return checkOpening(opening) }
        require(!before.isClosed, "an entry in a closed scope")
        require(
            after.incarnations == before.incarnations && after.rootRecordName == before.rootRecordName, "another life")
        require(after.encryptionScope == before.encryptionScope, "another encryption scope")
        require(
            after.abandonments.count == before.abandonments.count, "a head is given up by another entry than an opening"
        )
        if after.isClosed {
            require(only == .close && author == before.scope.owner && !isRotated, "closed otherwise than by the owner")
            return
        }
        checkEpoch()
        checkMembers()
        checkSeats()
        checkLosses()
    }

    /// What was is what it was: statements are judged by it.
    private func checkPast() {
        for (was, now) in zip(before.epochs, after.epochs) {
            require(
                was.context == now.context && was.keyID == now.keyID && was.openedAt == now.openedAt,
                "an epoch has changed")
            require(was.grantHashes.allSatisfy { now.grantHashes[$0.key] == $0.value }, "a grant has changed")
        }
        for sequence in 0..<before.nextSequence {
            require(
                before.epochInForce(at: sequence)?.context == after.epochInForce(at: sequence)?.context,
                "an epoch of the past has changed")
            for person in World.people {
                let (was, now) = (
                    before.standing(of: person.userID, at: sequence), after.standing(of: person.userID, at: sequence)
                )
                require(
                    was?.permission == now?.permission && was?.role == now?.role && was?.identity == now?.identity,
                    "a standing of the past has changed")
            }
        }
        require(after.hashes.starts(with: before.hashes), "the past has changed")
        require(before.usedInvitations.allSatisfy { after.usedInvitations[$0.key] == $0.value }, "an id may come again")
        require(after.epochs.count <= before.epochs.count + 1, "two epochs at once")
    }

    private func checkOpening(_ opening: RosterChange.Opening) {
        require(author == before.scope.owner && opening.owner.userID == author, "opened by somebody else")
        require(
            Array(after.members.keys) == [author] && after.members[author]?.identity == opening.owner,
            "opened with company")
        require(
            after.invitations.isEmpty && after.blocked.isEmpty && !after.isShared,
            "something of the life before is left")
        require(after.currentEpoch.number == 0 && isRotated && !after.rotationDue, "a life without an epoch of its own")
        require(after.currentEpoch.context.incarnations == opening.incarnations, "an epoch of another life")
        require(
            after.incarnations == opening.incarnations && after.rootRecordName == opening.rootRecordName, "another life"
        )
        require(after.incarnations.zone >= max(1, before.incarnations.zone), "a life of the zone before the last")
        require(after.encryptionScope == opening.encryptionScope, "another encryption scope than was signed")
        require(
            opening.abandoned == nil || after.encryptionScope == before.encryptionScope, "a fork's end changes the zone"
        )
        let isZone = before.scope.shareRecordName.isEmpty
        require(isZone || after.encryptionScope == .perRecord, "a share in a zone that has none")
        require(!isZone || after.incarnations.zone == after.incarnations.scope, "a zone with two lives")
        require(isZone == (after.rootRecordName == nil), "a zone with a root, or a share without")
        require(after.incarnations.scope > before.incarnations.scope, "a life that was before")
        if let abandoned = opening.abandoned {
            require(
                after.abandonments.map(\.head) == before.abandonments.map(\.head) + [abandoned],
                "a head that is not given up")
            let own = abandoned.sequence < before.nextSequence ? before.hashes[Int(abandoned.sequence)] : nil
            require(own != abandoned.hash, "a log gives itself up")
        } else {
            require(before.isClosed && after.incarnations.scope - before.incarnations.scope == 1, "opened out of turn")
            require(after.abandonments.count == before.abandonments.count, "a head is given up that nobody named")
        }
    }

    private func checkEpoch() {
        let now = after.currentEpoch
        require(isRotated == (entry.epoch != nil), "an epoch that no entry opens")
        // What a public user does keeps nobody from writing.
        let isPublic = before.members[author]?.role == .publicUser
        var due = before.rotationDue || (only == .leave && !isPublic)
        if case .identity? = only, !isPublic { due = true }
        require(
            after.rotationDue == (due && !isRotated), "a rotation that was due is forgotten, or one is due for nothing")
        guard isRotated, let member = before.members[author] else {
            return require(!isRotated, "an epoch by a stranger")
        }
        require(now.number == before.currentEpoch.number + 1 && now.openedAt == entry.sequence, "an epoch out of turn")
        require(now.keyID != before.currentEpoch.keyID, "an epoch under the key before")
        require(now.grantHashes.count == after.subjects.count, "an epoch that covers others than are there")
        require(after.subjects.allSatisfy { now.grantHashes[$0] != nil }, "an epoch that leaves somebody out")
        require(entry.epoch?.coverage.map(\.subject) == after.subjects, "another coverage than was signed")
        if isAdministrator(author) { return }
        require(due && member.permission == .readWrite && !isPublic, "an epoch by somebody who may open none")
        if case .identity? = only { return }
        require(entry.changes.isEmpty, "a member changes more than its keys")
    }

    func isAdministrator(_ user: UserID) -> Bool {
        let role = before.members[user]?.role
        return role == .owner || role == .administrator
    }
}
