import SealPrimitives
import Testing

@testable import SealStatements

extension RosterRulesTests {
    // MARK: Accepting

    @Test mutating func `Whoever had the URL takes a placeholder's seat, with the permission that it offers`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation(.readOnly))])
        try world.append(by: alice, [.accept(world.acceptance(of: seat, by: alice))])
        #expect(world.roster.permission(of: alice.userID) == .readOnly)
        #expect(world.roster.members[alice.userID]?.invitationID == seat.id)
        #expect(world.roster.invitations.isEmpty)
        #expect(world.roster.standing(of: alice.userID, at: world.roster.sequence - 1) == nil, "not before it accepted")
    }

    @Test mutating func `An acceptance with one thing wrong takes no seat`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation()), .invite(other.invitation(for: bob))])
        let good = world.acceptance(of: seat, by: alice)
        func entry(_ acceptance: RosterChange.Acceptance, by author: Person? = nil) -> RosterEntry {
            world.entry(by: author ?? alice, [.accept(acceptance)])
        }
        func accept(id: ID16? = nil, acceptor: Person? = nil, signature: [UInt8]? = nil) -> RosterChange.Acceptance {
            .init(
                invitationID: id ?? good.invitationID, acceptor: (acceptor ?? alice).chain,
                signature: signature ?? good.signature)
        }
        func signature(scopeID: Digest? = nil, id: ID16? = nil, head: Digest? = nil, by key: Seat? = nil) -> [UInt8] {
            (key ?? seat).signingKey.sign(
                RosterChange.Acceptance.signedBytes(
                    scopeID: scopeID ?? world.scope.id, invitationID: id ?? seat.id, acceptor: alice.chain,
                    head: head ?? world.roster.head))
        }
        refuses(
            entry(accept(signature: signature(scopeID: digest(1)))), by: alice, .invalidSignature, "for another scope")
        refuses(
            entry(accept(signature: signature(id: other.id))), by: alice, .invalidSignature, "for another invitation")
        refuses(entry(accept(signature: signature(head: digest(1)))), by: alice, .invalidSignature, "at another head")
        refuses(entry(accept(signature: signature(by: other))), by: alice, .invalidSignature, "by another URL")
        refuses(entry(accept(acceptor: bob), by: bob), by: bob, .invalidSignature, "moved to another identity")
        refuses(entry(good), by: bob, .invalidSignature, "signed by another identity")
        refuses(entry(good, by: bob), by: bob, .changeNotPermitted, "authored by another identity")
        refuses(
            entry(accept(id: try ID16(digest(1).bytes.prefix(16)))), by: alice, .changeNotApplicable,
            "an unknown invitation")
        refuses(
            entry(world.acceptance(of: other, by: alice)), by: alice, .changeNotPermitted,
            "a known invitee's seat, though with its URL")
        refuses(
            world.entry(by: alice, [.accept(good), .leave]), by: alice, .changeNotApplicable, "with a second change")
        refuses(
            world.entry(by: alice, [.accept(good)], epoch: world.epoch()), by: alice, .changeNotApplicable,
            "with an epoch")

        var copy = world
        try copy.append(entry(good), by: alice)
        refuses(
            copy.entry(by: bob, [.accept(copy.acceptance(of: seat, by: bob))]), by: bob, .changeNotApplicable,
            "a second time",
            in: copy.roster)
    }

    @Test mutating func `A member takes no second seat`() throws {
        try world.join(alice, seat: seat)
        try world.append(by: world.owner, [.invite(other.invitation())])
        refuses(
            world.entry(by: alice, [.accept(world.acceptance(of: other, by: alice))]), by: alice, .changeNotApplicable)
    }

    @Test mutating func `A revoked invitation is not accepted`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation())])
        try world.append(by: world.owner, [.revoke(seat.id)], epoch: world.epoch(without: [.invitation(seat.id)]))
        refuses(
            world.entry(by: alice, [.accept(world.acceptance(of: seat, by: alice))]), by: alice, .changeNotApplicable)
    }

    @Test
    mutating func `A known invitee comes with the invited generation or a later one, never an earlier or forked one`()
        throws
    {
        let second = try Person(alice, next: 22)
        let fork = try Person(alice, next: 23)
        let third = try Person(second, next: 24)
        try world.append(by: world.owner, [.invite(seat.invitation(for: second))])
        refuses(world.entry(by: alice, [.accept(world.acceptance(of: seat, by: alice))]), by: alice, .invalidIdentity)
        refuses(world.entry(by: fork, [.accept(world.acceptance(of: seat, by: fork))]), by: fork, .invalidIdentity)
        try world.append(by: third, [.accept(world.acceptance(of: seat, by: third))])
    }

    // MARK: Permissions and removal

    @Test mutating func `Raising a permission needs no epoch, lowering it does`() throws {
        try world.join(alice, seat: seat, .readOnly)
        try world.append(by: world.owner, [.setPermission(alice.userID, .readWrite)])
        #expect(world.roster.permission(of: alice.userID) == .readWrite)
        refuses(
            world.entry(by: world.owner, [.setPermission(alice.userID, .readOnly)]), by: world.owner, .epochRequired)
        try world.append(by: world.owner, [.setPermission(alice.userID, .readOnly)], epoch: world.epoch())
        #expect(world.roster.permission(of: alice.userID) == .readOnly)
        #expect(
            world.roster.standing(of: alice.userID, at: 4)?.permission == .readWrite,
            "what it could do before stays known")
    }

    @Test mutating func `Permissions are the owner's to set, and not its own`() throws {
        try world.join(alice, seat: seat)
        try world.join(bob, seat: other, .readOnly)
        refuses(
            world.entry(by: bob, [.setPermission(bob.userID, .readWrite)]), by: bob, .changeNotPermitted, "one's own")
        refuses(
            world.entry(by: alice, [.setPermission(bob.userID, .readWrite)]), by: alice, .changeNotPermitted,
            "another's")
        refuses(
            world.entry(by: world.owner, [.setPermission(alice.userID, .readWrite)]), by: world.owner,
            .changeNotApplicable, "no change")
        refuses(
            world.entry(by: world.owner, [.setPermission(world.owner.userID, .readOnly)], epoch: world.epoch()),
            by: world.owner,
            .changeNotPermitted, "the owner's")
        let stranger = try Person(9)
        refuses(
            world.entry(by: world.owner, [.setPermission(stranger.userID, .readOnly)], epoch: world.epoch()),
            by: world.owner,
            .changeNotApplicable, "a stranger's")
    }

    @Test mutating func `Removing opens an epoch that leaves the member out`() throws {
        try world.join(alice, seat: seat)
        try world.join(bob, seat: other)
        let gone: Set<GrantSubject> = [.member(alice.userID)]
        refuses(world.entry(by: world.owner, [.remove(alice.userID)]), by: world.owner, .epochRequired)
        refuses(
            world.entry(by: world.owner, [.remove(alice.userID)], epoch: world.epoch()), by: world.owner,
            .coverageMismatch)
        refuses(
            world.entry(by: bob, [.remove(alice.userID)], epoch: world.epoch(without: gone)), by: bob,
            .changeNotPermitted)
        refuses(
            world.entry(by: world.owner, [.remove(world.owner.userID)], epoch: world.epoch()), by: world.owner,
            .changeNotPermitted,
            "the owner")
        try world.append(by: world.owner, [.remove(alice.userID)], epoch: world.epoch(without: gone))
        #expect(world.roster.permission(of: alice.userID) == nil)
        #expect(world.roster.standing(of: alice.userID, at: world.roster.sequence) == nil)
        refuses(
            world.entry(by: world.owner, [.remove(alice.userID)], epoch: world.epoch()), by: world.owner,
            .changeNotApplicable,
            "a second time")
        refuses(
            world.entry(by: alice, [], epoch: world.epoch()), by: alice, .changeNotPermitted, "the removed one rotates")
    }

    @Test mutating func `One entry removes and invites again`() throws {
        try world.join(alice, seat: seat)
        let invitation = other.invitation(.readOnly, for: alice)
        try world.append(
            by: world.owner, [.remove(alice.userID), .invite(invitation)],
            epoch: world.epoch(without: [.member(alice.userID)], with: [invitation]))
        try world.append(by: alice, [.accept(world.acceptance(of: other, by: alice))])
        #expect(world.roster.permission(of: alice.userID) == .readOnly)
    }
}
