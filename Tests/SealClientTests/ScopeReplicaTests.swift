import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import Testing

@testable import SealClient

/// Logs, whole and in pages, honest and not.
@Suite(.timeLimit(.minutes(60))) struct ScopeReplicaTests {
    /// Ann's zone with Bob, two epochs.
    private func world() throws -> (ann: Person, bob: Person, log: ScopeLog) {
        let (ann, bob) = (try Person(1), try Person(2))
        var log = try ScopeLog(owner: ann)
        try log.add(bob)
        try log.rotate()
        return (ann, bob, log)
    }

    // MARK: Entries

    @Test func pagesAreTakenOverAndTheNewestGrantOpensAll() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        var people: [UserID] = []
        while replica.entries.count < log.entries.count {
            let tail = try log.tail(after: replica.entries.count, to: bob, atMost: 2)
            #expect(try replica.course(of: tail, asked: replica.roster?.head) == .onwards)
            let step = try replica.step(tail.entries, isLast: !tail.isMoreComing, as: bob.own)
            #expect(step.first == UInt64(replica.entries.count))
            #expect(step.entries == tail.entries)
            people += step.people.map { $0.userID }
            let isTaken = replica.adopt(step)
            #expect(isTaken)
            replica.open(tail.grants, as: bob.own)
        }
        #expect(replica.entries == log.entries)
        #expect(replica.roster?.head == log.roster.head)
        #expect(replica.isMember)
        #expect(Set(replica.currentKeys.keys) == [0, 1])
        #expect(replica.currentKeys[1]?.keyID == log.roster.currentEpoch.keyID)
        // Each once, with the first page that names them.
        #expect(people == [log.owner.user, bob.user])
        // As it is kept, it is read again.
        let again = try ScopeReplica<XWingHPKE>(
            scope: log.scope, user: bob.user, entries: replica.entries, floors: [])
        #expect(again.roster?.head == log.roster.head)
        #expect(again.currentKeys.isEmpty)
    }

    @Test func whatIsKnownMayComeAgainAndNothingIsNoScope() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        #expect(throws: ClientError.unknownScope) { try replica.step([], isLast: true, as: bob.own) }
        try replica.take(Array(log.entries.prefix(3)), isLast: false, as: bob)
        let step = try replica.step(log.entries, isLast: true, as: bob.own)
        #expect(step.first == 3)
        #expect(step.entries == Array(log.entries[3...]))
        // Somebody else has taken the same over meanwhile.
        try replica.take(log.entries, as: bob)
        let isTaken = replica.adopt(step)
        #expect(!isTaken)
        #expect(replica.entries == log.entries)
    }

    @Test func anAlteredEntryIsRefusedAndTheRestStays() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        try replica.take(Array(log.entries.prefix(2)), isLast: false, as: bob)
        var forged = log.entries[2]
        forged = SignedRosterEntry(bytes: forged.bytes, signature: log.entries[1].signature)
        #expect(throws: ClientError.invalid(.invalidSignature)) {
            try replica.step([forged], isLast: false, as: bob.own)
        }
        #expect(replica.entries.count == 2)
        #expect(replica.roster?.sequence == 1)
    }

    @Test func anotherBranchIsAFork() throws {
        let (_, bob, log) = try world()
        var (mine, other) = (log, log)
        try mine.write([.setPermission(bob.user, .readOnly)], rotating: true)
        try other.rotate()
        var replica = bob.replica(of: log.scope)
        try replica.take(mine.entries, as: bob)
        let head = try #require(replica.head)
        #expect(head.sequence == mine.roster.sequence)
        #expect(head.hash == mine.roster.head)
        #expect(throws: ClientError.forked(from: head)) {
            try replica.step(Array(other.entries.suffix(1)), isLast: true, as: bob.own)
        }
    }

    @Test func nothingBeforeWhatTheEnrollingDeviceSawIsTakenOver() throws {
        let (_, bob, log) = try world()
        var other = log
        let floor = Enrolment.Head(scopeID: log.roster.scopeID, sequence: log.roster.sequence, hash: log.roster.head)
        func replica() throws -> ScopeReplica<XWingHPKE> {
            try ScopeReplica(scope: log.scope, user: bob.user, entries: [], floors: [floor])
        }
        let short = Array(log.entries.dropLast())
        #expect(throws: ClientError.shortened) { try replica().step(short, isLast: true, as: bob.own) }
        // With more to come it is no lie yet; where the log parts from the floor it is.
        var reading = try replica()
        try reading.take(short, isLast: false, as: bob)
        #expect(throws: ClientError.shortened) { try reading.step([], isLast: true, as: bob.own) }
        try other.write([.setPermission(bob.user, .readOnly)], rotating: true)
        var parted = try ScopeLog(owner: log.owner)
        while parted.entries.count < log.entries.count { try parted.rotate() }
        #expect(throws: ClientError.forked(from: nil)) { try replica().step(parted.entries, isLast: true, as: bob.own) }
        // What goes on from the floor is taken over.
        try reading.take(other.entries, as: bob)
        #expect(reading.roster?.head == other.roster.head)
    }

    // MARK: Keys

    @Test func aBadGrantLeavesItsEpochWithoutAKeyAndEarlierOnesOpen() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        let grants = log.grants(to: bob)
        replica.open([OwnGrant(epoch: 1, sealed: grants[0].sealed)], as: bob.own)
        #expect(replica.currentKeys.isEmpty)
        #expect(replica.wantsEarlierGrants)
        #expect(try replica.epochToAskBelow(oldest: 1) == 1)
        #expect(try replica.epochToAskBelow(oldest: nil) == 2 && replica.epochToAskBelow(oldest: 7) == 2)
        #expect(throws: ClientError.endless) { try replica.epochToAskBelow(oldest: 0) }
        let page = try log.tail(after: log.entries.count, to: bob)
        #expect(throws: ClientError.endless) { try replica.check(page, below: 1) }
        try replica.check(page, below: 2)
        replica.open([grants[0]], as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [0])
        #expect(replica.wantsEarlierGrants)
        replica.noteAllGrantsAsked()
        #expect(!replica.wantsEarlierGrants)
        // A grant to somebody else is none.
        replica.open(log.grants(to: log.owner), as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [0])
        replica.open(grants, as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [0, 1])
    }

    /// Grants of one epoch that stand beside the one that opens it take nothing away, wherever they stand.
    @Test func aBadGrantBesideAGoodOneTakesNothingAway() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        let grants = log.grants(to: bob)
        replica.open([OwnGrant(epoch: 1, sealed: grants[0].sealed), grants[1]], as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [0, 1])
    }

    /// Its author could not open the epoch before, and holds an earlier key.
    @Test func theKeyBeforeMayBeThatOfALowerEpoch() throws {
        let (_, bob, start) = try world()
        var log = start
        let held = log.key
        try log.rotate()
        try log.rotate(holding: held)
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        let grants = log.grants(to: bob)
        replica.open(grants.suffix(1), as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [0, 1, 3])
        replica.open(grants, as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [0, 1, 2, 3])
    }

    /// Otherwise an administrator makes every refresh of everybody cost the square of the epochs that it has opened.
    @Test func aKeyBeforeThatLeadsNowhereIsLookedAtOnce() throws {
        let (_, bob, log) = try world()
        var (honest, bad) = (log, log)
        var random = FixedRandom(5)
        let context = log.key.context
        try honest.rotate()
        try bad.rotate(holding: EpochKey(random: &random, context: context))
        // The same key, with another one sealed in it.
        #expect(honest.key.keyID == bad.key.keyID)
        var replica = bob.replica(of: log.scope)
        try replica.take(bad.entries, as: bob)
        let grants = bad.grants(to: bob)
        replica.open(grants.suffix(1), as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [2])
        // If it were looked at again, it would be found in this one, which no log that was verified becomes.
        replica.roster = honest.roster
        replica.open([], as: bob.own)
        #expect(Set(replica.currentKeys.keys) == [2])
        var again = bob.replica(of: log.scope)
        try again.take(bad.entries, as: bob)
        again.goOn(from: replica)
        again.roster = honest.roster
        again.open([], as: bob.own)
        #expect(Set(again.currentKeys.keys) == [2])
        var unknowing = bob.replica(of: log.scope)
        try unknowing.take(honest.entries, as: bob)
        unknowing.open(grants.suffix(1), as: bob.own)
        #expect(Set(unknowing.currentKeys.keys) == [0, 1, 2])
        // Grants open what it does not lead to.
        again.open(grants, as: bob.own)
        #expect(Set(again.currentKeys.keys) == [0, 1, 2])
    }

    /// A server says that it has appended an entry, and has another one in its place.
    @Test func aDraftsKeyCountsOnceTheLogHasItsEntry() throws {
        let (ann, bob, log) = try world()
        var (mine, theirs) = (log, log)
        var random = FixedRandom(5)
        let draft = try ann.author.next(
            on: log.roster, changes: [], rotating: true, current: log.key, time: 9, random: &random)
        let key = try #require(draft.epochKey)
        try mine.append(draft)
        try theirs.write([.remove(bob.user)], rotating: true)
        let number = theirs.roster.currentEpoch.number
        #expect(key.context == theirs.key.context)
        #expect(key.keyID != theirs.key.keyID)
        var replica = ann.replica(of: log.scope)
        try replica.take(log.entries, as: ann)
        // Not even where nothing else is known of that epoch yet.
        replica.keep(key)
        #expect(replica.currentKeys.isEmpty)
        var sent = replica
        try replica.take(theirs.entries, as: ann)
        replica.open(theirs.grants(to: ann), as: ann.own)
        replica.keep(key)
        #expect(replica.currentKeys[number]?.keyID == theirs.key.keyID)
        try sent.take(mine.entries, as: ann)
        sent.keep(key)
        #expect(sent.currentKeys[number]?.keyID == key.keyID)
    }

    @Test func whoIsOutOpensNothingMore() throws {
        let (_, bob, log) = try world()
        var ended = log
        try ended.write([.remove(bob.user)], rotating: true)
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        let step = try replica.step(ended.entries, isLast: true, as: bob.own)
        #expect(step.absences == [ended.roster.sequence])
        let isTaken = replica.adopt(step)
        #expect(isTaken)
        #expect(!replica.isMember)
        #expect(!replica.mayKnowBetter)
        replica.open(log.grants(to: bob), as: bob.own)
        #expect(replica.currentKeys.isEmpty)
    }

    /// As where another process has gone over to another log.
    @Test func aLogThatIsReadAnewGoesOnWithWhatWasOpened() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        replica.open(log.grants(to: bob), as: bob.own)
        let back = try replica.giveBack(from: 1, grants: [])
        replica.noteGivenBack(back)
        var again = try ScopeReplica<XWingHPKE>(
            scope: log.scope, user: bob.user, entries: replica.entries, floors: [])
        again.goOn(from: replica)
        #expect(Set(again.currentKeys.keys) == [0, 1])
        #expect(again.hasGivenBack)
        #expect(again.roster?.head == log.roster.head)
    }

    // MARK: Keys of one's own

    @Test func formerKeysAreToldApartFromStolenOnes() throws {
        let renewed = try Person(2, 3)
        let (former, thief) = (try Person(2), try Person(2, 4))
        var log = try ScopeLog(owner: try Person(1))
        try log.add(renewed)
        for (person, refusal) in [(former, ClientError.keysReplaced), (thief, .foreignKeys)] {
            let replica = person.replica(of: log.scope)
            #expect(throws: refusal) { try replica.step(log.entries, isLast: true, as: person.own) }
        }
        // Grants to any generation open.
        var replica = renewed.replica(of: log.scope)
        try replica.take(log.entries, as: renewed)
        replica.open(log.grants(to: renewed), as: renewed.own)
        #expect(Set(replica.currentKeys.keys) == [0])
    }

    /// Not even where its owner has ended a fork with them.
    @Test func noLogIsGoneOverToWithKeysThatNoDeviceOfTheAccountHasMade() throws {
        let (former, renewed, thief) = (try Person(2), try Person(2, 3), try Person(2, 4))
        // The roster is told of newer keys last, and has not heard of them yet.
        var log = try ScopeLog(owner: former)
        try log.rotate()
        for (signer, device, refusal) in [
            (thief, renewed, ClientError.foreignKeys), (renewed, former, .keysReplaced), (renewed, renewed, nil),
            (former, renewed, nil),
        ] as [(Person, Person, ClientError?)] {
            var replica = device.replica(of: log.scope)
            try replica.take(log.entries, as: device)
            let branch = try #require(replica.head)
            var server = ServerLog(scope: log.scope)
            _ = server.add(Array(log.entries.dropLast()))
            var random = FixedRandom(5)
            let end = try signer.replica(of: log.scope).forkEnd(
                on: server, abandoning: branch, as: signer.own, time: 3, random: &random)
            let holds = server.add([end.draft.entry])
            #expect(holds)
            func succeeds() throws(ClientError) -> Bool {
                try replica.succession(of: server, abandoned: [], asked: branch.hash, as: device.own) != nil
            }
            if let refusal {
                #expect(throws: refusal) { try succeeds() }
            } else {
                #expect(try succeeds())
            }
        }
    }

    // MARK: Servers that know less, or otherwise

    @Test func aRestoredServerIsGivenBackWhatItLostOnce() throws {
        let bob = try Person(2)
        var old = try ScopeLog(owner: try Person(1))
        try old.add(bob)
        var log = old
        try log.rotate()
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        let tail = try old.tail(after: log.entries.count, to: bob)
        #expect(try replica.course(of: tail, asked: old.roster.head) == .outrun)
        #expect(try replica.course(of: tail, asked: log.roster.head) == .behind(from: UInt64(old.entries.count)))
        var back = try replica.giveBack(from: UInt64(old.entries.count), grants: log.grants(to: bob))
        let part = try #require(back.part)
        #expect(part.entries == Array(log.entries[old.entries.count...]))
        #expect(part.grants == log.grants(to: bob))
        try back.taken(upTo: log.roster.sequence)
        #expect(back.part == nil)
        replica.noteGivenBack(back)
        #expect(throws: ClientError.shortened) { try replica.course(of: tail, asked: log.roster.head) }
    }

    @Test func aLongLogGoesBackInPartsAndNotInCircles() throws {
        var log = try ScopeLog(owner: try Person(1))
        for _ in 0..<600 { try log.rotate() }
        var replica = log.owner.replica(of: log.scope)
        try replica.take(log.entries, as: log.owner)
        var back = try replica.giveBack(from: 0, grants: log.grants(to: log.owner))
        let first = try #require(back.part)
        #expect(first.entries.count == RosterReturn.entriesAtOnce)
        #expect(first.grants.isEmpty)
        // It has taken fewer than were sent: what it has not taken comes again.
        try back.taken(upTo: 99)
        let second = try #require(back.part)
        #expect(second.entries.first == log.entries[100])
        #expect(second.entries.count == RosterReturn.entriesAtOnce)
        #expect(throws: ClientError.endless) { try back.taken(upTo: 99) }
        try back.taken(upTo: .max)
        let third = try #require(back.part)
        #expect(third.entries.first == log.entries[600])
        #expect(third.grants == log.grants(to: log.owner).suffix(RosterReturn.grantsAtOnce))
        try back.taken(upTo: log.roster.sequence)
        #expect(back.part == nil)
    }

    @Test func tailsThatLeadNowhereAreRefused() throws {
        let (_, bob, log) = try world()
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries, as: bob)
        func tail(_ entries: [SignedRosterEntry], _ sequence: UInt64, _ head: [UInt8]) throws(ClientError) -> RosterTail
        {
            try RosterTail(
                entries: entries, isMoreComing: false, grants: [], hasMoreGrants: false, headSequence: sequence,
                head: head, isUngranted: false, abandoned: [])
        }
        let (head, sequence) = (log.roster.head, log.roster.sequence)
        #expect(throws: ClientError.unknownEnd) { try replica.course(of: tail([], sequence, []), asked: head) }
        #expect(try replica.course(of: tail([], sequence, head.bytes), asked: head) == .onwards)
        let other = [UInt8](repeating: 7, count: 32)
        #expect(try replica.course(of: tail([], sequence, other), asked: head) == .apart)
        #expect(try replica.course(of: tail([], 1, other), asked: head) == .apart)
        #expect(throws: ClientError.endless) {
            try replica.course(of: tail([log.entries[0]], sequence + 5, other), asked: head)
        }
        #expect(throws: ClientError.endless) {
            try RosterTail(
                entries: [], isMoreComing: true, grants: [], hasMoreGrants: false, headSequence: 1, head: other,
                isUngranted: false, abandoned: [])
        }
    }

    // MARK: What comes by another way

    @Test func aWholeLogIsHeldAgainstWhatIsKnown() throws {
        let (ann, bob, log) = try world()
        var (longer, other) = (log, log)
        try longer.rotate()
        try other.write([.setPermission(bob.user, .readOnly)], rotating: true)
        let logs = try [log, longer, other].map { try #require(try Roster(replaying: $0.entries, scope: log.scope)) }
        let (short, known, forked) = (logs[0], logs[1], logs[2])
        let unknowing = ann.replica(of: log.scope)
        try unknowing.check(short, asked: nil)
        var replica = ann.replica(of: log.scope)
        try replica.take(longer.entries, as: ann)
        try replica.check(known, asked: known.sequence)
        #expect(throws: ClientError.shortened) { try replica.check(short, asked: known.sequence) }
        // It has become known since.
        try replica.check(short, asked: short.sequence)
        #expect(throws: ClientError.forked(from: replica.head)) { try replica.check(forked, asked: nil) }
        let floor = Enrolment.Head(scopeID: log.scope.id, sequence: known.sequence, hash: known.head)
        let told = try ScopeReplica<XWingHPKE>(
            scope: log.scope, user: ann.user, entries: log.entries, floors: [floor])
        #expect(throws: ClientError.shortened) { try told.check(short, asked: nil) }
        try told.check(known, asked: nil)
    }

    // MARK: Forks

    @Test func theOwnerEndsAForkAndMembersGoOver() throws {
        let (ann, bob, log) = try world()
        var (lost, served) = (log, log)
        try lost.write([.setPermission(bob.user, .readOnly)], rotating: true)
        try served.rotate()
        var (anns, bobs) = (ann.replica(of: log.scope), bob.replica(of: log.scope))
        try anns.take(served.entries, as: ann)
        try bobs.take(lost.entries, as: bob)
        var server = ServerLog(scope: log.scope)
        _ = server.add(served.entries)
        let branch = try #require(bobs.head)
        #expect(throws: ClientError.forked(from: branch)) {
            try bobs.succession(of: server, abandoned: [], asked: branch.hash, as: bob.own)
        }
        var random = FixedRandom(5)
        #expect(throws: ClientError.notForked) {
            try anns.forkEnd(on: server, abandoning: nil, as: ann.own, time: 3, random: &random)
        }
        #expect(throws: ClientError.notAbandonable) {
            try anns.forkEnd(on: server, abandoning: anns.head, as: ann.own, time: 3, random: &random)
        }
        let end = try anns.forkEnd(on: server, abandoning: branch, as: ann.own, time: 3, random: &random)
        #expect(end.abandoned.isEmpty)
        #expect(end.succession.entries == served.entries + [end.draft.entry])
        let isWhole = server.add([end.draft.entry])
        #expect(isWhole)
        let succession = try #require(
            try bobs.succession(of: server, abandoned: [], asked: branch.hash, as: bob.own))
        #expect(succession.branch == lost.entries)
        var grown = bobs
        let isTaken = bobs.adopt(succession)
        #expect(isTaken)
        #expect(bobs.roster?.head == end.succession.roster.head)
        // Another call was faster, or has added to the log: the server is asked again.
        let isTakenTwice = bobs.adopt(succession)
        #expect(!isTakenTwice)
        #expect(try bobs.succession(of: server, abandoned: [], asked: branch.hash, as: bob.own) == nil)
        try lost.rotate()
        try grown.take(lost.entries, as: bob)
        let isTakenByGrown = grown.adopt(succession)
        #expect(!isTakenByGrown)
        #expect(!bobs.isMember)
        let isAnnsTaken = anns.adopt(end.succession)
        #expect(isAnnsTaken)
        anns.open(
            end.draft.grants.map { OwnGrant(epoch: $0.epoch, sealed: $0.sealed) }, as: ann.own)
        #expect(anns.isMember && Set(anns.currentKeys.keys) == [0])
    }

    /// It ends again at once, in a life above all that both branches have had, of the zone's life as it was.
    @Test func aForkOfAShareEndsOnceTheShareHas() throws {
        let (ann, bob) = (try Person(1), try Person(2))
        var log = try ScopeLog(owner: ann, share: "list")
        try log.add(bob)
        var (lost, served) = (log, log)
        try lost.rotate()
        try served.write([.setPermission(bob.user, .readOnly)], rotating: true)
        var (anns, bobs) = (ann.replica(of: log.scope), bob.replica(of: log.scope))
        try anns.take(lost.entries, as: ann)
        try bobs.take(lost.entries, as: bob)
        var server = ServerLog(scope: log.scope)
        _ = server.add(served.entries)
        var random = FixedRandom(5)
        #expect(throws: ClientError.invalid(.changeNotApplicable)) {
            try anns.forkEnd(on: server, abandoning: nil, as: ann.own, time: 3, random: &random)
        }
        try served.write([.close])
        _ = server.add(served.entries.suffix(1))
        let end = try anns.forkEnd(on: server, abandoning: nil, as: ann.own, time: 3, random: &random)
        let closing = try #require(end.closing)
        #expect(end.succession.entries == served.entries + [end.draft.entry, closing])
        #expect(end.succession.roster.isClosed)
        #expect(end.succession.roster.incarnations == Incarnations(zone: 1, scope: 2))
        #expect(end.succession.roster.rootRecordName == "list")
        let isWhole = server.add([end.draft.entry, closing])
        #expect(isWhole)
        let asked = try #require(bobs.head)
        let succession = try #require(
            try bobs.succession(of: server, abandoned: [], asked: asked.hash, as: bob.own))
        let isTaken = bobs.adopt(succession)
        #expect(isTaken)
        #expect(!bobs.isMember)
    }

    @Test func anOwnBranchIsGivenUpAndNoOtherInItsPlace() throws {
        let (ann, bob, log) = try world()
        var (mine, served) = (log, log)
        try mine.write([.setPermission(bob.user, .readOnly)], rotating: true)
        try served.rotate()
        var replica = ann.replica(of: log.scope)
        try replica.take(mine.entries, as: ann)
        var server = ServerLog(scope: log.scope)
        _ = server.add(served.entries)
        var random = FixedRandom(5)
        let strange = RosterChange.AbandonedHead(sequence: 90, hash: .zero)
        #expect(throws: ClientError.yetAnotherBranch) {
            try replica.forkEnd(on: server, abandoning: strange, as: ann.own, time: 3, random: &random)
        }
        let end = try replica.forkEnd(on: server, abandoning: nil, as: ann.own, time: 3, random: &random)
        #expect(end.abandoned == Array(mine.entries.suffix(1)))
        // A log that breaks a rule is nobody's.
        let holds = [server.add([mine.entries[0]]), server.add([end.draft.entry])]
        #expect(holds == [false, false])
        #expect(throws: ClientError.invalid(.notNextEntry)) {
            try replica.forkEnd(on: server, abandoning: nil, as: ann.own, time: 3, random: &random)
        }
    }
}
