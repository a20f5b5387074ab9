import SealClient
import SealPrimitives
import SealStatements
import SealWire
import Testing

/// What is in no vector of reading: those of `client-judge.json` (Reading) say what of an answer is believed.
@Suite(.timeLimit(.minutes(60))) struct RecordReadingTests {
    private let statement: Statements

    init() throws { statement = try Statements() }

    // MARK: Feeds

    private func disbelief(
        deleted: Bool = false, derived: Bool = false, isHeldBack: Bool = false, isRollback: Bool = false
    ) -> FeedDisbelief {
        var record = Wire.Record()
        record.deleted = deleted
        if derived { record.derived = Wire.DerivedDeletion() }
        return FeedDisbelief(of: record, isHeldBack: isHeldBack, isRollback: isRollback)
    }

    @Test func noDeletionThatDoesNotHoldIsPassedOver() {
        #expect(disbelief() == .told)
        #expect(disbelief(isRollback: true) == .told)
        #expect(disbelief(isHeldBack: true) == .heldBack)
        #expect(disbelief(deleted: true) == .refusesPage)
        #expect(disbelief(deleted: true, isHeldBack: true) == .refusesPage)
        #expect(disbelief(deleted: true, isRollback: true) == .refusesPage)
        // Nobody has deleted the record itself: it stays, and that is told.
        #expect(disbelief(deleted: true, derived: true, isRollback: true) == .told)
        #expect(disbelief(deleted: true, derived: true) == .refusesPage)
    }

    // MARK: Nothing

    /// By the names that the server's codes have.
    @Test func everyWordForNothingIsOne() {
        let said: [ErrorCode] = [.unknownItem, .zoneNotFound, .userDeletedZone]
        for code in ErrorCode.allCases { #expect(Absence.isSaid(by: code.rawValue) == said.contains(code)) }
        #expect(Absence.isSaid(by: nil))
        var result = Wire.RecordResult()
        var failure = Wire.Failure()
        failure.code = ErrorCode.limitExceeded.rawValue
        result.outcome = .failure(failure)
        #expect(result.isLeftOut)
        result.serverRecord = Wire.Record()
        #expect(!result.isLeftOut)
        #expect(result.failureCode == "limitExceeded")
        #expect(result.shown != nil)
    }

    // MARK: Heads

    /// An unknown head is asked for once; the scope of these statements has no roster, which nothing helps.
    @Test func whatCannotBeMendedIsNotAskedFor() {
        var record = Wire.Record()
        record.statement = statement(1).canonicalBytes()
        let zone = Scope(
            container: "org.example.notes", environment: .development, owner: statement.ann, zoneName: "notes")
        var reading = RecordReading(.zone(ZoneGround(zone: zone, asked: nil)), desiredKeys: nil)
        let error = #expect(throws: ClientError.self) { _ = try reading.read(record, recordName: nil) }
        #expect(error == .invalid(.wrongContext))
        #expect(ClientError.unknownHead.reason == .unknownRosterHead)
        #expect(ClientError.circle.reason == nil)
    }

    @Test func moreThanADeletionCoversIsNotLookedAt() throws {
        let zone = Scope(
            container: "org.example.notes", environment: .development, owner: statement.ann, zoneName: "notes")
        let ground = ZoneGround(zone: zone, asked: nil)
        let target = statement(1)
        #expect(throws: ClientError.invalid(.invalidLength)) {
            _ = try TakenReading(goingWith: target, count: Limits.takenRecords + 1, in: ground)
        }
        let most = try TakenReading(goingWith: target, count: Limits.takenRecords, in: ground)
        #expect(throws: ClientError.invalid(.wrongContext)) { _ = try most.checked() }
    }

    // MARK: Places

    @Test func aParentIsAskedForOnceAndWhereItMayHaveMoved() {
        var judge = RecordJudge(MemorySightings())
        for one in [statement(1, name: "here"), statement(1, name: "there", in: statement.share)] {
            _ = judge.meet(one)
        }
        var parents = ParentPlaces()
        for (name, parent) in [("a", "here"), ("b", "there"), ("c", "there"), ("d", "a"), ("e", "gone"), ("f", "new")] {
            var child = statement(1, name: name)
            child.parent = parent
            parents.add(child)
        }
        parents.addGone("gone")
        #expect(parents.hasParentsElsewhere)
        let first = parents.settle(from: judge)
        #expect(first == ["there", "new"])
        parents.found("there", statement(1, name: "there"))
        let second = parents.settle(from: judge)
        #expect(second == ["new"])
    }
}
