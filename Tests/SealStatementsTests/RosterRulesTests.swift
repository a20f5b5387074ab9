import SealPrimitives
import Testing

@testable import SealStatements

/// The rules, one by one: obeyed, and broken in each single way. A refused entry leaves no trace.
@Suite(.timeLimit(.minutes(60))) struct RosterRulesTests {
    let alice: Person
    let bob: Person
    let seat: Seat
    let other: Seat
    var world: World

    init() throws {
        alice = try Person(2)
        bob = try Person(3)
        seat = try Seat(11)
        other = try Seat(12)
        world = try World()
    }

    /// The entry is refused for that reason, and the roster is as it was.
    func refuses(
        _ entry: RosterEntry, by author: Person, _ error: SealError, _ comment: Comment? = nil,
        in roster: Roster? = nil, location: SourceLocation = #_sourceLocation
    ) {
        var roster = roster ?? world.roster
        let before = RosterState(roster)
        #expect(throws: error, comment, sourceLocation: location) {
            try roster.append(World.sign(entry, with: author.signingKey))
        }
        #expect(RosterState(roster) == before, "a refused entry leaves a trace", sourceLocation: location)
    }

    func opens(_ entry: RosterEntry, _ scope: Scope? = nil, by author: Person? = nil) throws(SealError) {
        _ = try Roster(
            opening: World.sign(entry, with: (author ?? world.owner).signingKey), scope: scope ?? world.scope)
    }

    // MARK: Opening

    @Test func `The owner opens a roster: alone, with epoch 0`() throws {
        let world = try World(isShared: false)
        let roster = world.roster
        #expect(roster.members.keys.map { $0 } == [world.owner.userID])
        #expect(roster.currentEpoch.number == 0)
        #expect(roster.incarnations == Incarnations(zone: 1, scope: 1))
        #expect(roster.sequence == 0)
        #expect(roster.permission(of: world.owner.userID) == .readWrite)
    }

    @Test func `An opening with one thing wrong opens nothing`() throws {
        func open(_ change: (inout RosterEntry) -> Void) -> RosterEntry {
            var entry = world.opening
            change(&entry)
            return entry
        }
        func opening(scope: Scope? = nil, zone: UInt32 = 1, life: UInt32 = 1, root: String? = nil, owner: Person? = nil)
            -> RosterChange
        {
            .open(
                .init(
                    scope: scope ?? world.scope, incarnations: Incarnations(zone: zone, scope: life),
                    encryptionScope: .perRecord,
                    rootRecordName: root, owner: (owner ?? world.owner).chain))
        }
        let elsewhere = Scope(
            container: World.container, environment: .production, owner: world.owner.userID, zoneName: "Other")
        let wrong: [(Comment, SealError, RosterEntry)] = [
            ("another scope id", .wrongContext, open { $0.scopeID = elsewhere.id }),
            ("another scope", .wrongContext, open { $0.changes = [opening(scope: elsewhere)] }),
            ("not entry 0", .notNextEntry, open { $0.sequence = 1 }),
            ("a predecessor", .notNextEntry, open { $0.previous = digest(1) }),
            ("another author", .changeNotPermitted, open { $0.author = alice.userID }),
            ("another owner's identity", .changeNotPermitted, open { $0.changes = [opening(owner: alice)] }),
            ("incarnation 0", .changeNotApplicable, open { $0.changes = [opening(zone: 0, life: 0)] }),
            ("incarnation 2", .changeNotApplicable, open { $0.changes = [opening(zone: 2, life: 2)] }),
            ("a zone whose incarnations differ", .changeNotApplicable, open { $0.changes = [opening(zone: 2)] }),
            ("a root record in a zone", .changeNotApplicable, open { $0.changes = [opening(root: "Root")] }),
            ("no epoch", .epochRequired, open { $0.epoch = nil }),
            ("a second change", .changeNotApplicable, open { $0.changes.append(.leave) }),
            ("no opening", .notNextEntry, open { $0.changes = [] }),
            ("another first change", .notNextEntry, open { $0.changes = [.leave] }),
        ]
        for (comment, error, entry) in wrong {
            #expect(throws: error, comment) { try opens(entry) }
        }
        func epoch(number: UInt32 = 0, _ coverage: [EpochOpening.Coverage]) -> RosterEntry {
            open {
                $0.epoch = EpochOpening(
                    number: number, keyID: digest(1), checkpoint: Checkpoint.none,
                    previousKey: [UInt8](repeating: 0, count: number == 0 ? 0 : EpochOpening.previousKeyBytes),
                    coverage: coverage)
            }
        }
        let own = EpochOpening.Coverage(subject: .member(world.owner.userID), grantHash: digest(1))
        let alien = EpochOpening.Coverage(subject: .invitation(seat.id), grantHash: digest(1))
        #expect(throws: SealError.coverageMismatch, "nobody covered") { try opens(epoch([])) }
        #expect(throws: SealError.coverageMismatch, "somebody else too") { try opens(epoch([own, alien])) }
        #expect(throws: SealError.malformed, "twice") { try opens(epoch([own, own])) }
        #expect(throws: SealError.epochRequired, "epoch 1") { try opens(epoch(number: 1, [own])) }
        #expect(throws: SealError.invalidSignature, "signed by somebody else") { try opens(world.opening, by: alice) }
    }

    @Test func `A name in the scope commits to the owner's first key: nobody else opens it`() throws {
        let forged = World.opening(of: world.scope, by: alice)
        #expect(throws: SealError.changeNotPermitted) { try opens(forged, by: alice) }
    }

    @Test func `A hierarchical share's roster names its root record, a zone's names none`() throws {
        let share = Scope(
            container: World.container, environment: .production, owner: world.owner.userID, zoneName: "Notes",
            shareRecordName: "Share-1")
        var entry = World.opening(of: share, by: world.owner)
        #expect(throws: SealError.changeNotApplicable) { try opens(entry, share) }
        func change(_ encryption: EncryptionScope) -> RosterChange {
            .open(
                .init(
                    scope: share, incarnations: Incarnations(zone: 3, scope: 1), encryptionScope: encryption,
                    rootRecordName: "Root", owner: world.owner.chain))
        }
        entry.changes = [change(.perZone)]
        #expect(throws: SealError.changeNotApplicable, "of a zone under its own keys alone") { try opens(entry, share) }
        entry.changes = [change(.perRecord)]
        try opens(entry, share)
    }

    // MARK: The log

    @Test func `An entry follows the head, and only the head`() throws {
        let good = world.entry(by: world.owner, [.invite(seat.invitation())])
        func change(_ body: (inout RosterEntry) -> Void) -> RosterEntry {
            var entry = good
            body(&entry)
            return entry
        }
        refuses(change { $0.sequence += 1 }, by: world.owner, .notNextEntry, "a gap")
        refuses(change { $0.sequence = 0 }, by: world.owner, .notNextEntry, "a repetition")
        refuses(change { $0.previous = digest(3) }, by: world.owner, .notNextEntry, "a fork")
        refuses(change { $0.previous = .zero }, by: world.owner, .notNextEntry, "no predecessor")
        refuses(change { $0.scopeID = digest(3) }, by: world.owner, .wrongContext, "another scope's entry")
        refuses(change { $0.author = alice.userID }, by: alice, .changeNotPermitted, "a stranger")
        refuses(change { $0.author = alice.userID }, by: world.owner, .changeNotPermitted, "in a stranger's name")
        refuses(good, by: alice, .invalidSignature, "in the owner's name")

        var copy = world
        try copy.append(good, by: world.owner)
        refuses(good, by: world.owner, .notNextEntry, "the same entry again", in: copy.roster)
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .notNextEntry,
            "a fork from the entry before", in: copy.roster)
    }

    @Test func `No altered byte of an entry or its signature passes`() throws {
        let signed = World.sign(
            world.entry(by: world.owner, [.invite(seat.invitation(for: alice))]), with: world.owner.signingKey)
        for index in stride(from: 0, to: signed.bytes.count, by: 7) {
            var bytes = signed.bytes
            bytes[index] ^= 1
            var roster = world.roster
            #expect(throws: SealError.self) {
                try roster.append(SignedRosterEntry(bytes: bytes, signature: signed.signature))
            }
        }
        for index in signed.signature.indices {
            var signature = signed.signature
            signature[index] ^= 1
            var roster = world.roster
            #expect(throws: SealError.invalidSignature) {
                try roster.append(SignedRosterEntry(bytes: signed.bytes, signature: signature))
            }
        }
    }

    @Test func `An entry that changes nothing is refused`() {
        refuses(world.entry(by: world.owner, []), by: world.owner, .epochRequired)
    }

    // MARK: Sharing

    @Test mutating func `The owner shares a scope, once in its life, before it invites anybody`() throws {
        world = try World(isShared: false)
        refuses(
            world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .changeNotApplicable,
            "not shared yet")
        refuses(world.entry(by: alice, [World.settings]), by: alice, .changeNotPermitted, "a stranger")
        try world.append(by: world.owner, [World.settings, .invite(seat.invitation())])
        #expect(world.roster.isShared)
        refuses(world.entry(by: world.owner, [World.settings]), by: world.owner, .changeNotApplicable, "a second time")
        try world.append(by: alice, [.accept(world.acceptance(of: seat, by: alice))])
        refuses(world.entry(by: alice, [World.settings]), by: alice, .changeNotPermitted, "a member")
        try world.append(by: world.owner, [.close])
        #expect(!world.roster.isShared)
        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .changeNotApplicable,
            "in another life")
    }

    // MARK: Inviting and revoking

    @Test mutating func `The owner invites, and the current epoch's grant comes along`() throws {
        let invitation = seat.invitation()
        try world.append(by: world.owner, [.invite(invitation)])
        #expect(world.roster.invitations[seat.id] == invitation)
        #expect(world.roster.currentEpoch.grantHashes[.invitation(seat.id)] == invitation.grantHash)
    }

    @Test mutating func `An invitation that comes with an epoch has its grant under that one alone`() throws {
        let invitation = seat.invitation()
        try world.append(by: world.owner, [.invite(invitation)], epoch: world.epoch(with: [invitation]))
        #expect(world.roster.epochs[1].grantHashes[.invitation(seat.id)] == invitation.grantHash)
        #expect(world.roster.epochs[0].grantHashes[.invitation(seat.id)] == nil)
    }

    @Test mutating func `Only the owner invites and revokes`() throws {
        try world.join(alice, seat: seat)
        refuses(world.entry(by: alice, [.invite(other.invitation())]), by: alice, .changeNotPermitted)
        refuses(world.entry(by: bob, [.invite(other.invitation())]), by: bob, .changeNotPermitted)
        try world.append(by: world.owner, [.invite(other.invitation())])
        refuses(
            world.entry(by: alice, [.revoke(other.id)], epoch: world.epoch(without: [.invitation(other.id)])),
            by: alice,
            .changeNotPermitted)
    }

    @Test mutating func `An invitation id is used once for ever`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation())])
        refuses(
            world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .changeNotApplicable,
            "still open")
        try world.append(by: world.owner, [.revoke(seat.id)], epoch: world.epoch(without: [.invitation(seat.id)]))
        refuses(
            world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .changeNotApplicable, "revoked"
        )
        try world.join(alice, seat: other)
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .changeNotApplicable, "taken")
        try world.append(by: world.owner, [.close])
        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        try world.append(by: world.owner, [World.settings])
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .changeNotApplicable,
            "in an earlier life")
    }

    @Test mutating func `A known person is invited once, and not when a member`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation(for: alice))])
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation(for: alice))]), by: world.owner, .changeNotApplicable
        )
        try world.append(by: alice, [.accept(world.acceptance(of: seat, by: alice))])
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation(for: alice))]), by: world.owner, .changeNotApplicable
        )
        refuses(
            world.entry(by: world.owner, [.invite(other.invitation(for: world.owner))]), by: world.owner,
            .changeNotApplicable)
    }

    @Test mutating func `A scope holds its owner and a hundred others`() throws {
        let seats = try (0..<100).map { number in try Seat(UInt8(100 + number)) }
        try world.append(by: world.owner, seats.map { .invite($0.invitation()) })
        refuses(world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .tooManyParticipants)
    }

    @Test mutating func `Revoking opens an epoch that leaves the invitation out`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation())])
        refuses(world.entry(by: world.owner, [.revoke(seat.id)]), by: world.owner, .epochRequired)
        refuses(
            world.entry(by: world.owner, [.revoke(seat.id)], epoch: world.epoch()), by: world.owner, .coverageMismatch)
        refuses(
            world.entry(by: world.owner, [.revoke(other.id)], epoch: world.epoch()), by: world.owner,
            .changeNotApplicable,
            "an unknown invitation")
        try world.append(by: world.owner, [.revoke(seat.id)], epoch: world.epoch(without: [.invitation(seat.id)]))
        #expect(world.roster.invitations.isEmpty)
        refuses(
            world.entry(by: world.owner, [.revoke(seat.id)], epoch: world.epoch()), by: world.owner,
            .changeNotApplicable,
            "a second time")
    }
}
