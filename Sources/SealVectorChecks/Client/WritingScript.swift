import SealClient
import SealPrimitives
import SealStatements

/// A writer of a zone's scopes with a batch of records, and one answer after the other that a server gives it.
struct WritingScript {
    private let logs: Fields
    private let writer: UserID
    private let zone: Scope
    private let policy: WritePolicy
    private let isAtomic: Bool
    /// What the next request has.
    private var items: [WrittenItem] = []
    /// As the batch was given them: what another version is merged with each time.
    private var given: [String: WrittenItem] = [:]
    private var stored: Set<String> = []
    private var covered: [String: [VerifiedStatement]] = [:]
    private var ground: ZoneGround
    private var judge = RecordJudge(MemorySightings())
    private var judged = Judged()
    private var rounds = 0

    init(_ test: Fields, shared: Fields) throws(VectorError) {
        logs = try shared.object("rosters")
        writer = try test.user("writer")
        zone = try logs.object("zone").scope()
        isAtomic = try test.bool("atomic")
        ground = ZoneGround(zone: zone, asked: nil)
        policy = try WritePolicy(vector: test.string("policy"))
        var seen: [Sighting] = []
        for fields in try test.objects("items") {
            let item = try WrittenItem(fields)
            items.append(item)
            given[item.recordName] = item
            if let last = item.last { seen.append(Sighting(last.statement, hash: last.hash)) }
        }
        _ = judge.admit(seen, asked: nil, accepting: [], readable: nil)
    }

    /// - Throws: `disbelieved` where something was refused, once all steps are made.
    mutating func run(_ steps: [Fields]) throws(VectorError) {
        for step in steps {
            if step.has("knows") {
                try know(step.objects("knows"))
            } else if step.has("readies") {
                try step.expect("verdict", .string(try readiness(step.string("readies"))))
            } else if step.has("whole") {
                rounds += 1
                let course = WriteRounds.course(after: try step.string("whole"), isLast: isLast)
                try step.expect("verdict", .string(course.name))
            } else if step.has("nothing") {
                let memory = judge.memory(
                    of: try step.string("nothing"), readable: ground.readableScopes, asked: judge.store.lastMoment())
                try judged.expect("verdict", of: step, Judgement(memory))
            } else if step.has("shown") {
                try judged.expect("verdict", of: step, try read(step.shownRecord(), named: nil).judgement)
            } else {
                try send(step)
            }
        }
        try judged.finish()
    }

    private var isLast: Bool { rounds == WriteRounds.most }

    // MARK: Before sending

    /// The first `entries` of rosters.
    private mutating func know(_ rosters: [Fields]) throws(VectorError) {
        ground = ZoneGround(zone: zone, asked: nil)
        for known in rosters {
            let log = try logs.object(try known.string("roster"))
            let (entries, scope) = (try log.entries("entries"), try log.scope())
            let count = try known.int("entries")
            guard (1...entries.count).contains(count) else { throw .missing("entries") }
            var roster = try core(Roster(opening: entries[0], scope: scope))
            for entry in entries[1..<count] { try core(roster.append(entry)) }
            ground.add(ZoneView(roster: roster, keys: [:], user: writer, lacksGrants: false))
        }
    }

    private func readiness(_ name: String) throws(VectorError) -> String {
        guard let view = try ground[logs.object(name).scope().id] else { throw .missing("readies") }
        switch view.readiness(hasUntoldKeys: false) {
        case .ended: return "ended"
        case .notMember: return "notMember"
        case .keyDue: return "keyDue"
        case .lacksGrants: return "lacksGrants"
        case .ready: return "ready"
        }
    }

    /// - Returns: the items that have a scope, each with it.
    private mutating func place(_ step: Fields) throws(VectorError) -> [(item: WrittenItem, scope: Digest)] {
        var places = WritingPlaces(targets: [:], in: ground)
        for item in items {
            if item.isDeletion, let last = item.last {
                places.addDeletion(of: item.recordName, after: last.statement)
            } else {
                places.addSave(of: item.recordName, parent: item.parent, after: item.last?.statement)
            }
        }
        try step.expect("asksFor", .array(places.unknownParents.map { .string($0) }))
        for found in step.has("parents") ? try step.objects("parents") : [] {
            let parent = try found.version().statement
            places.found(parent.recordName, in: parent.scopeID)
        }
        var placed: [(item: WrittenItem, scope: Digest)] = []
        var unplaced: [String: JSON] = [:]
        for item in items {
            if let last = item.last, ground.life(of: last.statement) != .present {
                unplaced[item.recordName] = .string(
                    ground.life(of: last.statement) == .past ? (item.isDeletion ? "isGone" : "past") : "unknown")
                continue
            }
            let scope = places.scope(of: item.recordName)
            let verdict = WritingPlaces.verdict(
                isDeletion: item.isDeletion, after: item.last?.statement, in: scope, scope.flatMap { ground[$0] },
                opens: false, zone: zone, by: writer)
            if verdict == .placed, let scope {
                placed.append((item, scope))
            } else {
                unplaced[item.recordName] = .string(verdict.name)
            }
        }
        try step.expect("unplaced", .object(unplaced))
        return isAtomic && unplaced.contains { $0.value != .string("isGone") } ? [] : placed
    }

    // MARK: A request

    private mutating func send(_ step: Fields) throws(VectorError) {
        rounds += 1
        let placed = try place(step)
        items = placed.map { $0.item }
        let sends = try step.objects("sends")
        guard sends.count == items.count else { throw .differs("sends") }
        var sent: [Statement] = []
        for (one, expected) in zip(placed, sends) {
            guard let view = ground[one.scope] else { throw .differs("sends") }
            let bytes = try expected.bytes("statement")
            let sealed = try core(Statement(canonicalBytes: bytes))
            let (unsealed, keepsKey) = try one.item.statement(
                RecordWriting(in: view, at: sealed.clientTime), covering: along(one.item))
            var statement = unsealed
            (statement.wrappedKey, statement.salt) = (sealed.wrappedKey, sealed.salt)
            try expected.expect("statement", .hex(statement.canonicalBytes()))
            if !one.item.isDeletion { try expected.expect("keepsKey", .bool(keepsKey)) }
            sent.append(statement)
        }
        guard !items.isEmpty else { return }
        try settle(step, sent)
    }

    private func along(_ item: WrittenItem) -> [VerifiedStatement] {
        guard item.isDeletion else { return [] }
        return TakenReading.covered(covered[item.recordName] ?? [], beside: Set(items.map { $0.recordName }))
    }

    // MARK: Its answer

    private mutating func settle(_ step: Fields, _ sent: [Statement]) throws(VectorError) {
        var results: [Wire.RecordResult] = []
        for answer in try step.objects("answers") { results.append(try answer.result()) }
        guard results.count == items.count else { throw .missing("answers") }
        let answers = results.map { WriteAnswer($0, in: .zone(ground)) }
        var settlement = WriteSettlement(
            items.map { $0.sent(wasStored: stored.contains($0.recordName)) }, answers,
            of: WriteSettlement.Batch(isAtomic: isAtomic, isOfZone: true, keepsTogether: false), isLast: isLast)
        let looksUp = settlement.lookUps.map { items[$0].recordName }
        try step.expect("looksUp", .array(looksUp.map { .string($0) }))
        let found = step.has("found") ? try step.objects("found") : []
        var next = items
        var judgements: [Judgement] = []
        for (index, item) in items.enumerated() {
            if settlement.course(of: index) == .stored, results[index].stores(item.recordName) {
                stored.insert(item.recordName)
                let taken = along(item).map { WrittenAlong($0.statement, hash: $0.hash) }
                _ = judge.admit(
                    Sighting.written(sent[index], hash: Statement.hash(sent[index].canonicalBytes()), taking: taken),
                    asked: nil, accepting: [], readable: nil)
            }
        }
        for (index, item) in items.enumerated() {
            var course = settlement.course(of: index)
            if course == .forbidden { course = settlement.course(afterForbidding: index) }
            switch course {
            case .stored: judgements.append(.taken(item.isDeletion ? "deleted" : "saved"))
            case .unsaid: judgements.append(.refused("unsaid"))
            case .absent:
                judgements.append(
                    Judgement(
                        judge.memory(
                            of: item.recordName, readable: ground.readableScopes, asked: judge.store.lastMoment())))
            case .conflict(let isDenied):
                var shown = results[index].serverRecord
                if looksUp.contains(item.recordName) {
                    shown = nil
                    for one in found where try one.object("shown").string("recordName") == item.recordName {
                        shown = try one.shownRecord()
                    }
                }
                guard let shown else {
                    judgements.append(
                        Judgement(
                            judge.memory(
                                of: item.recordName, readable: ground.readableScopes, asked: judge.store.lastMoment())))
                    continue
                }
                let (judgement, there) = try meet(item, shown, isDenied: isDenied)
                judgements.append(judgement)
                if let there {
                    next[index] = there
                    settlement.rebased(index)
                } else if judgement.name == "isGone" {
                    settlement.isGone(index)
                }
            case .covers:
                let judgement = try cover(item, results[index])
                judgements.append(judgement)
                if !judgement.isRefusal { settlement.repeats(index) }
            case .keepsGrowing: judgements.append(.taken("keepsGrowing"))
            case .takesOthers:
                settlement.takesOthers(index)
                judgements.append(.taken("takesOthers"))
            case .waits: judgements.append(.taken("waits"))
            case .behind:
                settlement.isBehind(index)
                judgements.append(.taken("behind"))
            case .refused, .forbidden:
                settlement.refused(index)
                judgements.append(.taken("refused"))
            }
        }
        let added = try dependents(settlement, step)
        next += added
        let following = settlement.next(adding: added.count)
        if added.isEmpty { for index in settlement.waitingForOthers { judgements[index] = .taken("refused") } }
        for index in following.failed { judgements[index] = .taken("batchFailed") }
        for judgement in judgements { judged.note(judgement) }
        try step.expect("verdicts", .array(judgements.map { .string($0.name) }))
        items = following.order.map { next[$0] }
        try step.expect("again", .array(items.map { .string($0.recordName) }))
    }

    /// What a server has in an item's way.
    /// - Returns: the item as it goes on top of that, where it does.
    private mutating func meet(
        _ item: WrittenItem, _ shown: Wire.Record, isDenied: Bool
    ) throws(VectorError) -> (Judgement, WrittenItem?) {
        let (judgement, version, isGone) = try read(shown, named: item.recordName)
        guard let version else { return (judgement, nil) }
        let present: WritePresent = isGone ? .gone(hash: version.hash) : .record(hash: version.hash)
        switch WriteConflict.objection(
            to: present, after: item.last?.hash, isDenied: isDenied, isRekeying: false)
        {
        case .hidden?: return (.refused("withheld"), nil)
        case .written?: throw .differs("verdicts")
        case nil: break
        }
        let draft = given[item.recordName] ?? item
        let showsTheSame = isGone ? false : try draft.showsTheSame(version)
        let outcome = WriteConflict(draft.kind, policy: policy, isLast: isLast).outcome(over: present) { showsTheSame }
        let again: WrittenItem? =
            switch outcome {
            case .deletesNewest, .makesAgain: draft.following(version)
            case .merges: draft.merged(into: version, policy)
            default: nil
            }
        return (.taken(outcome.name), again)
    }

    private mutating func read(
        _ shown: Wire.Record, named name: String?
    ) throws(VectorError) -> (judgement: Judgement, version: WrittenItem.Version?, isGone: Bool) {
        var reading = RecordReading(.zone(ground), desiredKeys: nil, refreshes: false)
        let record: ReadRecord
        do throws(ClientError) { record = try reading.read(shown, recordName: name) } catch {
            return (.refused("unverified", because: error.reason), nil, false)
        }
        let verdicts = judge.admit(
            [record.sighting], asked: judge.store.lastMoment(), accepting: [], readable: ground.readableScopes)
        let judgement = Judgement(verdicts[0])
        guard !judgement.isRefusal else { return (judgement, nil, false) }
        var fields: [String: Value] = [:]
        for field in record.fields {
            if case .stored(.plain(let value), _) = field.field { fields[field.name] = value }
        }
        return (judgement, WrittenItem.Version(record.statement, fields: fields), record.isGone)
    }

    /// What is said to go along with a deletion; without a word of that it goes again with what is known.
    private mutating func cover(_ item: WrittenItem, _ result: Wire.RecordResult) throws(VectorError) -> Judgement {
        guard let taken = result.taken else { return .taken("again") }
        guard let target = item.last?.statement else { throw .missing("last") }
        do throws(ClientError) {
            var reading = try TakenReading(goingWith: target, count: taken.records.count, in: ground)
            for record in taken.records { try add(record, to: &reading) }
            let statements = try reading.checked()
            let verdicts = judge.admit(
                reading.sightings, asked: judge.store.lastMoment(), accepting: [], readable: nil)
            for verdict in verdicts where Judgement(verdict).isRefusal { return Judgement(verdict) }
            covered[item.recordName] = statements
            return .taken("covers")
        } catch {
            return .refused("unverified", because: error.reason)
        }
    }

    /// A head that is not known is asked for once, and comes to nothing more here.
    private func add(_ record: Wire.TakenRecord, to reading: inout TakenReading) throws(ClientError) {
        do throws(ClientError) { try reading.add(record) } catch .unknownHead {
            reading.refresh(.zone(ground))
            try reading.add(record)
        }
    }

    /// Of the records of other scopes that were named, those that go.
    private mutating func dependents(
        _ settlement: WriteSettlement, _ step: Fields
    ) throws(VectorError) -> [WrittenItem] {
        var deleting: [String] = []
        for item in items where item.isDeletion { deleting.append(item.recordName) }
        var dependents = WriteDependents(deleting: deleting)
        var found: [String: WrittenItem.Version] = [:]
        guard !settlement.waitingForOthers.isEmpty else { return [] }
        for one in step.has("dependents") ? try step.objects("dependents") : [] {
            let (judgement, version, isGone) = try read(one.shownRecord(), named: nil)
            guard let version, !isGone else {
                judged.note(judgement)
                continue
            }
            found[version.statement.recordName] = version
            dependents.add(version.statement.recordName, Array(version.fields.values))
        }
        var added: [WrittenItem] = []
        for name in dependents.going() { if let version = found[name] { added.append(.deletion(after: version)) } }
        return added
    }
}

extension Fields {
    /// What an answer says of one record.
    fileprivate func result() throws(VectorError) -> Wire.RecordResult {
        var result = Wire.RecordResult()
        if has("stored") {
            var record = Wire.Record()
            record.recordName = try string("stored")
            result.outcome = .record(record)
        } else if has("code") {
            var failure = Wire.Failure()
            failure.code = try string("code")
            result.outcome = .failure(failure)
        }
        if has("shows") { result.serverRecord = try object("shows").shownRecord() }
        if has("dependents") { result.dependents = try strings("dependents") }
        if has("taken") {
            var taken = Wire.TakenRecords()
            for one in try objects("taken") { taken.records.append(try one.takenRecord()) }
            result.taken = taken
        }
        return result
    }
}
