import SealClient
import SealPrimitives
import SealStatements
import SealWire
import Testing

/// What is in no vector of writing: those of `client-write.json` (Batch) say what becomes of a batch.
@Suite(.timeLimit(.minutes(60))) struct WriteSettlementTests {
    private let ground = RecordGround.zone(
        ZoneGround(
            zone: Scope(
                container: "com.example.notes", environment: .production, owner: UserID(ID16.zero), zoneName: "Notes"),
            asked: nil))

    private func answer(stored: String) -> WriteAnswer {
        var (result, record) = (Wire.RecordResult(), Wire.Record())
        record.recordName = stored
        result.outcome = .record(record)
        return WriteAnswer(result, in: ground)
    }

    private func answer(_ code: ErrorCode, shows: Bool = false, dependents: [String] = []) -> WriteAnswer {
        var (result, failure) = (Wire.RecordResult(), Wire.Failure())
        failure.code = code.rawValue
        result.outcome = .failure(failure)
        result.dependents = dependents
        if shows { result.serverRecord = Wire.Record() }
        return WriteAnswer(result, in: ground)
    }

    private func settlement(
        _ items: [WriteSettlement.Item], _ answers: [WriteAnswer], isAtomic: Bool = false, isOfZone: Bool = true,
        keepsTogether: Bool = false, isLast: Bool = false
    ) -> WriteSettlement {
        WriteSettlement(
            items, answers,
            of: WriteSettlement.Batch(isAtomic: isAtomic, isOfZone: isOfZone, keepsTogether: keepsTogether),
            isLast: isLast)
    }

    private let save = WriteSettlement.Item.save("note", parent: nil, wasStored: false)

    // MARK: Codes

    /// Each of the server's codes, by its name.
    @Test func aCodeSaysWhatItIsAbout() {
        let known: [ErrorCode: WriteRefusal] = [
            .serverRecordChanged: .changed, .unknownItem: .unknown, .zoneNotFound: .zoneGone,
            .userDeletedZone: .zoneGone, .deletionIncomplete: .incomplete, .batchRequestFailed: .batchFailed,
            .referenceViolation: .reference, .permissionFailure: .forbidden, .rosterChanged: .rosterMoved,
            .staleEpoch: .rosterMoved, .rotationDue: .rosterMoved,
        ]
        for code in ErrorCode.allCases { #expect(WriteRefusal(code: code.rawValue) == known[code] ?? .other) }
    }

    @Test func aRefusedRequestGoesAgainForItsRosterOrScopesAlone() {
        let courses: [ErrorCode: WriteRounds.Course] = [
            .zoneNotFound: .asksForScopes, .permissionFailure: .asksForRights, .rosterChanged: .refreshesRosters,
            .staleEpoch: .refreshesRosters, .rotationDue: .refreshesRosters,
        ]
        for code in ErrorCode.allCases {
            #expect(WriteRounds.course(after: code.rawValue, isLast: false) == courses[code] ?? .ends)
            #expect(WriteRounds.course(after: code.rawValue, isLast: true) == .ends)
        }
    }

    // MARK: Courses

    /// Nothing in the public database has a roster, and nothing goes along there.
    @Test func inThePublicDatabaseAbsenceIsHeldAgainstWhatWasSeen() {
        let deletion = WriteSettlement.Item.deletion(of: "note")
        #expect(settlement([save], [answer(.unknownItem)], isOfZone: false).course(of: 0) == .absent)
        #expect(settlement([save], [answer(.unknownItem)], isOfZone: false).lookUps.isEmpty)
        let shown = settlement([save], [answer(.unknownItem, shows: true)], isOfZone: false)
        #expect(shown.course(of: 0) == .conflict(isDenied: false))
        #expect(settlement([deletion], [answer(.deletionIncomplete)], isOfZone: false).course(of: 0) == .refused)
    }

    @Test func whatWasStoredBeforeStays() {
        let again = WriteSettlement.Item.save("note", parent: nil, wasStored: true)
        for code in [ErrorCode.serverRecordChanged, .batchRequestFailed, .permissionFailure] {
            let settled = settlement([again], [answer(code)])
            #expect(settled.course(of: 0) == .stored)
            #expect(settled.lookUps.isEmpty)
        }
    }

    @Test func anAnswerCountsForTheRecordThatItNames() {
        #expect(settlement([save], [answer(stored: "note")]).course(of: 0) == .stored)
        #expect(settlement([save], [answer(stored: "list")]).course(of: 0) == .unsaid)
        #expect(settlement([save], [answer(stored: "")]).course(of: 0) == .unsaid)
        #expect(settlement([save], [WriteAnswer(Wire.RecordResult(), in: ground)]).course(of: 0) == .unsaid)
    }

    /// Whoever asked for a right, and has none, is told so; a deletion that takes others along asks for these first.
    @Test func whatIsForbiddenHasItsCourseAfterwards() {
        let forbidden = settlement([save], [answer(.permissionFailure)])
        #expect(forbidden.course(of: 0) == .forbidden)
        #expect(forbidden.course(afterForbidding: 0) == .refused)
        #expect(settlement([save], [answer(.permissionFailure)], isLast: true).course(of: 0) == .refused)
        let deletion = WriteSettlement.Item.deletion(of: "note")
        let others = settlement([deletion], [answer(.permissionFailure, dependents: ["list"])], isAtomic: true)
        #expect(others.course(afterForbidding: 0) == .takesOthers)
    }

    @Test func aDeletionWaitsForTheOthersWhereEachIsByItself() {
        let items = [WriteSettlement.Item.deletion(of: "note"), .deletion(of: "list")]
        func course(_ dependents: [String], isAtomic: Bool = false, keepsTogether: Bool = false)
            -> WriteSettlement.Course
        {
            settlement(
                items, [answer(.referenceViolation, dependents: dependents), answer(stored: "list")],
                isAtomic: isAtomic, keepsTogether: keepsTogether
            ).course(of: 0)
        }
        #expect(course(["other"]) == .waits)
        #expect(course(["list"]) == .takesOthers)
        #expect(course(["other"], isAtomic: true) == .takesOthers)
        #expect(course(["other"], keepsTogether: true) == .takesOthers)
    }

    // MARK: Other versions

    private func hash(_ byte: UInt8) -> Digest { Statement.hash([byte]) }

    @Test func whatDoesNotOpenIsReplacedByAllOfARecordAlone() {
        let there = WritePresent.unopened(hash: hash(1), recordType: "Note")
        func outcome(_ policy: WritePolicy, type: String = "Note", isLast: Bool = false) -> WriteConflict.Outcome {
            WriteConflict(.save(wasStored: true, recordType: type), policy: policy, isLast: isLast)
                .outcome(over: there) { true }
        }
        #expect(outcome(.allKeys) == .replaces)
        #expect(outcome(.allKeys, type: "Task") == .otherType)
        #expect(outcome(.allKeys, isLast: true) == .unopened)
        for policy in [WritePolicy.ifUnchanged, .changedKeys, .restoring] { #expect(outcome(policy) == .unopened) }
        let deletion = WriteConflict(.deletion, policy: .ifUnchanged, isLast: false)
        #expect(deletion.outcome(over: there) { false } == .deletesNewest)
    }

    /// Whoever has written a record meanwhile has given it a key as well.
    @Test func whatIsSealedAgainHasToBeWhatItWas() {
        func objection(_ there: WritePresent?, isDenied: Bool = false, isRekeying: Bool) -> WriteConflict.Objection? {
            WriteConflict.objection(to: there, after: hash(1), isDenied: isDenied, isRekeying: isRekeying)
        }
        #expect(objection(.record(hash: hash(1)), isRekeying: true) == nil)
        #expect(objection(.record(hash: hash(2)), isRekeying: true) == .written)
        #expect(objection(.gone(hash: hash(1)), isRekeying: true) == .written)
        #expect(objection(nil, isRekeying: true) == .written)
        #expect(objection(.record(hash: hash(2)), isRekeying: false) == nil)
        #expect(objection(.record(hash: hash(1)), isDenied: true, isRekeying: false) == .hidden)
        #expect(objection(.record(hash: hash(2)), isDenied: true, isRekeying: false) == nil)
        #expect(objection(.gone(hash: hash(1)), isDenied: true, isRekeying: false) == nil)
        #expect(objection(nil, isDenied: true, isRekeying: false) == nil)
    }

    @Test func whatWasNotAskedForIsNotPutIntoAnotherVersion() {
        for policy in [WritePolicy.changedKeys, .allKeys] {
            #expect(!WriteMerge(policy).takes(.present(isAtHand: false), isChanged: true))
            #expect(WriteMerge(policy).takes(.present(isAtHand: true), isChanged: true))
            #expect(WriteMerge(policy).takes(.absent, isChanged: true))
            #expect(!WriteMerge(policy).takes(.absent, isChanged: false))
        }
        #expect(WriteMerge(.allKeys).takes(.present(isAtHand: true), isChanged: false))
        #expect(!WriteMerge(.changedKeys).takes(.present(isAtHand: true), isChanged: false))
    }
}
