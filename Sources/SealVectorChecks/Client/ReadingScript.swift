import SealClient
import SealPrimitives
import SealStatements

/// A reader of a zone's scopes, and what it makes of whole answers: what is shown beside statements, what records say
/// of each other, and what is named to it for a deletion.
struct ReadingScript {
    private let rosters: [String: Roster]
    private let reader: UserID
    private var ground: ZoneGround
    private var judge = RecordJudge(MemorySightings())
    private var judged = Judged()

    init(_ test: Fields, shared: Fields) throws(VectorError) {
        rosters = try shared.rosters()
        reader = try test.user("reader")
        guard let zone = rosters["zone"]?.scope else { throw .missing("zone") }
        ground = ZoneGround(zone: zone, asked: nil)
        for name in try test.strings("reads") {
            guard let roster = rosters[name] else { throw .missing(name) }
            ground.add(ZoneView(roster: roster, keys: [:], user: reader, lacksGrants: false))
        }
    }

    /// - Throws: `disbelieved` where something was refused, once all steps are made.
    mutating func run(_ steps: [Fields]) throws(VectorError) {
        for step in steps {
            if step.has("answer") {
                try answer(step)
            } else if step.has("taken") {
                try judged.expect("verdict", of: step, try taken(step))
            } else {
                try judged.expect("verdict", of: step, try nothing(step))
            }
        }
        try judged.finish()
    }

    // MARK: Answers

    private mutating func answer(_ step: Fields) throws(VectorError) {
        let desiredKeys = step.has("desiredKeys") ? try step.strings("desiredKeys") : nil
        var reading = RecordReading(.zone(ground), desiredKeys: desiredKeys, refreshes: false)
        var records: [ReadRecord?] = []
        var judgements: [Judgement] = []
        for item in try step.objects("answer") {
            let name = item.has("recordName") ? try item.string("recordName") : nil
            let shown = try item.shownRecord()
            do throws(ClientError) {
                records.append(try reading.read(shown, recordName: name))
                judgements.append(.taken("accepted"))
            } catch {
                records.append(nil)
                judgements.append(.refused("unverified", because: error.reason))
            }
        }
        var sightings: [Sighting] = []
        for case let record? in records { sightings.append(record.sighting) }
        var verdicts = judge.admit(
            sightings, asked: judge.store.lastMoment(), accepting: [], readable: ground.readableScopes
        ).makeIterator()
        var believed: [ReadRecord] = []
        for (index, record) in records.enumerated() {
            guard let record else { continue }
            guard let verdict = verdicts.next() else { throw .differs("verdicts") }
            judgements[index] = Judgement(verdict)
            if !judgements[index].isRefusal { believed.append(record) }
        }
        for judgement in judgements { judged.note(judgement) }
        try step.expect("verdicts", .array(judgements.map { .string($0.name) }))
        try place(believed, step)
        try circle(believed, step)
    }

    /// Of the whole zone nothing is held back.
    private func place(_ believed: [ReadRecord], _ step: Fields) throws(VectorError) {
        guard ground.own == nil else { return }
        var parents = ParentPlaces()
        for record in believed {
            if record.isGone {
                parents.addGone(record.statement.recordName)
            } else {
                parents.add(record.statement)
            }
        }
        try step.expect("asksFor", names(Array(parents.settle(from: judge))))
        for found in step.has("found") ? try step.objects("found") : [] {
            var statement: Statement?
            if found.has("statement") {
                let encoded = try found.bytes("statement")
                statement = try core(Statement(canonicalBytes: encoded))
            }
            parents.found(try found.string("recordName"), statement)
        }
        var held: [String] = []
        for record in believed where !record.isGone && parents.isHeldBack(record.statement, in: ground) {
            held.append(record.statement.recordName)
        }
        try step.expect("heldBack", names(held))
    }

    private func circle(_ believed: [ReadRecord], _ step: Fields) throws(VectorError) {
        var parents = AnswerParents()
        for record in believed where !record.isGone { parents.add(record.statement) }
        try step.expect("cycles", .array(parents.cycles().map { cycle in .array(cycle.map { .string($0) }) }))
    }

    private func names(_ names: [String]) -> JSON {
        .array(names.sorted { FieldSet.isOrdered($0, $1) }.map { .string($0) })
    }

    // MARK: Deletions

    /// What the server says goes along with a target that this device is to delete.
    private mutating func taken(_ step: Fields) throws(VectorError) -> Judgement {
        let encoded = try step.bytes("target")
        let target = try core(Statement(canonicalBytes: encoded))
        let items = try step.objects("taken")
        var shown: [Wire.TakenRecord] = []
        for item in items { shown.append(try item.takenRecord()) }
        let statements: [VerifiedStatement]
        let sightings: [Sighting]
        do throws(ClientError) {
            var reading = try TakenReading(goingWith: target, count: shown.count, in: ground)
            for record in shown { try add(record, to: &reading) }
            statements = try reading.checked()
            sightings = reading.sightings
        } catch {
            return .refused("unverified", because: error.reason)
        }
        let verdicts = judge.admit(sightings, asked: judge.store.lastMoment(), accepting: [], readable: nil)
        for verdict in verdicts where Judgement(verdict).isRefusal { return Judgement(verdict) }
        let taken = try core(
            TakenRecords(statements.map { (recordName: $0.statement.recordName, hash: $0.hash) }))
        try step.expect("digest", .hex(taken.digest))
        return .taken("covered")
    }

    /// A head that is not known is asked for once, and comes to nothing more here.
    private func add(_ record: Wire.TakenRecord, to reading: inout TakenReading) throws(ClientError) {
        do throws(ClientError) { try reading.add(record) } catch .unknownHead {
            reading.refresh(.zone(ground))
            try reading.add(record)
        }
    }

    /// Nothing is shown under a name, because of `says`; without any word where that is empty.
    private func nothing(_ step: Fields) throws(VectorError) -> Judgement {
        let (name, says) = (try step.string("nothing"), try step.string("says"))
        guard Absence.isSaid(by: says.isEmpty ? nil : says) else { return .taken("noAnswer") }
        return Judgement(
            judge.memory(of: name, readable: ground.readableScopes, asked: judge.store.lastMoment()))
    }
}
