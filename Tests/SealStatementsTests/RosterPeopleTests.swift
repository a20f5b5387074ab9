import SealPrimitives
import SealStatements
import Testing

/// What the vectors do not reach: limits, and what writers ask the rules before they sign.
@Suite(.timeLimit(.minutes(60))) struct RosterPeopleTests {
    @Test func `A thousand names are blocked, and no more`() throws {
        var world = try World()
        let names = try (0..<Limits.blockedPerScope).map {
            UserID(try ID16(Array(GrantHash.of([UInt8($0 & 0xFF), UInt8($0 >> 8)]).bytes.prefix(16))))
        }
        try world.append(by: world.owner, names.map { .block($0) }, epoch: world.epoch())
        #expect(world.roster.blocked.count == Limits.blockedPerScope)
        let one = RosterChange.block(try Person(7).userID)
        #expect(throws: SealError.tooManyParticipants) {
            try world.append(by: world.owner, [one], epoch: world.epoch())
        }
        // What was refused has left nothing behind; room made in the same entry counts.
        #expect(world.roster.blocked.count == Limits.blockedPerScope)
        try world.append(by: world.owner, [.unblock(names[0]), one], epoch: world.epoch())
    }

    @Test func `A chain of 64 generations is the longest`() throws {
        var world = try World()
        var alice = try Person(2)
        try world.join(alice, seat: try Seat(11))
        for generation in 1..<Limits.identityGenerations {
            let next = try Person(alice, next: UInt8(16 * (generation % 12) + 1))
            try world.append(by: alice, [.identity([next.chain.signed[generation]])])
            alice = next
        }
        #expect(world.roster.knownIdentity(of: alice.userID)?.current.generation == 63)
        #expect(throws: SealError.invalidLength) { try Person(alice, next: 9) }
        // She still leaves, and the owner still rotates.
        try world.append(by: alice, [.leave])
        try world.rotate(by: world.owner)
    }

    @Test func `What changes would lead to is known before anything is signed`() throws {
        var world = try World()
        let (alice, bob) = (try Person(2), try Person(3))
        try world.join(alice, seat: try Seat(11))
        let placeholder = try Seat(12)
        try world.append(by: world.owner, [.setRole(alice.userID, .administrator)])
        try world.append(by: alice, [.invite(placeholder.invitation())])
        let before = world.roster.subjects
        let after = try world.roster.applying([.setRole(alice.userID, .privateUser)], by: world.owner.userID)
        #expect(
            after.subjects == [.member(alice.userID), .member(world.owner.userID)].sorted(),
            "her placeholder goes with her role")
        #expect(world.roster.subjects == before)
        #expect(world.roster.nextSequence == after.nextSequence)
        #expect(throws: SealError.changeNotPermitted) {
            try world.roster.applying([.setRole(alice.userID, .privateUser)], by: bob.userID)
        }
    }

    @Test func `What somebody could do is known for every entry of the past`() throws {
        var world = try World()
        let alice = try Person(2)
        try world.join(alice, seat: try Seat(11), .readOnly)
        let joined = world.roster.sequence
        try world.append(
            by: world.owner, [.setPermission(alice.userID, .readWrite), .setRole(alice.userID, .administrator)])
        let promoted = world.roster.sequence
        let newAlice = try Person(alice, next: 5)
        try world.append(by: alice, [.identity([newAlice.chain.signed[1]])], epoch: world.epoch())
        let renewed = world.roster.sequence
        try world.append(by: newAlice, [.leave])

        #expect(world.roster.standing(of: alice.userID, at: joined - 1) == nil)
        let first = try #require(world.roster.standing(of: alice.userID, at: joined))
        #expect(first.permission == .readOnly)
        #expect(!first.mayAdminister)
        let second = try #require(world.roster.standing(of: alice.userID, at: promoted))
        #expect(second.permission == .readWrite)
        #expect(second.mayAdminister)
        #expect(second.identity == alice.chain)
        #expect(world.roster.standing(of: alice.userID, at: renewed)?.identity == newAlice.chain)
        #expect(world.roster.standing(of: alice.userID, at: world.roster.sequence) == nil)
    }
}
