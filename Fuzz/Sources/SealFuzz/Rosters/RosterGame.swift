import SealPrimitives

@testable import SealStatements

/// A roster that entries are tried on, and what has to hold whatever they are.
struct RosterGame {
    private(set) var roster: Roster?
    /// What it began with, where it did not begin with nothing.
    private let start: Roster?
    /// What was taken since.
    private var entries: [SignedRosterEntry] = []

    private static let isCompared: Void = RosterState.coversEverything()

    init(_ start: Roster?) {
        Self.isCompared
        roster = start
        self.start = start
    }

    mutating func play(_ signed: SignedRosterEntry) {
        guard let before = roster else {
            guard let opened = try? Roster(opening: signed, scope: World.scope) else { return }
            require(opened.head == RosterEntry.hash(signed.bytes) && opened.nextSequence == 1, "a first entry that is none")
            roster = opened
            entries = [signed]
            return
        }
        var after = before
        do {
            try after.append(signed)
        } catch {
            require(RosterState(before) == RosterState(after), "an entry that was refused with \(error) changed the roster")
            // A roster that refused goes on like one that never saw the entry.
            roster = after
            return
        }
        entries.append(signed)
        roster = after
        require(after.head == RosterEntry.hash(signed.bytes) && after.sequence == before.nextSequence, "another head")
        checkState(after)
        checkStep(from: before, to: after)
    }

    /// The entries that were taken give the same state where nothing was refused between them.
    func replay() {
        guard let roster else { return }
        var left = entries[...]
        guard var again = start ?? left.popFirst().map({ first in
            certain("a first entry that was taken") { try Roster(opening: first, scope: World.scope) }
        }) else { return }
        for entry in left { certain("an entry that was taken") { try again.append(entry) } }
        require(RosterState(again) == RosterState(roster), "a replay gives another state")
    }

    private func checkState(_ roster: Roster) {
        if roster.isClosed {
            require(roster.members.isEmpty && roster.invitations.isEmpty, "somebody is left in a closed scope")
        } else {
            let owner = roster.members[roster.owner]
            require(owner?.role == .owner && owner?.permission == .readWrite, "a scope without its owner")
        }
        require(roster.members.count + roster.invitations.count <= 101, "too many participants")
        require(roster.members.values.filter { $0.role == .owner }.count <= 1, "two owners")
        let invitees = roster.invitations.values.compactMap { $0.invitee?.userID }
        require(Set(invitees).count == invitees.count, "somebody is invited twice")
        require(!invitees.contains { roster.members[$0] != nil }, "a member is invited")
        for (user, member) in roster.members {
            let right = roster.right(of: user, at: roster.sequence)
            require(right?.permission == member.permission, "a right that is not the member's")
            require(right?.signingKey == member.identity.current.signingKey, "a key that is not the member's")
        }
    }

    private func checkStep(from before: Roster, to after: Roster) {
        // What was is what it was: statements are judged by it.
        for sequence in 0..<before.nextSequence {
            require(
                before.epochInForce(at: sequence)?.context == after.epochInForce(at: sequence)?.context
                    && before.epochInForce(at: sequence)?.keyID == after.epochInForce(at: sequence)?.keyID,
                "an epoch of the past has changed")
            for person in World.people {
                let (was, now) = (before.right(of: person.userID, at: sequence), after.right(of: person.userID, at: sequence))
                require(was?.permission == now?.permission && was?.signingKey == now?.signingKey, "a right of the past has changed")
            }
        }
        require(after.hashes.starts(with: before.hashes), "the past has changed")
        require(
            after.incarnations.scope >= before.incarnations.scope && after.incarnations.zone >= before.incarnations.zone,
            "a life before the last")
        guard !before.isClosed, !after.isClosed else { return }

        let isRotated = after.epochs.count > before.epochs.count
        require(after.epochs.count <= before.epochs.count + 1, "two epochs at once")
        if isRotated {
            require(Set(after.currentEpoch.grantHashes.keys) == Set(after.subjects), "an epoch that covers others than are there")
            require(after.currentEpoch.number == before.currentEpoch.number + 1, "an epoch out of turn")
            require(after.currentEpoch.keyID != before.currentEpoch.keyID, "an epoch under the key before")
        }
        // Whoever loses something holds no key for what comes: an epoch now, or before anybody writes again.
        for (user, member) in before.members {
            let now = after.members[user]
            if now == nil { require(isRotated || after.rotationDue, "somebody left with the key") }
            if let now, now.permission < member.permission { require(isRotated, "a right was lowered without an epoch") }
        }
        for id in before.invitations.keys where after.invitations[id] == nil {
            let isTaken = after.members.values.contains { $0.invitationID == id && before.members[$0.userID] == nil }
            require(isRotated || isTaken, "an invitation was revoked without an epoch")
        }
        if before.rotationDue { require(isRotated || after.rotationDue, "a rotation that was due is forgotten") }
    }
}
