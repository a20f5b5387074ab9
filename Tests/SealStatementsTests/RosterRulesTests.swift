import SealPrimitives
import Testing

@testable import SealStatements

/// The rules, one by one: obeyed, and broken in each single way. A refused entry leaves no trace.
@Suite struct RosterRulesTests {
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
        func opening(scope: Scope? = nil, zone: UInt32 = 1, life: UInt32 = 1, root: String? = nil, owner: Person? = nil) -> RosterChange {
            .open(
                .init(
                    scope: scope ?? world.scope, incarnations: Incarnations(zone: zone, scope: life), rootRecordName: root,
                    owner: (owner ?? world.owner).chain))
        }
        let elsewhere = Scope(container: World.container, environment: .production, owner: world.owner.userID, zoneName: "Other")
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
                    number: number, keyID: digest(1),
                    previousKey: [UInt8](repeating: 0, count: number == 0 ? 0 : EpochOpening.previousKeyBytes), coverage: coverage)
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
        entry.changes = [
            .open(
                .init(
                    scope: share, incarnations: Incarnations(zone: 3, scope: 1), rootRecordName: "Root",
                    owner: world.owner.chain))
        ]
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
        let signed = World.sign(world.entry(by: world.owner, [.invite(seat.invitation(for: alice))]), with: world.owner.signingKey)
        for index in stride(from: 0, to: signed.bytes.count, by: 7) {
            var bytes = signed.bytes
            bytes[index] ^= 1
            var roster = world.roster
            #expect(throws: SealError.self) { try roster.append(SignedRosterEntry(bytes: bytes, signature: signed.signature)) }
        }
        for index in signed.signature.indices {
            var signature = signed.signature
            signature[index] ^= 1
            var roster = world.roster
            #expect(throws: SealError.invalidSignature) { try roster.append(SignedRosterEntry(bytes: signed.bytes, signature: signature)) }
        }
    }

    @Test func `An entry that changes nothing is refused`() {
        refuses(world.entry(by: world.owner, []), by: world.owner, .epochRequired)
    }

    // MARK: Sharing

    @Test mutating func `The owner shares a scope, once in its life, before it invites anybody`() throws {
        world = try World(isShared: false)
        refuses(world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .changeNotApplicable, "not shared yet")
        refuses(world.entry(by: alice, [World.settings]), by: alice, .changeNotPermitted, "a stranger")
        try world.append(by: world.owner, [World.settings, .invite(seat.invitation())])
        #expect(world.roster.isShared)
        refuses(world.entry(by: world.owner, [World.settings]), by: world.owner, .changeNotApplicable, "a second time")
        try world.append(by: alice, [.accept(world.acceptance(of: seat, by: alice))])
        refuses(world.entry(by: alice, [World.settings]), by: alice, .changeNotPermitted, "a member")
        try world.append(by: world.owner, [.close])
        #expect(!world.roster.isShared)
        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        refuses(world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .changeNotApplicable, "in another life")
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
            world.entry(by: alice, [.revoke(other.id)], epoch: world.epoch(without: [.invitation(other.id)])), by: alice,
            .changeNotPermitted)
    }

    @Test mutating func `An invitation id is used once for ever`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation())])
        refuses(world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .changeNotApplicable, "still open")
        try world.append(by: world.owner, [.revoke(seat.id)], epoch: world.epoch(without: [.invitation(seat.id)]))
        refuses(world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .changeNotApplicable, "revoked")
        try world.join(alice, seat: other)
        refuses(world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .changeNotApplicable, "taken")
        try world.append(by: world.owner, [.close])
        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        try world.append(by: world.owner, [World.settings])
        refuses(world.entry(by: world.owner, [.invite(other.invitation())]), by: world.owner, .changeNotApplicable, "in an earlier life")
    }

    @Test mutating func `A known person is invited once, and not when a member`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation(for: alice))])
        refuses(world.entry(by: world.owner, [.invite(other.invitation(for: alice))]), by: world.owner, .changeNotApplicable)
        try world.append(by: alice, [.accept(world.acceptance(of: seat, by: alice))])
        refuses(world.entry(by: world.owner, [.invite(other.invitation(for: alice))]), by: world.owner, .changeNotApplicable)
        refuses(world.entry(by: world.owner, [.invite(other.invitation(for: world.owner))]), by: world.owner, .changeNotApplicable)
    }

    @Test mutating func `A scope holds its owner and a hundred others`() throws {
        let seats = try (0..<100).map { number in try Seat(UInt8(100 + number)) }
        try world.append(by: world.owner, seats.map { .invite($0.invitation()) })
        refuses(world.entry(by: world.owner, [.invite(seat.invitation())]), by: world.owner, .tooManyParticipants)
    }

    @Test mutating func `Revoking opens an epoch that leaves the invitation out`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation())])
        refuses(world.entry(by: world.owner, [.revoke(seat.id)]), by: world.owner, .epochRequired)
        refuses(world.entry(by: world.owner, [.revoke(seat.id)], epoch: world.epoch()), by: world.owner, .coverageMismatch)
        refuses(
            world.entry(by: world.owner, [.revoke(other.id)], epoch: world.epoch()), by: world.owner, .changeNotApplicable,
            "an unknown invitation")
        try world.append(by: world.owner, [.revoke(seat.id)], epoch: world.epoch(without: [.invitation(seat.id)]))
        #expect(world.roster.invitations.isEmpty)
        refuses(
            world.entry(by: world.owner, [.revoke(seat.id)], epoch: world.epoch()), by: world.owner, .changeNotApplicable,
            "a second time")
    }

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
        refuses(entry(accept(signature: signature(scopeID: digest(1)))), by: alice, .invalidSignature, "for another scope")
        refuses(entry(accept(signature: signature(id: other.id))), by: alice, .invalidSignature, "for another invitation")
        refuses(entry(accept(signature: signature(head: digest(1)))), by: alice, .invalidSignature, "at another head")
        refuses(entry(accept(signature: signature(by: other))), by: alice, .invalidSignature, "by another URL")
        refuses(entry(accept(acceptor: bob), by: bob), by: bob, .invalidSignature, "moved to another identity")
        refuses(entry(good), by: bob, .invalidSignature, "signed by another identity")
        refuses(entry(good, by: bob), by: bob, .changeNotPermitted, "authored by another identity")
        refuses(entry(accept(id: try ID16(digest(1).bytes.prefix(16)))), by: alice, .changeNotApplicable, "an unknown invitation")
        refuses(
            entry(world.acceptance(of: other, by: alice)), by: alice, .changeNotPermitted, "a known invitee's seat, though with its URL")
        refuses(world.entry(by: alice, [.accept(good), .leave]), by: alice, .changeNotApplicable, "with a second change")
        refuses(world.entry(by: alice, [.accept(good)], epoch: world.epoch()), by: alice, .changeNotApplicable, "with an epoch")

        var copy = world
        try copy.append(entry(good), by: alice)
        refuses(
            copy.entry(by: bob, [.accept(copy.acceptance(of: seat, by: bob))]), by: bob, .changeNotApplicable, "a second time",
            in: copy.roster)
    }

    @Test mutating func `A member takes no second seat`() throws {
        try world.join(alice, seat: seat)
        try world.append(by: world.owner, [.invite(other.invitation())])
        refuses(world.entry(by: alice, [.accept(world.acceptance(of: other, by: alice))]), by: alice, .changeNotApplicable)
    }

    @Test mutating func `A revoked invitation is not accepted`() throws {
        try world.append(by: world.owner, [.invite(seat.invitation())])
        try world.append(by: world.owner, [.revoke(seat.id)], epoch: world.epoch(without: [.invitation(seat.id)]))
        refuses(world.entry(by: alice, [.accept(world.acceptance(of: seat, by: alice))]), by: alice, .changeNotApplicable)
    }

    @Test mutating func `A known invitee comes with the invited generation or a later one, never an earlier or forked one`() throws {
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
        refuses(world.entry(by: world.owner, [.setPermission(alice.userID, .readOnly)]), by: world.owner, .epochRequired)
        try world.append(by: world.owner, [.setPermission(alice.userID, .readOnly)], epoch: world.epoch())
        #expect(world.roster.permission(of: alice.userID) == .readOnly)
        #expect(world.roster.standing(of: alice.userID, at: 4)?.permission == .readWrite, "what it could do before stays known")
    }

    @Test mutating func `Permissions are the owner's to set, and not its own`() throws {
        try world.join(alice, seat: seat)
        try world.join(bob, seat: other, .readOnly)
        refuses(world.entry(by: bob, [.setPermission(bob.userID, .readWrite)]), by: bob, .changeNotPermitted, "one's own")
        refuses(world.entry(by: alice, [.setPermission(bob.userID, .readWrite)]), by: alice, .changeNotPermitted, "another's")
        refuses(world.entry(by: world.owner, [.setPermission(alice.userID, .readWrite)]), by: world.owner, .changeNotApplicable, "no change")
        refuses(
            world.entry(by: world.owner, [.setPermission(world.owner.userID, .readOnly)], epoch: world.epoch()), by: world.owner,
            .changeNotPermitted, "the owner's")
        let stranger = try Person(9)
        refuses(
            world.entry(by: world.owner, [.setPermission(stranger.userID, .readOnly)], epoch: world.epoch()), by: world.owner,
            .changeNotApplicable, "a stranger's")
    }

    @Test mutating func `Removing opens an epoch that leaves the member out`() throws {
        try world.join(alice, seat: seat)
        try world.join(bob, seat: other)
        let gone: Set<GrantSubject> = [.member(alice.userID)]
        refuses(world.entry(by: world.owner, [.remove(alice.userID)]), by: world.owner, .epochRequired)
        refuses(world.entry(by: world.owner, [.remove(alice.userID)], epoch: world.epoch()), by: world.owner, .coverageMismatch)
        refuses(world.entry(by: bob, [.remove(alice.userID)], epoch: world.epoch(without: gone)), by: bob, .changeNotPermitted)
        refuses(
            world.entry(by: world.owner, [.remove(world.owner.userID)], epoch: world.epoch()), by: world.owner, .changeNotPermitted,
            "the owner")
        try world.append(by: world.owner, [.remove(alice.userID)], epoch: world.epoch(without: gone))
        #expect(world.roster.permission(of: alice.userID) == nil)
        #expect(world.roster.standing(of: alice.userID, at: world.roster.sequence) == nil)
        refuses(
            world.entry(by: world.owner, [.remove(alice.userID)], epoch: world.epoch()), by: world.owner, .changeNotApplicable,
            "a second time")
        refuses(world.entry(by: alice, [], epoch: world.epoch()), by: alice, .changeNotPermitted, "the removed one rotates")
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

    // MARK: Leaving, closing

    @Test mutating func `A member leaves by itself, and a rotation becomes due`() throws {
        try world.join(alice, seat: seat)
        refuses(world.entry(by: world.owner, [.leave]), by: world.owner, .changeNotPermitted, "the owner")
        refuses(world.entry(by: bob, [.leave]), by: bob, .changeNotPermitted, "a stranger")
        refuses(world.entry(by: alice, [.leave], epoch: world.epoch()), by: alice, .changeNotApplicable, "with an epoch")
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
            World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner, .changeNotApplicable,
            "opened while open")
        let beforeClosing = world.roster
        try world.append(by: world.owner, [.close])
        #expect(world.roster.isClosed && world.roster.members.isEmpty && world.roster.invitations.isEmpty)
        #expect(world.roster.standing(of: world.owner.userID, at: world.roster.sequence) == nil)

        refuses(world.entry(by: world.owner, [.invite(try Seat(13).invitation())]), by: world.owner, .changeNotApplicable)
        refuses(world.entry(by: bob, [.accept(world.acceptance(of: other, by: bob))]), by: bob, .changeNotApplicable)
        refuses(world.entry(by: world.owner, [.close]), by: world.owner, .changeNotApplicable)
        refuses(World.opening(of: world.scope, by: alice, following: world.roster), by: alice, .changeNotPermitted)
        var replay = World.opening(of: world.scope, by: world.owner, following: world.roster)
        replay.changes = world.opening.changes
        refuses(replay, by: world.owner, .changeNotApplicable, "the first life again")

        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        #expect(world.roster.incarnations == Incarnations(zone: 2, scope: 2))
        #expect(world.roster.members.count == 1 && world.roster.currentEpoch.number == 0)
        #expect(world.roster.epoch(0, incarnations: Incarnations(zone: 1, scope: 1))?.keyID == beforeClosing.epochs[0].keyID)
        #expect(world.roster.epoch(0, incarnations: Incarnations(zone: 2, scope: 2))?.keyID == world.roster.currentEpoch.keyID)
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
                        scope: share, incarnations: Incarnations(zone: zone, scope: life), rootRecordName: "Root",
                        owner: world.owner.chain))
            ]
            return entry
        }
        var roster = try Roster(
            opening: World.sign(opening(zone: 3, life: 1, following: nil), with: world.owner.signingKey), scope: share)
        let close = RosterEntry(
            scopeID: share.id, sequence: 1, previous: roster.head, author: world.owner.userID, time: 1, changes: [.close], epoch: nil)
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
        refuses(world.entry(by: try Person(9), [], epoch: world.epoch()), by: try Person(9), .changeNotPermitted, "a stranger")
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
            number: UInt32? = nil, keyID: Digest? = nil, previousKey: [UInt8]? = nil, coverage: [EpochOpening.Coverage]? = nil
        ) -> RosterEntry {
            world.entry(
                by: world.owner, [],
                epoch: EpochOpening(
                    number: number ?? good.number, keyID: keyID ?? good.keyID, previousKey: previousKey ?? good.previousKey,
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
            epoch(coverage: (good.coverage + [stranger]).sorted { $0.subject < $1.subject }), by: world.owner, .coverageMismatch,
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
            try clock.measure { for _ in 0..<count { try world.append(by: world.owner, [], epoch: epochOfAnyLength(world)) } }
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
            previousKey: epoch.previousKey, coverage: epoch.coverage)
    }
}
