import Foundation
import GRDB
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// What a device has verified, over starts of the program, between its processes, and whatever comes first.
@Suite(.timeLimit(.minutes(60))) struct TrustMemoryTests {
    private typealias Statement = SealStatements.Statement

    private let temporary: TemporaryFolder
    private var file: URL { temporary.url.appendingPathComponent("trust") }
    private let ann: UserID
    private let zone = Hash.digest(.link, [1])
    private let share = Hash.digest(.link, [2])
    private let (ofZone, ofShare): (ScopePlace, ScopePlace)

    init() throws {
        temporary = try TemporaryFolder()
        ann = UserID(try ID16(Array(repeating: 1, count: 16)))
        (ofZone, ofShare) = (ScopePlace(zone, 1), ScopePlace(share, 1))
    }

    private func statement(
        _ revision: UInt64 = 1, after last: Statement? = nil, name: String = "note", in scope: Digest? = nil,
        epoch: UInt32 = 0,
        kind: Statement.Kind = .save
    ) -> Statement {
        Statement(
            kind: kind, container: "org.example.notes", environment: .development, owner: ann, zoneName: "notes",
            zoneIncarnation: 1, recordName: name, recordType: "Note", creator: ann, author: ann, clientTime: 1,
            revision: revision,
            previous: last.map { Statement.hash($0.canonicalBytes()) } ?? .zero, scopeID: scope ?? zone,
            scopeIncarnation: 1,
            epoch: epoch, wrappedKey: kind == .save ? Array(repeating: 0, count: Statement.wrappedKeyBytes) : [],
            rosterSequence: 1, rosterHead: zone, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }

    private func sighting(_ statement: Statement, role: Sighting.Role = .newest) -> Sighting {
        Sighting(statement, hash: Statement.hash(statement.canonicalBytes()), role: role)
    }

    private func verdict(
        _ statement: Statement, _ trust: TrustStore, role: Sighting.Role = .newest, asked: Int64? = nil
    ) async throws -> Verdict? {
        try await trust.admit([sighting(statement, role: role)], in: ScopePlace(zone, 1), asked: asked).first
    }

    private func advance(
        _ trust: TrustStore, from since: String?, to token: String, _ caughtUp: [ScopePlace: Int64]
    ) async throws {
        try await trust.advance(
            zone: zone, incarnation: 1, since: since.map { Data($0.utf8) }, token: Data(token.utf8), caughtUp: caughtUp)
    }

    private func noteCaughtUp(
        _ trust: TrustStore, from start: String?, to end: String, _ caughtUp: [ScopePlace: Int64]
    ) async throws {
        try await trust.noteCaughtUp(
            zone: zone, incarnation: 1, from: start.map { Data($0.utf8) }, to: Data(end.utf8), caughtUp: caughtUp)
    }

    /// As text, with the epochs of the zone's scope and of the share's.
    private func feed(_ trust: TrustStore) async throws -> String {
        let own = try await trust.feed(zone: zone, incarnation: 1, ofZone)
        let shared = try await trust.feed(zone: zone, incarnation: 1, ofShare)
        let epochs = [own?.caughtUpEpoch, shared?.caughtUpEpoch].map { $0.map { "\($0)" } ?? "-" }
        return ([own.map { String(decoding: $0.token, as: UTF8.self) } ?? "-"] + epochs).joined(separator: " ")
    }

    // MARK: How far was read

    @Test func howFarEachScopeWasReadOutlastsTheProcess() async throws {
        do {
            let trust = try TrustStore(file: file)
            let (own, shared) = (
                try await verdict(statement(name: "own"), trust),
                try await verdict(statement(name: "shared", in: share), trust)
            )
            #expect(own == .accepted)
            #expect(shared == .accepted)
            try await advance(trust, from: nil, to: "a", [ofZone: 1, ofShare: 2])
        }
        let trust = try TrustStore(file: file)
        #expect(try await feed(trust) == "a 1 2")
        // What it has not seen, under an epoch that it has read past, is back-dated: in either scope.
        #expect(try await verdict(statement(name: "late"), trust) == .backdated)
        #expect(try await verdict(statement(name: "late", in: share, epoch: 1), trust) == .backdated)
        #expect(try await verdict(statement(name: "late", kind: .delete), trust) == .unknownDeletion)
        #expect(try await verdict(statement(name: "new", in: share, epoch: 2), trust) == .accepted)
        // What it has seen stays good.
        #expect(try await verdict(statement(name: "shared", in: share), trust) == .accepted)
        // Of another life of the share, and of the zone, nothing was read.
        #expect(try await trust.feed(zone: zone, incarnation: 1, ScopePlace(share, 2))?.caughtUpEpoch == nil)
        #expect(try await trust.feed(zone: zone, incarnation: 2, ofZone) == nil)
    }

    /// Whoever begins behind a gap has not seen what is in it: nothing there is back-dated.
    @Test func aReadingWithAGapCountsForNothing() async throws {
        let trust = try TrustStore()
        try await advance(trust, from: "a", to: "b", [ofZone: 1, ofShare: 1])
        #expect(try await feed(trust) == "- - -", "the app's place is older than this store")
        try await advance(trust, from: nil, to: "c", [ofZone: 1])
        try await advance(trust, from: "from elsewhere", to: "d", [ofZone: 5, ofShare: 5])
        #expect(try await feed(trust) == "c 1 -")
        #expect(try await verdict(statement(name: "unseen", epoch: 1), trust) == .accepted)
        try await noteCaughtUp(trust, from: "b", to: "e", [ofZone: 5, ofShare: 5])
        #expect(try await feed(trust) == "c 1 -")
        try await advance(trust, from: "c", to: "d", [ofZone: 2])
        #expect(try await feed(trust) == "d 2 -")
    }

    @Test func anEpochThatWasReadUpStaysReadUp() async throws {
        let trust = try TrustStore()
        try await advance(trust, from: nil, to: "a", [ofZone: 3, ofShare: 4])
        // A page that is not the last says nothing of epochs; an answer from before the key says an older one.
        try await advance(trust, from: "a", to: "b", [:])
        #expect(try await feed(trust) == "b 3 4")
        try await advance(trust, from: nil, to: "c", [ofZone: 1, ofShare: 1])
        #expect(try await feed(trust) == "c 3 4")
        try await noteCaughtUp(trust, from: "c", to: "d", [ofZone: 2, ofShare: 2])
        #expect(try await feed(trust) == "c 3 4")
        try await noteCaughtUp(trust, from: "c", to: "d", [ofZone: 5, ofShare: 6])
        #expect(try await feed(trust) == "c 5 6")
    }

    /// The SDK reads by itself while the app does: the app goes on from its own place, whoever comes first, and that
    /// counts.
    @Test func whatTheSDKReadsDoesNotMoveTheAppsPlace() async throws {
        let trust = try TrustStore()
        try await advance(trust, from: nil, to: "app", [ofZone: 1])
        try await noteCaughtUp(trust, from: nil, to: "SDK", [ofZone: 2, ofShare: 1])
        #expect(try await feed(trust) == "app 2 1")
        try await advance(trust, from: "app", to: "next", [ofZone: 3])
        #expect(try await feed(trust) == "next 3 1")
        // Where the app has read nothing yet, the SDK's place is where the SDK goes on from.
        let other = try TrustStore()
        try await noteCaughtUp(other, from: nil, to: "SDK", [ofZone: 2])
        #expect(try await feed(other) == "SDK 2 -")
        try await advance(other, from: nil, to: "app", [ofZone: 2])
        #expect(try await feed(other) == "app 2 -")
    }

    /// An app may be ended before it has kept where it read to, or be unable to go on from there: what follows its
    /// place follows it without a gap, as often as it comes back.
    @Test func anAppMayComeBackToAPlaceThatItHadReadTo() async throws {
        let trust = try TrustStore()
        try await advance(trust, from: nil, to: "a", [ofZone: 0])
        try await advance(trust, from: "a", to: "b", [:])
        try await advance(trust, from: "a", to: "c", [ofZone: 1, ofShare: 1])
        #expect(try await feed(trust) == "c 1 1")
        try await advance(trust, from: "c", to: "d", [ofZone: 2])
        #expect(try await feed(trust) == "d 2 1")
        // Far back as well, as long as it is met again now and then.
        for number in 0..<200 {
            try await advance(trust, from: number == 0 ? "d" : "\(number - 1)", to: "\(number)", [:])
            if number % 60 == 59 { try await advance(trust, from: "a", to: "\(number)", [:]) }
        }
        try await advance(trust, from: "a", to: "e", [ofZone: 3])
        #expect(try await feed(trust) == "e 3 1")
        // What nobody came back to is forgotten in the end, and counts as unknown.
        try await advance(trust, from: "b", to: "f", [ofZone: 4])
        #expect(try await feed(trust) == "e 3 1")
        let places = try await trust.reading { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM feedPlace") }
        #expect(places ?? .max < 200)
    }

    @Test func theSDKReadsOnFromAPlaceThatTheAppHasLeftMeanwhile() async throws {
        let trust = try TrustStore()
        try await advance(trust, from: nil, to: "a", [:])
        try await advance(trust, from: "a", to: "b", [:])
        try await noteCaughtUp(trust, from: "a", to: "e", [ofZone: 5, ofShare: 6])
        #expect(try await feed(trust) == "b 5 6")
    }

    /// A store from before places were kept goes on from the one that it has.
    @Test func whereAnOlderStoreWasReadToIsAPlace() async throws {
        try PrivateFile.makeEmpty(at: file)
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { [zone] db in
            for step in TrustStore.migrations.dropLast() { try db.execute(sql: step) }
            try db.execute(
                sql: "INSERT INTO feed (zone, incarnation, token, caughtUpEpoch) VALUES (?, 1, ?, 1)",
                arguments: [Data(zone.bytes), Data("a".utf8)])
            try db.execute(sql: "PRAGMA user_version = \(TrustStore.versions.dropLast().last ?? 0)")
        }
        try queue.close()
        let trust = try TrustStore(file: file)
        try await advance(trust, from: "a", to: "b", [ofZone: 2])
        #expect(try await feed(trust) == "b 2 -")
    }

    /// So what is asked with each page of a feed does not grow with the shares of its zone.
    @Test func ofSharesOnlyWhatWasNotReadIsKept() async throws {
        let trust = try TrustStore(file: file)
        func note(_ epoch: Int64) async throws {
            try await trust.note(TrustStore.ShareMarks(zone: zone, name: "list", marks: [ofShare: epoch]))
        }
        try await note(2)
        #expect(try await trust.marks(ofSharesIn: zone).due == [ofShare: 2])
        try await advance(trust, from: nil, to: "a", [ofShare: 2])
        try await note(2)
        #expect(try await trust.marks(ofSharesIn: zone).due.isEmpty)
        #expect(try await trust.marks(ofSharesIn: zone).unmarked.isEmpty)
        #expect(try await trust.reading { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM shareMark") } == 0)
        try await note(3)
        #expect(try await trust.marks(ofSharesIn: zone).due == [ofShare: 3])
    }

    // MARK: Two processes

    @Test func twoProcessesReadOneFeed() async throws {
        let (one, other) = (try TrustStore(file: file), try TrustStore(file: file))
        try await advance(one, from: nil, to: "a", [ofZone: 1])
        try await advance(other, from: "a", to: "b", [ofZone: 2])
        // The first goes on from where it was: what the other has read since is remembered, and its mark stays.
        try await advance(one, from: "a", to: "c", [ofZone: 1])
        #expect(try await feed(one) == "c 2 -")
        try await advance(other, from: "b", to: "d", [ofZone: 3])
        #expect(try await feed(one) == "d 3 -")
        #expect(try await verdict(statement(name: "unseen", epoch: 1), one) == .backdated)
    }

    @Test func twoProcessesThatWereShownDifferentRostersNotice() async throws {
        let (one, other) = (try TrustStore(file: file), try TrustStore(file: file))
        func entry(_ byte: UInt8) -> SignedRosterEntry { SignedRosterEntry(bytes: [byte], signature: [byte, byte]) }
        try await one.append([entry(0), entry(1)], scope: zone, from: 0, absences: [], share: nil)
        // The same once more, and what follows it.
        try await other.append([entry(1), entry(2)], scope: zone, from: 1, absences: [], share: nil)
        #expect(try await one.entries(scope: zone) == [entry(0), entry(1), entry(2)])
        let code = await failure {
            try await one.append([entry(3), entry(9)], scope: zone, from: 1, absences: [], share: nil)
        }
        #expect(code == .rollback)
        let later = await failure {
            try await other.append([entry(2), entry(4), entry(5)], scope: zone, from: 1, absences: [], share: nil)
        }
        #expect(later == .rollback)
        // Nothing of the fork was taken over.
        #expect(try await other.entries(scope: zone) == [entry(0), entry(1), entry(2)])
        #expect(try await other.entries(scope: share).isEmpty)
    }

    @Test func whatOneProcessHasSeenTheOtherDoesNotTakeBack() async throws {
        let (one, other) = (try TrustStore(file: file), try TrustStore(file: file))
        let first = statement()
        let second = statement(2, after: first)
        #expect(try await verdict(second, one) == .accepted)
        #expect(try await verdict(first, other) == .older)
        #expect(try await verdict(statement(2, after: first, epoch: 1), other) == .forked)
        #expect(try await other.lastSeen("note", in: ScopePlace(zone, 1))?.revision == 2)
    }

    // MARK: What was asked before

    /// An answer is as old as its question: what this device did since, in whichever process, is no rollback.
    @Test func anAnswerIsHeldAgainstWhatWasKnownWhenItWasAskedFor() async throws {
        let (one, other) = (try TrustStore(file: file), try TrustStore(file: file))
        let first = statement()
        let second = statement(2, after: first)
        #expect(try await verdict(first, one) == .accepted)
        let asked = try await one.moment()
        #expect(try await verdict(second, other) == .accepted)
        #expect(try await verdict(first, one, asked: asked) == .overtaken)
        // Asked again the server knows it too.
        let again = try await one.moment()
        #expect(again > asked)
        #expect(try await verdict(first, one, asked: again) == .older)
        #expect(try await verdict(first, one) == .older)
        // Another statement of the same number is a fork, whenever it was asked for.
        #expect(try await verdict(statement(2, after: first, epoch: 1), one, asked: asked) == .forked)
        // What this device has seen again is not newer for that.
        #expect(try await verdict(second, one) == .accepted)
        #expect(try await verdict(first, one, asked: again) == .older)
    }

    @Test func whatWentWithAnotherRecordSinceItWasAskedForIsNoRollbackEither() async throws {
        let trust = try TrustStore()
        let first = statement()
        #expect(try await verdict(first, trust) == .accepted)
        let asked = try await trust.moment()
        let gone = Sighting.Role.gone(with: .init(statement(2, name: "list", kind: .delete), hash: share))
        #expect(try await verdict(first, trust, role: gone) == .accepted)
        #expect(try await verdict(first, trust, asked: asked) == .overtaken)
        #expect(try await verdict(first, trust, asked: trust.moment()) == .older)
    }

    @Test func aRecordIsHiddenOnlyFromWhoKnewItWhenItAsked() async throws {
        let trust = try TrustStore()
        let place = ScopePlace(zone, 1)
        let asked = try await trust.moment()
        #expect(try await trust.memory(of: "note", in: place, asked: asked) == .unseen)
        #expect(try await verdict(statement(in: share), trust) == .accepted)
        #expect(try await trust.memory(of: "note", in: place, asked: asked) == .seenSince)
        #expect(try await trust.memory(of: "note", in: place, asked: nil) == .seen)
        #expect(try await trust.memory(of: "note", in: place, asked: trust.moment()) == .seen)
        #expect(try await trust.memory(of: "note", in: place, scopes: [ofZone], asked: nil) == .unseen)
        #expect(try await trust.memory(of: "note", in: ScopePlace(zone, 2), asked: nil) == .unseen)
    }

    /// New ones and known ones in any order: each is judged as if it came alone.
    @Test func recordsComeTogetherAsTheyComeAlone() async throws {
        let trust = try TrustStore()
        func verdicts(_ statements: [Statement]) async throws -> [Verdict] {
            try await trust.admit(statements.map { sighting($0) }, in: ScopePlace(zone, 1))
        }
        let (a, b, c) = (statement(name: "a"), statement(name: "b"), statement(name: "c", in: share))
        #expect(try await verdicts([a, b]) == [.accepted, .accepted])
        let moment = try await trust.moment()
        #expect(try await verdicts([a, b, a]) == [.accepted, .accepted, .accepted])
        #expect(try await trust.moment() == moment, "nothing of it is new")
        let second = statement(2, after: b, name: "b")
        #expect(
            try await verdicts([a, c, second, b, statement(name: "a", epoch: 1), c]) == [
                .accepted, .accepted, .accepted, .older, .forked, .accepted,
            ])
        #expect(try await trust.moment() == moment + 1)
        #expect(try await trust.lastSeen("b", in: ScopePlace(zone, 1))?.revision == 2)
        // One that goes is gone for those that come after it.
        let gone = Sighting.Role.gone(with: .init(statement(2, name: "list", kind: .delete), hash: share))
        #expect(
            try await trust.admit([sighting(a, role: gone), sighting(a)], in: ScopePlace(zone, 1)) == [
                .accepted, .older,
            ])
    }

    /// A reading that goes on in another process has brought what this device has met since it began.
    @Test func whatWasKnownWhenAReadingBeganHasToCome() async throws {
        let trust = try TrustStore()
        let place = ScopePlace(zone, 1)
        let (old, kept) = (statement(name: "old"), statement(name: "kept"))
        for one in [old, kept] { #expect(try await verdict(one, trust) == .accepted) }
        let beginning = try await trust.moment()
        #expect(try await verdict(statement(name: "new"), trust) == .accepted)
        #expect(try await verdict(statement(2, after: old, name: "old"), trust) == .accepted)
        let since = try await trust.living(in: place, scopes: nil, since: beginning) { _ in true }
        #expect(since == ["kept", "old"], "a later version of what was known then does not count as new")
        let all = try await trust.living(in: place, scopes: nil) { _ in true }
        #expect(all == ["kept", "new", "old"])
    }

    @Test func onlyWhatCanBeAcceptedIsOffered() throws {
        let gone = sighting(
            statement(), role: .gone(with: .init(statement(2, name: "list", kind: .delete), hash: share)))
        let error = Database.late(
            gone,
            in: .publicDatabase(
                PublicGround(
                    scope: Scope(
                        container: "org.example.notes", environment: .development, owner: ann, zoneName: "notes"),
                    asked: nil)),
            .default)
        #expect(error.code == .rollback)
        #expect(error.lateRecord == nil)
        #expect(!error.remedy.contains("accept"))
    }

    // MARK: What came from other devices

    /// Enrolled again, by a device that knows less, this one believes nothing older for it.
    @Test func aFloorIsOnlyEverRaised() async throws {
        func head(_ sequence: UInt64, in scope: Digest) -> Enrolment.Head {
            Enrolment.Head(scopeID: scope, sequence: sequence, hash: Hash.digest(.link, [UInt8(sequence)]))
        }
        let trust = try TrustStore(file: file)
        try await trust.raiseFloors(to: [head(5, in: zone), head(1, in: share)])
        try await trust.raiseFloors(to: [head(3, in: zone), head(2, in: share)])
        let again = try TrustStore(file: file)
        #expect(try await again.floor(scope: zone) == head(5, in: zone))
        #expect(try await again.floor(scope: share) == head(2, in: share))
        #expect(try await Set(again.heads()) == [head(5, in: zone), head(2, in: share)])
    }

    /// A list of devices that another answer has overtaken takes nothing from the newer one: what is in that stays
    /// known.
    @Test func anOvertakenListOfDevicesTakesNothingBack() async throws {
        let account = Array(repeating: UInt8(7), count: 32)
        func device(_ number: UInt8) throws -> ListedDevice {
            ListedDevice(
                id: try ID16(Array(repeating: number, count: 16)), name: "device \(number)", added: Int64(number),
                lastSeen: 1)
        }
        let (own, desk, guest) = (try device(1), try device(2), try device(3))
        let trust = try TrustStore(file: file)
        _ = try await trust.adopt(DeviceKeeper.Identity(id: own.id, added: own.added), account: account)
        func note(_ listed: [ListedDevice], _ revision: UInt64) async throws -> [Set<ID16>] {
            let found = try await trust.note(listed, own: own.id, revision: revision, account: account)
            return [found.new, found.fresh]
        }
        #expect(try await note([own, desk], 5) == [[], []], "the first list holds no news")
        #expect(try await note([own], 4) == [[], []])
        #expect(try await note([own, desk, guest], 6) == [[guest.id], [guest.id]])
        let (_, revision) = try await TrustStore(file: file).adopt(
            DeviceKeeper.Identity(id: own.id, added: own.added), account: account)
        #expect(revision == 6)
        // Whom a newer list leaves out is gone, and news when it comes again.
        #expect(try await note([own], 7) == [[], []])
        #expect(try await note([own, desk], 8) == [[desk.id], [desk.id]])
    }

    // MARK: A full disk

    /// The server has taken it: told as a failure it would be saved once more.
    @Test func aSaveIsOneThoughThisDeviceHasNoRoomToNoteIt() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.save(ann.note(in: zone, "before", name: "before"))
        let notes = (0..<300).map { ann.note(in: zone, "once", name: "note-\($0)") }
        let trust = ann.container.core.trust
        try await trust.writing { try $0.execute(sql: "PRAGMA max_page_count = 1") }
        let code = await failure { try await trust.writing { try $0.execute(sql: "CREATE TABLE room (a)") } }
        #expect(code == .storageFull)
        let results = try await ann.own.modifyRecords(saving: notes).saveResults
        #expect(results.count == 300 && results.values.allSatisfy { $0.failureCode == nil })
        try await trust.writing { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        var next = try #require(try results[notes[0].recordID]?.get())
        next.encryptedValues["body"] = "twice"
        #expect(try await ann.own.save(next).base?.statement.revision == 2)
        let changes = try await ann.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.count == 301)
    }

    // MARK: Power cuts

    /// What has to outlast a power cut waits for the disk; the rest does not.
    @Test func whatIsWrittenDurablyWaitsForTheDisk() async throws {
        let trust = try TrustStore(file: file)
        let seen = LockedValue<[Int]>([])
        @Sendable func look(_ db: GRDB.Database) throws {
            let now = try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1
            seen.change { $0.append(now) }
        }
        try await trust.writing { try look($0) }
        try await trust.writingDurably { try look($0) }
        try await trust.writing { try look($0) }
        let code = await failure {
            try await trust.writingDurably { db in
                try look(db)
                try db.execute(sql: "DELETE FROM moment")
                throw SealKitError(.storageFull, "the test's disk is full")
            }
        }
        #expect(code == .storageFull)
        try await trust.writing { try look($0) }
        // 1 is NORMAL, 2 is FULL.
        #expect(seen.value == [1, 2, 1, 2, 1])
        let kept = try await trust.writing { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM moment") }
        #expect(kept == 1, "nothing of what failed was kept")
    }
}
