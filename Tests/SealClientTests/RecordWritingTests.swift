import SealClient
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import Testing

/// What is signed and sealed for a record that is written.
@Suite(.timeLimit(.minutes(60))) struct RecordWritingTests {
    private var log: ScopeLog
    private let ann: Person
    private let bob: Person
    private let recordKey = SecretBytes(copying: [UInt8](repeating: 3, count: 32))

    init() throws {
        (ann, bob) = (try Person(1), try Person(2))
        log = try ScopeLog(owner: ann)
        try log.add(bob)
    }

    private func view(of person: Person) -> ZoneView {
        ZoneView(
            roster: log.roster, keys: [log.roster.currentEpoch.number: log.key], user: person.user, lacksGrants: false)
    }

    private func writing(_ person: Person, at time: Int64 = 7) -> RecordWriting {
        RecordWriting(in: view(of: person), at: time)
    }

    private func first(by person: Person) -> Statement {
        writing(person).save(
            of: "note", type: "Note", after: nil, restored: nil, parent: "list", share: nil, fields: []
        ).statement
    }

    private func base(_ statement: Statement, key: SecretBytes? = nil) -> RecordWriting.Base {
        RecordWriting.Base(statement, hash: Statements.hash(statement), recordKey: key)
    }

    private func next(_ base: RecordWriting.Base, by person: Person) -> RecordDraft {
        writing(person).save(
            of: "note", type: "Note", after: base, restored: nil, parent: nil, share: nil, fields: [])
    }

    // MARK: Statements

    @Test func aNewRecordIsItsAuthors() {
        let new = first(by: bob)
        #expect(new.revision == 1)
        #expect(new.previous == .zero)
        #expect(new.creator == bob.user)
        #expect(new.author == bob.user)
        #expect(new.clientTime == 7)
        #expect(new.parent == "list")
        #expect(new.formerScope == nil)
        #expect(new.rosterHead == log.roster.head)
        #expect(new.epoch == log.roster.currentEpoch.number)
    }

    @Test func whatFollowsKeepsItsCreator() {
        let last = first(by: bob)
        let follows = next(base(last), by: ann).statement
        #expect(follows.revision == 2)
        #expect(follows.previous == Statements.hash(last))
        #expect(follows.creator == bob.user)
        #expect(follows.author == ann.user)
    }

    @Test func aRecordThatIsMadeAgainIsItsNewAuthors() {
        let gone = writing(ann).deletion(
            of: "note", type: "Note", after: base(first(by: bob)), restored: nil, taking: .none
        ).statement
        #expect(gone.kind == .delete)
        #expect(gone.creator == bob.user)
        #expect(gone.parent == "list")
        let again = next(base(gone), by: ann).statement
        #expect(again.revision == 3)
        #expect(again.creator == ann.user)
    }

    @Test func whatTheServerHasLostGoesOnFromWhatWasSeen() {
        let last = base(first(by: bob), key: recordKey)
        let seen = RecordWriting.Restored(revision: 9, previous: log.roster.head)
        let draft = writing(ann).save(
            of: "note", type: "Note", after: last, restored: seen, parent: nil, share: nil, fields: [])
        #expect(draft.statement.revision == 9)
        #expect(draft.statement.previous == log.roster.head)
        #expect(draft.recordKey == nil)
    }

    // MARK: Keys

    @Test mutating func aKeyStaysWithinItsEpoch() throws {
        let last = base(first(by: bob), key: recordKey)
        #expect(next(last, by: ann).recordKey != nil)
        #expect(next(base(last.statement), by: ann).recordKey == nil)
        var carried = last.statement
        carried.isKeyCarried = true
        #expect(next(base(carried, key: recordKey), by: ann).recordKey == nil)
        var gone = last.statement
        gone.kind = .delete
        #expect(next(base(gone, key: recordKey), by: ann).recordKey == nil)
        let before = ZoneGround(view(of: ann), asked: nil)
        #expect(!before.sealsAgain(last.statement, in: log.roster.scopeID))
        #expect(before.sealsAgain(carried, in: log.roster.scopeID))
        try log.rotate()
        #expect(next(last, by: ann).recordKey == nil)
        let after = ZoneGround(view(of: ann), asked: nil)
        #expect(after.sealsAgain(last.statement, in: log.roster.scopeID))
        #expect(after.sealsAgain(last.statement, in: .zero))
    }

    // MARK: Places

    @Test func aRecordNamesTheScopeThatItComesFrom() {
        var elsewhere = first(by: bob)
        elsewhere.scopeID = log.roster.head
        let ground = ZoneGround(view(of: ann), asked: nil)
        #expect(next(base(elsewhere), by: ann).statement.formerScope == elsewhere.place)
        #expect(ground.moves(elsewhere, into: log.roster.scopeID))
        #expect(!ground.moves(first(by: bob), into: log.roster.scopeID))
        elsewhere.kind = .delete
        #expect(!ground.moves(elsewhere, into: log.roster.scopeID))
    }

    /// The zone's own scope has no root.
    @Test func onlyARootNamesItsShare() {
        let draft = writing(ann).save(
            of: "note", type: "Note", after: nil, restored: nil, parent: nil, share: "Share-1", fields: [])
        #expect(draft.statement.share == nil)
    }

    private func places(targets: [String: Digest] = [:]) -> WritingPlaces {
        WritingPlaces(targets: targets, in: ZoneGround(view(of: ann), asked: nil))
    }

    @Test func aRecordIsWhereItsParentIs() {
        let (own, other) = (log.roster.scopeID, log.roster.head)
        var places = places(targets: ["root": other])
        places.addSave(of: "root", parent: nil, after: nil)
        places.addSave(of: "child", parent: "root", after: nil)
        places.addSave(of: "grandchild", parent: "child", after: nil)
        places.addSave(of: "guest", parent: "there", after: nil)
        places.addSave(of: "lost", parent: "nowhere", after: nil)
        places.addSave(of: "alone", parent: nil, after: nil)
        places.addSave(of: "stays", parent: "list", after: first(by: bob))
        places.addSave(of: "leaves", parent: "there", after: first(by: bob))
        places.addSave(of: "round", parent: "about", after: nil)
        places.addSave(of: "about", parent: "round", after: nil)
        var gone = first(by: bob)
        gone.scopeID = other
        places.addDeletion(of: "gone", after: gone)
        places.addSave(of: "orphan", parent: "gone", after: nil)
        #expect(places.unknownParents == ["nowhere", "there"])
        places.found("there", in: other)
        let scopes = [
            "root", "child", "grandchild", "guest", "lost", "alone", "stays", "leaves", "round", "gone", "orphan",
        ].map { places.scope(of: $0) }
        #expect(scopes == [other, other, other, other, own, own, own, other, own, other, other])
    }

    /// Of several shares it would be other people's that a server chooses by keeping a parent back.
    @Test func aParentThatIsKeptBackNamesNoShare() throws {
        let zone = log.scope
        var ground = ZoneGround(
            zone: Scope(
                container: zone.container, environment: zone.environment, owner: ann.user, zoneName: "Other"),
            asked: nil)
        ground.add(view(of: bob))
        var places = WritingPlaces(targets: [:], in: ground)
        places.addSave(of: "note", parent: "list", after: nil)
        places.addSave(of: "alone", parent: nil, after: nil)
        #expect(places.scope(of: "note") == log.roster.scopeID)
        #expect(places.scope(of: "alone") == nil)
        let second = try ScopeLog(owner: ann, zone: "Second", random: 2)
        ground.add(ZoneView(roster: second.roster, keys: [:], user: bob.user, lacksGrants: false))
        places = WritingPlaces(targets: [:], in: ground)
        places.addSave(of: "note", parent: "list", after: nil)
        #expect(places.scope(of: "note") == nil)
    }
}
