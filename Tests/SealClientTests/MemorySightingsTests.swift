import SealClient
import SealPrimitives
import SealStatements
import Testing

/// What a browser keeps of what it has seen: the next visit judges as this one would have gone on.
@Suite(.timeLimit(.minutes(60))) struct MemorySightingsTests {
    private let statement: Statements

    init() throws { statement = try Statements() }

    private func bytes(_ sightings: MemorySightings) -> [UInt8] {
        var writer = CanonicalWriter()
        sightings.write(to: &writer)
        return writer.bytes
    }

    private func read(_ bytes: [UInt8]) throws -> MemorySightings {
        var reader = CanonicalReader(bytes)
        let sightings = try MemorySightings(from: &reader)
        try reader.finish()
        return sightings
    }

    private func seen(_ statements: Statement...) -> MemorySightings {
        var judge = RecordJudge(MemorySightings())
        for statement in statements { _ = judge.meet(statement) }
        return judge.store
    }

    private func went(_ statement: Statement, with target: Statement) -> Sighting {
        Sighting(of: statement, role: .gone(with: .init(target, hash: Statements.hash(target))))
    }

    // MARK: The next visit

    /// One visit without an end, and one after the other: the same comes, and the same is made of it.
    @Test(arguments: 1...8) func theNextVisitJudgesAsThisOneWould(_ seed: UInt64) throws {
        var draw = Draw(state: seed)
        var (long, short) = (RecordJudge(MemorySightings()), RecordJudge(MemorySightings()))
        var known: [Statement] = []
        var verdicts: Set<Verdict> = []
        for _ in 0..<300 {
            let name = ["a", "b", "c"][Int.random(in: 0..<3, using: &draw)]
            let last = known.filter { $0.recordName == name }.randomElement(using: &draw)
            let isMoved = Int.random(in: 0..<4, using: &draw) == 0
            let place = last?.scopeID ?? statement.zone
            let next = statement(
                (last?.revision ?? 0) + 1, after: last, name: name,
                in: isMoved ? statement.share : place, from: isMoved && place != statement.share ? place : nil,
                kind: Int.random(in: 0..<4, using: &draw) == 0 ? .delete : .save,
                epoch: UInt32.random(in: 0..<4, using: &draw))
            let shown = Bool.random(using: &draw) ? next : known.randomElement(using: &draw) ?? next
            known.append(next)
            let sighting =
                Int.random(in: 0..<6, using: &draw) == 0
                ? went(shown, with: statement(1, name: "list", kind: .delete, epoch: 3)) : Sighting(of: shown)
            let verdict = long.admit([sighting], asked: nil, accepting: [], readable: nil)
            #expect(short.admit([sighting], asked: nil, accepting: [], readable: nil) == verdict)
            verdicts.formUnion(verdict)
            var stores = [long.store, short.store]
            if Int.random(in: 0..<40, using: &draw) == 0 {
                for index in stores.indices { stores[index].noteAbsence(from: statement.zone) }
            }
            long = RecordJudge(stores[0])
            short = RecordJudge(Bool.random(using: &draw) ? try read(bytes(stores[1])) : stores[1])
            #expect(bytes(long.store) == bytes(short.store))
            for readable in [nil, Set([statement.ofShare])] {
                #expect(
                    long.living(readable: readable, since: nil) { _ in true }
                        == short.living(readable: readable, since: nil) { _ in true })
            }
        }
        #expect(verdicts.isSuperset(of: [.accepted, .older, .forked]))
    }

    /// It could never take back what it said by leaving them out.
    @Test func aServerThatHasHiddenRecordsOnceBarsNobodyForGood() throws {
        var store = seen(statement(1, name: "a", epoch: 1))
        store.noteRead(statement.ofZone, upTo: 1)
        let hidden = statement(1, name: "b", epoch: 0)
        var (judge, later) = (RecordJudge(store), RecordJudge(try read(bytes(store))))
        let verdicts = [judge.meet(hidden), later.meet(hidden)]
        #expect(verdicts == [.backdated, .accepted])
    }

    // MARK: Bytes

    @Test func noOtherBytesAreRead() throws {
        let list = statement(1, name: "list", kind: .delete)
        var judge = RecordJudge(seen(statement(1, name: "a"), statement(1, name: "b", in: statement.share), list))
        let (c, d) = (statement(1, name: "c"), statement(3, name: "d", kind: .delete, type: "Letter"))
        for one in [c, d] { _ = judge.meet(one) }
        _ = judge.admit([went(c, with: list)], asked: nil, accepting: [], readable: nil)
        var store = judge.store
        store.noteAbsence(from: statement.share)
        let whole = bytes(store)
        #expect(bytes(try read(whole)) == whole)
        #expect(try read(bytes(MemorySightings())).lastMoment() == 0)
        for count in 0..<whole.count {
            #expect(throws: SealError.self) { try read(Array(whole.prefix(count))) }
        }
        #expect(throws: SealError.malformed) { try read(whole + [0]) }
        // Whatever is read is written as it was: there is no other way to say the same.
        for index in whole.indices {
            for bit in 0..<8 {
                var altered = whole
                altered[index] ^= 1 << bit
                guard let sightings = try? read(altered) else { continue }
                #expect(bytes(sightings) == altered)
            }
        }
    }

    // MARK: Two tabs

    @Test func theNewerOneWinsWhicheverWayTheyMeet() throws {
        let first = statement(1)
        let second = statement(2, after: first)
        let other = statement(1, name: "other")
        let list = statement(1, name: "list", kind: .delete)
        var gone = RecordJudge(seen(first, second))
        _ = gone.admit([went(second, with: list)], asked: nil, accepting: [], readable: nil)
        var (newer, older) = (gone.store, seen(first, other))
        newer.noteRead(statement.ofZone, upTo: 1)
        older.noteRead(statement.ofShare, upTo: 4)
        for (mine, kept, told) in [(newer, older, ["other"]), (older, newer, ["note"])] {
            var both = mine
            let marks = [statement.ofZone, statement.ofShare].map { mine.caughtUp(in: $0) }
            let taken = both.take(try read(bytes(kept)))
            #expect(taken.newer.sorted() == told)
            #expect(taken.forked == [])
            let judge = RecordJudge(both)
            #expect(judge.newest("note")?.hash == Statements.hash(second))
            #expect(judge.newest("other")?.revision == 1)
            #expect(both.gone("note") == Statements.hash(second))
            #expect(judge.living(readable: nil, since: nil) { _ in true } == ["other"])
            // How far it was read each goes by what it has read itself.
            #expect([statement.ofZone, statement.ofShare].map { both.caughtUp(in: $0) } == marks)
            // Once more brings nothing.
            var again = both
            let more = again.take(kept)
            #expect(more.newer == [] && more.forked == [])
            #expect(bytes(again) == bytes(both))
        }
    }

    @Test func twoStatementsWithOneNumberAreTold() throws {
        let first = statement(1)
        let (here, there) = (statement(2, after: first), statement(2, after: first, by: statement.bob))
        var mine = seen(first, here)
        let taken = mine.take(seen(first, there))
        #expect(taken.forked == ["note"] && taken.newer == [])
        #expect(RecordJudge(mine).newest("note")?.hash == Statements.hash(there))
        var judge = RecordJudge(mine)
        let verdicts = [judge.meet(here), judge.meet(there)]
        #expect(verdicts == [.forked, .accepted])
    }

    @Test func whatOneTabHasMetSinceAnAbsenceIsThere() {
        let first = statement(1)
        var away = seen(first, statement(1, name: "other"))
        away.noteAbsence(from: statement.zone)
        var judge = RecordJudge(away)
        _ = judge.meet(first)
        for (mine, kept) in [(away, judge.store), (judge.store, away)] {
            var both = mine
            _ = both.take(kept)
            #expect(RecordJudge(both).living(readable: nil, since: nil) { _ in true } == ["note"])
        }
    }

    // MARK: Bounds

    @Test func whatIsKeptStaysAndNoHonestServerIsRefusedForWhatIsNot() throws {
        let names = ["e", "f", "g", "h"]
        var kept = seen(statement(1, name: "e"), statement(1, name: "h"))
        kept = try read(bytes(kept))
        var judge = RecordJudge(kept)
        // Somebody fills the zone, and what was there goes on.
        for name in ["a", "b", "c", "d", "f", "g"] { _ = judge.meet(statement(1, name: name)) }
        let next = statement(2, after: statement(1, name: "h"), name: "h")
        _ = judge.meet(next)
        var store = judge.store
        store.noteRead(statement.ofZone, upTo: 3)
        #expect(bytes(store.kept(atMost: 8)) == bytes(store))
        let bounded = try read(bytes(store.kept(atMost: 4)))
        var later = RecordJudge(bounded)
        #expect(later.living(readable: nil, since: nil) { _ in true } == ["a", "b", "e", "h"])
        #expect(later.newest("h")?.hash == Statements.hash(next))
        // What was dropped is as if it had never been seen, and nothing of it is late; what was kept goes not back.
        let verdicts = [later.meet(statement(1, name: "g")), later.meet(statement(1, name: "h"))]
        #expect(verdicts == [.accepted, .older])
        // Kept again, the same ones stay.
        let again = RecordJudge(later.store.kept(atMost: 4))
        #expect(again.living(readable: nil, since: nil) { names.contains($0) } == ["e", "h"])
        #expect(bytes(later.store.kept(atMost: 4)) == bytes(bounded))
    }
}

/// Draws that are the same in every run.
private struct Draw: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
