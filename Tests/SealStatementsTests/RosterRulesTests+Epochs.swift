import SealPrimitives
import Testing

@testable import SealStatements

extension RosterRulesTests {
    // MARK: Leaving, closing

    @Test mutating func `A member leaves by itself, and a rotation becomes due`() throws {
        try world.join(alice, seat: seat)
        refuses(world.entry(by: world.owner, [.leave]), by: world.owner, .changeNotPermitted, "the owner")
        refuses(world.entry(by: bob, [.leave]), by: bob, .changeNotPermitted, "a stranger")
        refuses(
            world.entry(by: alice, [.leave], epoch: world.epoch()), by: alice, .changeNotApplicable, "with an epoch")
        refuses(world.entry(by: alice, [.leave, .leave]), by: alice, .changeNotApplicable, "twice")
        try world.append(by: alice, [.leave])
        #expect(world.roster.rotationDue)
        #expect(world.roster.permission(of: alice.userID) == nil)
        try world.rotate(by: world.owner)
        #expect(!world.roster.rotationDue)
    }

    @Test mutating func `The owner closes, and only its opening follows`() throws {
        try world.join(alice, seat: seat)
        try world.append(by: world.owner, [.invite(other.invitation())])
        refuses(world.entry(by: alice, [.close]), by: alice, .changeNotPermitted)
        refuses(world.entry(by: world.owner, [.close], epoch: world.epoch()), by: world.owner, .changeNotApplicable)
        refuses(
            World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner,
            .changeNotApplicable,
            "opened while open")
        let beforeClosing = world.roster
        try world.append(by: world.owner, [.close])
        #expect(world.roster.isClosed)
        #expect(world.roster.members.isEmpty)
        #expect(world.roster.invitations.isEmpty)
        #expect(world.roster.standing(of: world.owner.userID, at: world.roster.sequence) == nil)

        refuses(
            world.entry(by: world.owner, [.invite(try Seat(13).invitation())]), by: world.owner, .changeNotApplicable)
        refuses(world.entry(by: bob, [.accept(world.acceptance(of: other, by: bob))]), by: bob, .changeNotApplicable)
        refuses(world.entry(by: world.owner, [.close]), by: world.owner, .changeNotApplicable)
        refuses(World.opening(of: world.scope, by: alice, following: world.roster), by: alice, .changeNotPermitted)
        var replay = World.opening(of: world.scope, by: world.owner, following: world.roster)
        replay.changes = world.opening.changes
        refuses(replay, by: world.owner, .changeNotApplicable, "the first life again")

        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        #expect(world.roster.incarnations == Incarnations(zone: 2, scope: 2))
        #expect(world.roster.members.count == 1)
        #expect(world.roster.currentEpoch.number == 0)
        #expect(
            world.roster.epoch(0, incarnations: Incarnations(zone: 1, scope: 1))?.keyID == beforeClosing.epochs[0].keyID
        )
        #expect(
            world.roster.epoch(0, incarnations: Incarnations(zone: 2, scope: 2))?.keyID
                == world.roster.currentEpoch.keyID)
    }

    @Test func `A share's roster never goes back to an earlier life of its zone`() throws {
        let share = Scope(
            container: World.container, environment: .production, owner: world.owner.userID, zoneName: "Notes",
            shareRecordName: "Share-1")
        func opening(zone: UInt32, life: UInt32, following roster: Roster?) -> RosterEntry {
            var entry = World.opening(of: share, by: world.owner, following: roster)
            entry.changes = [
                .open(
                    .init(
                        scope: share, incarnations: Incarnations(zone: zone, scope: life), encryptionScope: .perRecord,
                        rootRecordName: "Root", owner: world.owner.chain))
            ]
            return entry
        }
        var roster = try Roster(
            opening: World.sign(opening(zone: 3, life: 1, following: nil), with: world.owner.signingKey), scope: share)
        let close = RosterEntry(
            scopeID: share.id, sequence: 1, previous: roster.head, author: world.owner.userID, time: 1,
            changes: [.close], epoch: nil)
        try roster.append(World.sign(close, with: world.owner.signingKey))
        refuses(opening(zone: 2, life: 2, following: roster), by: world.owner, .changeNotApplicable, in: roster)
        try roster.append(World.sign(opening(zone: 3, life: 2, following: roster), with: world.owner.signingKey))
    }

    // MARK: Epochs

    @Test mutating func `While rotation is due any member who may write rotates, which changes nothing else`() throws {
        try world.join(alice, seat: seat)
        try world.join(bob, seat: other, .readOnly)
        refuses(world.entry(by: alice, [], epoch: world.epoch()), by: alice, .changeNotPermitted, "not due")
        refuses(world.entry(by: bob, [], epoch: world.epoch()), by: bob, .changeNotPermitted, "read-only")
        try world.append(by: bob, [.leave])
        refuses(
            world.entry(by: try Person(9), [], epoch: world.epoch()), by: try Person(9), .changeNotPermitted,
            "a stranger")
        let before = world.roster.subjects
        try world.rotate(by: alice)
        #expect(world.roster.currentEpoch.number == 1)
        #expect(world.roster.subjects == before)
    }

    @Test mutating func `An epoch with one thing wrong is not opened`() throws {
        try world.join(alice, seat: seat)
        try world.append(by: world.owner, [.invite(other.invitation())])
        let good = world.epoch()
        func epoch(
            number: UInt32? = nil, keyID: Digest? = nil, previousKey: [UInt8]? = nil,
            coverage: [EpochOpening.Coverage]? = nil
        ) -> RosterEntry {
            world.entry(
                by: world.owner, [],
                epoch: EpochOpening(
                    number: number ?? good.number, keyID: keyID ?? good.keyID, checkpoint: Checkpoint.none,
                    previousKey: previousKey ?? good.previousKey,
                    coverage: coverage ?? good.coverage))
        }
        let stranger = EpochOpening.Coverage(subject: .member(bob.userID), grantHash: digest(1))
        refuses(epoch(number: 2), by: world.owner, .epochRequired, "one skipped")
        refuses(epoch(number: 0, previousKey: []), by: world.owner, .epochRequired, "the same number")
        refuses(epoch(keyID: world.roster.currentEpoch.keyID), by: world.owner, .epochRequired, "the same key")
        refuses(epoch(previousKey: []), by: world.owner, .invalidLength, "without the key before")
        refuses(epoch(previousKey: good.previousKey + [0]), by: world.owner, .invalidLength, "a longer key before")
        for index in good.coverage.indices {
            var coverage = good.coverage
            coverage.remove(at: index)
            refuses(epoch(coverage: coverage), by: world.owner, .coverageMismatch, "somebody left out")
        }
        refuses(
            epoch(coverage: (good.coverage + [stranger]).sorted { $0.subject < $1.subject }), by: world.owner,
            .coverageMismatch,
            "a stranger covered")
        refuses(epoch(coverage: good.coverage.reversed()), by: world.owner, .malformed, "out of order")
        refuses(epoch(coverage: good.coverage + [good.coverage[2]]), by: world.owner, .malformed, "somebody twice")
    }

    @Test func `An invitation of the same entry names its grant twice: the two agree`() {
        let invitation = seat.invitation(grant: 1)
        let differing = seat.invitation(grant: 2)
        refuses(
            world.entry(by: world.owner, [.invite(invitation)], epoch: world.epoch(with: [differing])), by: world.owner,
            .coverageMismatch)
    }

    @Test func `A long log replays without copying what it has`() throws {
        var world = world
        let clock = ContinuousClock()
        func rotations(_ count: Int) throws -> Duration {
            try clock.measure {
                for _ in 0..<count { try world.append(by: world.owner, [], epoch: epochOfAnyLength(world)) }
            }
        }
        let first = try rotations(300)
        _ = try rotations(900)
        let last = try rotations(300)
        #expect(last < first * 4, "an entry costs the same after a thousand others")
    }

    /// `World.epoch` names 256 keys only.
    private func epochOfAnyLength(_ world: World) -> EpochOpening {
        let epoch = world.epoch()
        return EpochOpening(
            number: epoch.number, keyID: GrantHash.of([UInt8(epoch.number & 255), UInt8(epoch.number >> 8)]),
            checkpoint: Checkpoint.none,
            previousKey: epoch.previousKey, coverage: epoch.coverage)
    }
}
