import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// The rules about members: permissions, roles, removing, blocking, leaving, new keys, and epochs.
extension RosterRuleVectors {
    /// Alice may write, Bob may read; `administrator` makes Alice one.
    private func joined(administrator: Bool = false) throws -> VectorZone {
        var zone = try VectorZone()
        try zone.join(alice, 1)
        try zone.join(bob, 2, .readOnly)
        if administrator { try zone.append(by: owner, [.setRole(alice.user, .administrator)]) }
        return zone
    }

    func members() throws {
        let joined = try joined()
        try replay("Alice may write, Bob may read", from: joined) { cases in
            try cases.obeys("a permission raised", by: owner, [.setPermission(bob.user, .readWrite)])
            try cases.obeys(
                "a permission lowered, in a new epoch", by: owner, [.setPermission(alice.user, .readOnly)],
                rotating: true)
            try cases.obeys("a member removed, in a new epoch", by: owner, [.remove(alice.user)], rotating: true)
            try cases.obeys("a member leaves", by: alice, [.leave])
            try cases.obeys("a member made an administrator", by: owner, [.setRole(alice.user, .administrator)])
            cases.breaks("a permission lowered without an epoch", by: owner, [.setPermission(alice.user, .readOnly)])
            cases.breaks("a permission that stays", by: owner, [.setPermission(alice.user, .readWrite)])
            cases.breaks("one's own permission raised", by: bob, [.setPermission(bob.user, .readWrite)])
            cases.breaks(
                "the owner's permission lowered", by: owner, [.setPermission(owner.user, .readOnly)], rotating: true)
            cases.breaks("a stranger's permission", by: owner, [.setPermission(carol.user, .readWrite)])
            cases.breaks("a member removed without an epoch", by: owner, [.remove(alice.user)])
            cases.breaks("a member removed, but covered", by: owner, [.remove(alice.user)], epoch: joined.epoch())
            cases.breaks("a member removes another", by: alice, [.remove(bob.user)], rotating: true)
            cases.breaks(
                "the owner removed", by: owner, [.remove(owner.user)],
                epoch: joined.epoch(without: [.member(owner.user)]))
            cases.breaks("a stranger removed", by: owner, [.remove(carol.user)], rotating: true)
            cases.breaks("a member invites", by: alice, [.invite(try joined.invitation(3))])
            cases.breaks("a member invited", by: owner, [.invite(try joined.invitation(3, for: alice))])
            cases.breaks("an invitation used before", by: owner, [.invite(try joined.invitation(1))])
            cases.breaks("a member changes the settings", by: alice, [try joined.settings(renewals: 1)])
            cases.breaks("a member makes itself an administrator", by: alice, [.setRole(alice.user, .administrator)])
            cases.breaks("an administrator who may only read", by: owner, [.setRole(bob.user, .administrator)])
            try cases.obeys(
                "an administrator who may write from now on", by: owner,
                [.setPermission(bob.user, .readWrite), .setRole(bob.user, .administrator)])
            cases.breaks("a role that stays", by: owner, [.setRole(alice.user, .privateUser)])
            cases.breaks("the owner's role", by: owner, [.setRole(owner.user, .administrator)])
            cases.breaks("a role that cannot be given", by: owner, [.setRole(alice.user, .owner)])
            cases.breaks("a member blocks", by: alice, [.block(carol.user)], rotating: true)
        }
    }

    func administrators() throws {
        var base = try joined(administrator: true)
        try base.append(by: alice, [.invite(try base.invitation(3)), .invite(try base.invitation(4, for: carol))])
        try base.append(by: owner, [.invite(try base.invitation(5))])
        let zone = base
        let placeholder = GrantSubject.invitation(try zone.invitationKeys(3).id)
        try replay(
            "Alice is an administrator and has invited a placeholder (03…) and Carol (04…), the owner another (05…); Bob may read",
            from: zone
        ) { cases in
            try cases.obeys("an administrator raises a permission", by: alice, [.setPermission(bob.user, .readWrite)])
            try cases.obeys("an administrator removes a member", by: alice, [.remove(bob.user)], rotating: true)
            try cases.obeys(
                "an administrator revokes another's invitation", by: alice, [.revoke(try zone.invitationKeys(5).id)],
                rotating: true)
            try cases.obeys("an administrator rotates", by: alice, [], rotating: true)
            try cases.obeys("an administrator renews the URL", by: alice, [try zone.settings(renewals: 1)])
            cases.breaks("an administrator opens the scope to the public", by: alice, [try zone.settings(.readOnly)])
            cases.breaks("an administrator closes", by: alice, [.close])
            cases.breaks(
                "an administrator leaves with another change", by: alice,
                [.setPermission(bob.user, .readWrite), .leave])
            cases.breaks(
                "an administrator removes the owner", by: alice, [.remove(owner.user)],
                epoch: zone.epoch(without: [.member(owner.user)]))
            cases.breaks(
                "an administrator lowers the owner", by: alice, [.setPermission(owner.user, .readOnly)], rotating: true)
            cases.breaks("an administrator makes another", by: alice, [.setRole(bob.user, .administrator)])
            cases.breaks(
                "an administrator blocks the owner", by: alice, [.block(owner.user)],
                epoch: zone.epoch(without: [.member(owner.user)]))
            try cases.obeys(
                "an administrator demoted: its one-time invitations end", by: owner,
                [.setRole(alice.user, .privateUser)], rotating: true)
            cases.breaks("an administrator demoted without an epoch", by: owner, [.setRole(alice.user, .privateUser)])
            cases.breaks(
                "a demotion that leaves its one-time invitation covered", by: owner,
                [.setRole(alice.user, .privateUser)], epoch: zone.epoch())
            try cases.obeys(
                "an administrator removed: its one-time invitations end", by: owner, [.remove(alice.user)],
                rotating: true)
            cases.breaks(
                "a removal that leaves its one-time invitation covered", by: owner, [.remove(alice.user)],
                epoch: zone.epoch(without: [.member(alice.user)]))
            try cases.obeys(
                "an administrator blocked: its one-time invitations end", by: owner, [.block(alice.user)],
                rotating: true)
            var left = zone
            try left.append(by: alice, [.leave])
            let leaving = left.entries[left.entries.count - 1]
            try cases.obeys(
                "an administrator leaves: its one-time invitations end",
                [leaving, owner.sign(left.entry(by: owner, [], epoch: left.epoch()))])
            let taken = carol.sign(left.entry(by: carol, [try left.acceptance(3, by: carol)]))
            cases.breaks("the one-time invitation of an administrator who left", [leaving, taken])
            let covering =
                left.epoch().coverage + [.init(subject: placeholder, grantHash: VectorZone.grantHash(placeholder))]
            let epoch = left.epoch()
            let wrong = EpochOpening(
                number: epoch.number, keyID: epoch.keyID, checkpoint: Checkpoint.none, previousKey: epoch.previousKey,
                coverage: covering.sorted { $0.subject < $1.subject })
            cases.breaks(
                "covered after its maker left", [leaving, owner.sign(left.entry(by: owner, [], epoch: wrong))])
        }
        var two = try joined(administrator: true)
        try two.append(by: owner, [.setPermission(bob.user, .readWrite), .setRole(bob.user, .administrator)])
        try replay("Alice and Bob are administrators", from: two) { cases in
            try cases.obeys("the owner removes one", by: owner, [.remove(bob.user)], rotating: true)
            cases.breaks("one removes the other", by: alice, [.remove(bob.user)], rotating: true)
            cases.breaks("one blocks the other", by: alice, [.block(bob.user)], rotating: true)
            cases.breaks("one lowers the other", by: alice, [.setPermission(bob.user, .readOnly)], rotating: true)
            cases.breaks(
                "the owner lowers one that still is an administrator", by: owner, [.setPermission(bob.user, .readOnly)],
                rotating: true)
            var demoted = two
            try demoted.append(by: owner, [.setRole(alice.user, .privateUser)], rotating: true)
            let demotion = demoted.entries[demoted.entries.count - 1]
            cases.breaks(
                "one invites after its demotion",
                [demotion, alice.sign(demoted.entry(by: alice, [.invite(try two.invitation(5))]))])
        }
    }

    func blocking() throws {
        var invited = try joined()
        try invited.append(
            by: owner, [.invite(try invited.invitation(3, for: carol)), .invite(try invited.invitation(4))])
        let zone = invited
        try replay("Alice may write, Bob may read, Carol (03…) and a placeholder (04…) are invited", from: zone) {
            cases in
            try cases.obeys("a member blocked", by: owner, [.block(alice.user)], rotating: true)
            try cases.obeys(
                "a known invitee blocked: the invitation ends", by: owner, [.block(carol.user)], rotating: true)
            cases.breaks("blocked without an epoch", by: owner, [.block(carol.user)])
            cases.breaks("a blocked member covered", by: owner, [.block(alice.user)], epoch: zone.epoch())
            cases.breaks("a blocked invitee's seat covered", by: owner, [.block(carol.user)], epoch: zone.epoch())
            cases.breaks(
                "the owner blocked", by: owner, [.block(owner.user)], epoch: zone.epoch(without: [.member(owner.user)]))
            cases.breaks("unblocked without having been blocked", by: owner, [.unblock(carol.user)])
        }
        var blocked = zone
        try blocked.append(by: owner, [.block(carol.user)], rotating: true)
        let base = blocked
        try replay("Carol is blocked", from: base) { cases in
            try cases.obeys("unblocked", by: owner, [.unblock(carol.user)])
            cases.breaks("unblocked by a member", by: alice, [.unblock(carol.user)])
            cases.breaks("blocked again", by: owner, [.block(carol.user)], rotating: true)
            cases.breaks("the blocked one invited", by: owner, [.invite(try base.invitation(5, for: carol))])
            cases.breaks("the blocked one takes a placeholder's seat", by: carol, [try base.acceptance(4, by: carol)])
            try cases.obeys(
                "unblocked and invited in one entry", by: owner,
                [.unblock(carol.user), .invite(try base.invitation(5, for: carol))])
        }
    }

    func generations() throws {
        let zone = try joined()
        let newAlice = try VectorPerson(6, after: alice)
        let newBob = try VectorPerson(7, after: bob)
        let third = try VectorPerson(8, after: newAlice)
        try replay("Alice may write, Bob may read", from: zone) { cases in
            try cases.obeys("new keys", by: alice, [newAlice.newGeneration])
            try cases.obeys(
                "two generations at once", by: alice, [.identity([UInt8](1...2).map { third.identity.signed[Int($0)] })]
            )
            try cases.obeys("new keys, and the rotation with them", by: alice, [newAlice.newGeneration], rotating: true)
            try cases.obeys("new keys of a reader", by: bob, [newBob.newGeneration])
            try cases.obeys(
                "new keys of the owner", by: owner, [try VectorPerson(9, after: owner).newGeneration], rotating: true)
            cases.breaks("a reader rotates with its new keys", by: bob, [newBob.newGeneration], rotating: true)
            cases.breaks("signed by the new keys", by: alice, [newAlice.newGeneration], signedBy: newAlice)
            cases.breaks("another's new keys", by: alice, [newBob.newGeneration])
            cases.breaks("a generation left out", by: alice, [third.newGeneration])
            cases.breaks("no generation", by: alice, [.identity([])])
            cases.breaks("the first generation again", by: alice, [.identity([alice.identity.signed[0]])])
            let signed = newAlice.identity.signed[1]
            cases.breaks(
                "not agreed to by the keys before", by: alice,
                [
                    .identity([
                        SignedIdentity(
                            bytes: signed.bytes, signature: signed.signature, previousSignature: signed.signature)
                    ])
                ])
            cases.breaks(
                "not signed by the new keys", by: alice,
                [
                    .identity([
                        SignedIdentity(
                            bytes: signed.bytes, signature: signed.previousSignature,
                            previousSignature: signed.previousSignature)
                    ])
                ])
            cases.breaks("new keys with another change", by: alice, [newAlice.newGeneration, .leave])
        }
        var renewed = zone
        try renewed.append(by: alice, [newAlice.newGeneration])
        let base = renewed
        try replay("Alice has new keys", from: base) { cases in
            try cases.obeys("she leaves with them", by: newAlice, [.leave])
            cases.breaks("she leaves with the old ones", by: alice, [.leave])
            try cases.obeys("the rotation that is due", by: newAlice, [], rotating: true)
            cases.breaks("the rotation that is due, with the old keys", by: alice, [], rotating: true)
            cases.breaks("a fork of her generations", by: newAlice, [try VectorPerson(7, after: alice).newGeneration])
        }
        // A life that begins after the owner's keys have changed.
        var closed = try VectorZone()
        let newOwner = try VectorPerson(9, after: owner)
        try closed.append(by: owner, [newOwner.newGeneration], rotating: true)
        try closed.append(by: newOwner, [.close])
        try replay("closed, after the owner had new keys", from: closed) { cases in
            try cases.obeys(
                "opened with the new keys",
                [newOwner.sign(VectorZone.opening(closed.scope, owner: newOwner, following: closed.roster).entry)])
            cases.breaks(
                "opened with the old keys",
                [owner.sign(VectorZone.opening(closed.scope, owner: owner, following: closed.roster).entry)])
        }
    }

    func epochs() throws {
        let zone = try joined()
        try replay("Alice may write, Bob may read, no rotation is due", from: zone) { cases in
            cases.breaks("a member rotates while nothing makes it due", by: alice, [], rotating: true)
            cases.breaks(
                "a rotation that leaves a member out", by: owner, [], epoch: zone.epoch(without: [.member(alice.user)]))
            let good = zone.epoch()
            let stranger = good.coverage + [.init(subject: .member(carol.user), grantHash: .zero)]
            for (comment, epoch) in [
                (
                    "an epoch skipped",
                    EpochOpening(
                        number: 2, keyID: good.keyID, checkpoint: Checkpoint.none, previousKey: good.previousKey,
                        coverage: good.coverage)
                ),
                (
                    "the epoch in force again",
                    EpochOpening(
                        number: 0, keyID: good.keyID, checkpoint: Checkpoint.none, previousKey: [],
                        coverage: good.coverage)
                ),
                (
                    "the key before kept",
                    EpochOpening(
                        number: 1, keyID: zone.roster.currentEpoch.keyID, checkpoint: Checkpoint.none,
                        previousKey: good.previousKey, coverage: good.coverage)
                ),
                (
                    "no previous key",
                    EpochOpening(
                        number: 1, keyID: good.keyID, checkpoint: Checkpoint.none, previousKey: [],
                        coverage: good.coverage)
                ),
                (
                    "coverage out of order",
                    EpochOpening(
                        number: 1, keyID: good.keyID, checkpoint: Checkpoint.none, previousKey: good.previousKey,
                        coverage: good.coverage.reversed())
                ),
                (
                    "a stranger covered",
                    EpochOpening(
                        number: 1, keyID: good.keyID, checkpoint: Checkpoint.none, previousKey: good.previousKey,
                        coverage: stranger.sorted { $0.subject < $1.subject })
                ),
            ] { cases.breaks(comment, by: owner, [], epoch: epoch) }
            let pointed = zone.entry(
                by: owner, [],
                epoch: EpochOpening(
                    number: 1, keyID: good.keyID, checkpoint: GrantHash.of([9]), previousKey: good.previousKey,
                    coverage: good.coverage))
            try cases.obeys("an epoch with a checkpoint", [owner.sign(pointed)])
            cases.breaks(
                "another checkpoint than the signed one",
                [
                    SignedRosterEntry(
                        bytes: pointed.canonicalBytes(),
                        signature: owner.sign(zone.entry(by: owner, [], epoch: good)).signature)
                ])
        }
        var left = zone
        try left.join(carol, 3)
        try left.append(by: carol, [.leave])
        let due = left
        try replay("Carol has left; Alice may write, Bob may read", from: due) { cases in
            try cases.obeys("a member who may write rotates, since it is due", by: alice, [], rotating: true)
            try cases.obeys(
                "the owner rotates with another change", by: owner, [.setPermission(bob.user, .readWrite)],
                rotating: true)
            cases.breaks("a member who may read rotates", by: bob, [], rotating: true)
            cases.breaks(
                "a member rotates with another change", by: alice, [.setPermission(bob.user, .readWrite)],
                rotating: true)
            var rotated = due
            try rotated.append(by: alice, [], rotating: true)
            let again = alice.sign(rotated.entry(by: alice, [], epoch: rotated.epoch()))
            cases.breaks("rotated twice", [rotated.entries[rotated.entries.count - 1], again])
        }
    }
}
