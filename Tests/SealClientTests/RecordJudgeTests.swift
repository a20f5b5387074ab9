import SealClient
import SealPrimitives
import SealStatements
import Testing

/// What a device believes of records, one answer after the other: honest ones, and lies.
@Suite(.timeLimit(.minutes(60))) struct RecordJudgeTests {
    private let statement: Statements
    private var judge = RecordJudge(MemorySightings())

    init() throws { statement = try Statements() }

    // MARK: Revisions

    @Test mutating func aServerThatGoesBackIsFoundOut() {
        let first = statement(1)
        let second = statement(2, after: first, by: statement.bob)
        let verdicts = [
            judge.meet(first), judge.meet(second), judge.meet(second), judge.meet(first),
            judge.meet(statement(2, after: first)), judge.meet(statement(3, after: first)),
            judge.meet(statement(7, by: statement.bob)),
        ]
        #expect(verdicts == [.accepted, .accepted, .accepted, .older, .forked, .forked, .accepted])
        #expect(judge.newest("note")?.revision == 7)
    }

    @Test mutating func whatWasWrittenSinceTheQuestionIsNoRollback() {
        let first = statement(1)
        let second = statement(2, after: first)
        _ = judge.meet(first)
        let asked = judge.store.lastMoment()
        #expect(judge.memory(of: "note", readable: nil, asked: asked) == .seen)
        _ = judge.meet(second)
        #expect(judge.memory(of: "note", readable: nil, asked: asked) == .seenSince)
        let verdicts = [judge.meet(first, asked: asked), judge.meet(first, asked: asked + 1)]
        #expect(verdicts == [.overtaken, .older])
        #expect(judge.memory(of: "other", readable: nil, asked: nil) == .unseen)
    }

    @Test mutating func typeCreatorAndHeadStay() {
        let first = statement(1)
        _ = judge.meet(first)
        let gone = statement(2, after: first, kind: .delete)
        let again = statement(3, after: gone, type: "Letter", creator: statement.bob, by: statement.bob)
        let verdicts = [
            judge.meet(statement(2, after: first, type: "Letter")),
            judge.meet(statement(2, after: first, creator: statement.bob)),
            judge.meet(statement(2, after: first, roster: 4)), judge.meet(statement(9, roster: 4)),
            judge.meet(gone), judge.meet(statement(3, after: gone, creator: statement.bob)),
            judge.meet(again),
        ]
        #expect(verdicts == [.changed, .changed, .behind, .behind, .accepted, .changed, .accepted])
    }

    // MARK: Moves

    @Test mutating func onlyTheOwnerMovesRecords() {
        let first = statement(1)
        _ = judge.meet(first)
        let moved = statement(2, after: first, in: statement.share, from: statement.zone)
        let verdicts = [
            judge.meet(statement(2, after: first, in: statement.share, by: statement.bob)),
            judge.meet(statement(5, in: statement.share, by: statement.bob)),
            judge.meet(statement(2, after: first, in: statement.share)),
            judge.meet(moved), judge.meet(statement(3, after: moved, in: statement.share, by: statement.bob)),
        ]
        #expect(verdicts == [.misplaced, .misplaced, .misplaced, .accepted, .accepted])
        #expect(judge.lastPlace(of: "note") == moved.place)
    }

    /// Somebody who may write in the share has written there since the owner moved the record.
    @Test mutating func whatBroughtItThereCounts() {
        let first = statement(1)
        _ = judge.meet(first)
        let moved = statement(2, after: first, in: statement.share, from: statement.zone)
        let next = statement(3, after: moved, in: statement.share, by: statement.bob)
        let alone = judge.meet(next)
        #expect(alone == .misplaced)
    }

    @Test mutating func aDepartureFromWhereNothingMayBeReadTakesNothing() {
        let first = statement(1, in: statement.share)
        let third = Hash.digest(.link, [3])
        let left = statement(2, after: first, in: third, from: statement.share)
        let there = statement(3, after: left, in: third, by: statement.bob)
        for one in [first, left, there] { _ = judge.meet(one) }
        func verdict(_ scopes: Set<ScopePlace>?) -> Verdict? {
            var judge = judge
            return judge.admit(
                [Sighting(of: left, isDeparture: true)], asked: nil, accepting: [], readable: scopes
            ).first
        }
        // It went on where this account may read: it is not gone. Where it may not, there is nothing newer to show.
        #expect(verdict(nil) == .older)
        #expect(verdict([ScopePlace(third, 1)]) == .older)
        #expect(verdict([statement.ofShare]) == .unknownDeletion)
    }

    /// Signed by a key that the owner has replaced since: true ones have come before what was read of the share.
    @Test func aDepartureByAFormerKeyCountsOnlyWhereTheShareWasNotReadPast() throws {
        let first = statement(1, in: statement.share, epoch: 3)
        let left = statement(2, after: first, from: statement.share)
        func verdict(readTo epoch: Int64?, knowing: [Statement], replacedIn: UInt32?) throws -> Verdict? {
            var before = RecordJudge(MemorySightings())
            for one in knowing { _ = before.meet(one) }
            var store = before.store
            if let epoch { store.noteRead(statement.ofShare, upTo: epoch) }
            var judge = RecordJudge(store)
            let departure = Sighting(left, hash: Statements.hash(left), isDeparture: true, replacedIn: replacedIn)
            return judge.admit([departure], asked: nil, accepting: [], readable: nil).first
        }
        #expect(try verdict(readTo: nil, knowing: [first], replacedIn: 3) == .accepted)
        #expect(try verdict(readTo: 3, knowing: [first], replacedIn: 3) == .accepted)
        #expect(try verdict(readTo: 4, knowing: [first], replacedIn: 3) == .backdated)
        #expect(try verdict(readTo: 4, knowing: [], replacedIn: 3) == .unknownDeletion)
        #expect(try verdict(readTo: 4, knowing: [first, left], replacedIn: 3) == .accepted)
        #expect(try verdict(readTo: 4, knowing: [first], replacedIn: nil) == .accepted)
    }

    // MARK: Epochs that were read past

    @Test mutating func whatWasNotShownInTimeIsLate() {
        var store = MemorySightings()
        let known = statement(1, name: "known")
        var before = RecordJudge(store)
        _ = before.meet(known)
        store = before.store
        store.noteRead(statement.ofZone, upTo: 2)
        judge = RecordJudge(store)
        let late = statement(1, name: "late", epoch: 1)
        let verdicts = [
            judge.meet(known), judge.meet(late), judge.meet(statement(1, name: "late", kind: .delete)),
            judge.meet(statement(1, name: "new", epoch: 2)),
            judge.meet(statement(1, name: "shared", in: statement.share)),
            judge.meet(statement(2, after: known, name: "known", epoch: 1)),
        ]
        #expect(verdicts == [.accepted, .backdated, .unknownDeletion, .accepted, .accepted, .backdated])
        // At the user's word, and once.
        let hash = Statements.hash(late)
        let accepted = judge.admit([Sighting(of: late)], asked: nil, accepting: [hash], readable: nil)
        #expect(accepted == [.accepted])
        #expect(judge.store.late == [hash])
        let last = judge.meet(late)
        #expect(last == .accepted)
        // A notice is nobody's word.
        let notice = Sighting(of: statement(1, name: "other"), role: .gone(with: .init(known, hash: hash)))
        let refused = judge.admit([notice], asked: nil, accepting: [notice.hash], readable: nil)
        #expect(refused == [.unknownDeletion])
        #expect(judge.store.late == [hash])
    }

    // MARK: Derived deletions

    @Test mutating func whatWentStaysGoneUntilItIsMadeAgain() {
        let list = statement(2, name: "list", kind: .delete)
        let (first, other) = (statement(1), statement(1, name: "other"))
        let second = statement(2, after: first)
        func went(_ statement: Statement) -> Sighting {
            Sighting(of: statement, role: .gone(with: .init(list, hash: Statements.hash(list))))
        }
        for one in [first, other] { _ = judge.meet(one) }
        let gone = judge.admit(
            [went(first), Sighting(of: first), went(first)], asked: nil, accepting: [], readable: nil)
        #expect(gone == [.accepted, .older, .accepted])
        #expect(judge.lastPlace(of: "note") == nil)
        #expect(judge.newest("note")?.revision == 1)
        #expect(judge.living(readable: nil, since: nil) { _ in true } == ["other"])
        let last = judge.meet(second)
        #expect(last == .accepted)
        let after = judge.admit([went(first)], asked: nil, accepting: [], readable: nil)
        #expect(after == [.older])
        #expect(judge.living(readable: nil, since: nil) { _ in true } == ["note", "other"])
    }

    // MARK: What is there

    @Test mutating func whoWasOutHoldsNobodyToWhatWasThere() {
        let first = statement(1)
        let (second, shared) = (statement(2, after: first), statement(1, name: "shared", in: statement.share))
        for one in [first, second, shared] { _ = judge.meet(one) }
        #expect(judge.living(readable: nil, since: 1) { _ in true } == ["note"])
        #expect(judge.living(readable: [statement.ofShare], since: nil) { _ in true } == ["shared"])
        var store = judge.store
        store.noteAbsence(from: statement.zone)
        judge = RecordJudge(store)
        #expect(judge.memory(of: "note", readable: nil, asked: nil) == .unseen)
        #expect(judge.living(readable: nil, since: nil) { _ in true } == ["shared"])
        // It may not be older than it was, all the same.
        let verdicts = [judge.meet(first), judge.meet(second)]
        #expect(verdicts == [.older, .accepted])
        #expect(judge.memory(of: "note", readable: nil, asked: nil) == .seen)
        #expect(judge.memory(of: "note", readable: [statement.ofShare], asked: nil) == .unseen)
    }
}
