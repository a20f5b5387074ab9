import SealKit
import SealLab

extension ModelRun {
    // MARK: One call

    mutating func play(_ call: some ModelCall) async throws {
        doing = call.description
        try take(await AnsweredCall(call, from: devices[call.device]))
    }

    mutating func modify(_ device: Int, _ zone: String, _ random: inout SeededRandom) async throws {
        let call = modification(device, zone, &random)
        try await play(call)
        if !call.saving.isEmpty { count(.saves) }
        if !call.deleting.isEmpty { count(.deletions) }
        if store.role(of: devices[device].person, in: zone) == .publicUser, store.open(zone)?.isKeyDue == true {
            count(.refusedForDueKey)
        }
    }

    private mutating func take(_ answered: AnsweredCall) throws {
        for (key, copy) in try answered.explain(&store, devices[answered.device]) {
            devices[answered.device].copies[key] = copy
        }
        tell(from: answered.device)
    }

    // MARK: Calls at the same time

    /// Some devices read and write at once.
    mutating func playAtOnce(_ zone: String, _ random: inout SeededRandom) async throws {
        var callers = Array(devices.indices)
        while callers.count > 2 + random.below(2) { callers.remove(at: random.below(callers.count)) }
        var calls: [any ModelCall] = []
        for device in callers {
            if random.chance(75) {
                calls.append(modification(device, zone, isAlone: false, &random))
            } else if let lookUp = lookUp(device, zone, &random) {
                calls.append(lookUp)
            }
        }
        try await play(calls, zone)
        count(.callsAtOnce)
    }

    /// Some devices call at once: there has to be an order in which the model answers the same. Of several the one is
    /// taken that what came beside the fields contradicts least.
    /// - Parameter last: calls after them, which that order has to explain as well.
    mutating func play(_ calls: [any ModelCall], _ zone: String, then last: [any ModelCall] = []) async throws {
        doing = "at once: " + calls.map(\.description).joined(separator: "; ")
        let devices = devices
        let answered = try await withThrowingTaskGroup(of: AnsweredCall.self) { group in
            for call in calls { group.addTask { try await AnsweredCall(call, from: devices[call.device]) } }
            var answered: [AnsweredCall] = []
            for try await call in group { answered.append(call) }
            return answered
        }
        // What they have led to: of the orders that explain the answers, one explains this as well.
        let outcome = LookUp(device: 0, zone: zone, names: Self.recordNames, desired: nil, keeps: [])
        var after: [AnsweredCall] = []
        for call in [outcome] + last { after.append(try await AnsweredCall(call, from: devices[call.device])) }
        var reasons: [String] = []
        var runs: [(run: ModelRun, contradictions: Int)] = []
        let openings = store.zones[zone]?.isKeyDue == true ? answered.indices.filter { answered[$0].opensDueKey } : []
        let parts = answered.indices.map(Part.call)
        let orders = Self.choices(of: openings).flatMap { Self.orders(of: parts + $0.map(Part.opening)) }
        for (order, isConflictLater) in orders.map({ ($0, false) }) + orders.map({ ($0, true) }) {
            var attempt = self
            attempt.store.sightings = []
            do {
                let views = isConflictLater ? try self.views(of: zone, in: order, of: answered) : nil
                for (place, part) in order.enumerated() {
                    attempt.store.conflictViews = views.map { Array($0[place...]) }
                    try attempt.play(part, of: answered, zone)
                }
                attempt.store.conflictViews = nil
                for call in after { try attempt.take(call) }
                let contradictions = Sighting.contradictions(among: attempt.store.sightings ?? [])
                attempt.store.sightings = nil
                runs.append((attempt, contradictions))
            } catch {
                let parts = order.map { part in
                    switch part {
                    case .opening(let index): "key by \(answered[index].device)"
                    case .call(let index): "\(answered[index].device)"
                    }
                }
                reasons.append("\(parts.joined(separator: ", ")): \(error)")
            }
        }
        let least = runs.map(\.contradictions).min()
        let likeliest = runs.filter { $0.contradictions == least }.map(\.run)
        if let run = try await Self.tellApart(likeliest, zone) { return self = run }
        throw Finding("no order of the calls explains their answers: \(reasons.joined(separator: "; "))")
    }

    /// Of two deletions one may have found the record gone already, and nobody was shown which: a record that went with
    /// another is made again as of its type alone. So records of another type are offered, each with a target that is
    /// not there: none is saved, and each refusal tells.
    private static func tellApart(_ runs: [ModelRun], _ zone: String) async throws -> ModelRun? {
        guard let first = runs.first, let known = first.store.open(zone) else { return runs.first }
        let doubtful = recordNames.filter { name in
            Set(runs.map { $0.store.open(zone)?.records[name]?.wentWith == nil }).count > 1
        }
        let probes = doubtful.compactMap { name -> ModelDevice.Copy? in
            guard let target = recordNames.indices.first(where: { known.live[recordNames[$0]] == nil }) else {
                return nil
            }
            let type = known.records[name]?.type == "Note" ? "Task" : "Note"
            var record = Record(recordType: type, recordID: first.devices[0].recordID(name, zone))
            ModelFields.set("go", target, in: &record)
            return ModelDevice.Copy(
                record: record,
                draft: ModelStore.Draft(name: name, type: type, fields: ["go": target], changed: ["go"]))
        }
        guard !probes.isEmpty else { return first }
        let probe = try await AnsweredCall(
            Modification(
                device: 0, zone: zone, saving: probes, deleting: [], policy: .ifServerRecordUnchanged, isAtomic: false,
                keeps: []), from: first.devices[0])
        for run in runs {
            var run = run
            do { try run.take(probe) } catch { continue }
            return run
        }
        return nil
    }

    private mutating func play(_ part: Part, of answered: [AnsweredCall], _ zone: String) throws {
        switch part {
        case .opening(let index): openDueKey(of: zone, for: answered[index].device)
        case .call(let index): try take(answered[index])
        }
    }

    /// The zone before each part of an order, and at the end, whatever the conflicts among the answers show.
    private func views(
        of zone: String, in order: [Part], of answered: [AnsweredCall]
    ) throws -> [ModelStore.Zone?] {
        var trial = self
        trial.store.conflictViews = []
        var views = [trial.store.open(zone)]
        for part in order {
            try trial.play(part, of: answered, zone)
            views.append(trial.store.open(zone))
        }
        return views
    }

    /// A call, by its place among those at once, or what comes before it where a key is due.
    private enum Part {
        case opening(Int)
        case call(Int)
    }

    private mutating func openDueKey(of zone: String, for device: Int) {
        store.openDueKey(zone, by: devices[device].person)
        tell(from: device)
    }

    /// Which of the calls opened the due key beforehand, the fewest first: a call that comes to send nothing opens
    /// none, and one that sends something does it then, unless others come in between.
    private static func choices(of openings: [Int]) -> [[Int]] {
        openings.reduce([[]]) { choices, opening in choices + choices.map { $0 + [opening] } }
            .sorted { $0.count < $1.count }
    }

    /// All in which no call comes before its opening.
    private static func orders(of parts: [Part]) -> [[Part]] {
        guard parts.count > 1 else { return [parts] }
        return parts.indices.flatMap { index -> [[Part]] in
            var rest = parts
            let first = rest.remove(at: index)
            if case .call(let call) = first,
                rest.contains(where: { if case .opening(call) = $0 { true } else { false } })
            {
                return []
            }
            return orders(of: rest).map { [first] + $0 }
        }
    }

    // MARK: Choosing

    /// New records, changed copies, copies that are behind, deletions, under every policy.
    /// - Parameter isAlone: otherwise it is one thing for the server, whose parts nothing can come between.
    func modification(_ device: Int, _ zone: String, isAlone: Bool = true, _ random: inout SeededRandom) -> Modification
    {
        let count = random.chance(45) ? 1 : 2 + random.below(4)
        let policies: [Database.SavePolicy] = [
            .ifServerRecordUnchanged, .ifServerRecordUnchanged, .changedKeys, .allKeys,
        ]
        let policy = policies[random.below(policies.count)]
        let isAtomic = random.chance(50) || !isAlone
        let deletesOne = !isAlone && random.chance(20)
        var copies: [String: ModelDevice.Copy] = [:]
        var deletes: Set<String> = []
        for _ in 0..<(deletesOne ? 1 : count) {
            let name = Self.recordNames[random.below(Self.recordNames.count)]
            guard copies[name] == nil, !deletes.contains(name) else { continue }
            if deletesOne || (isAlone && random.chance(20)) {
                deletes.insert(name)
            } else {
                copies[name] = draft(device, zone, name, &random)
            }
        }
        if zone == Self.hierarchyZone { keepToHierarchies(devices[device].person, &copies, &deletes) }
        // Whether a record can go while another one of the call comes to it, or is saved below it, depends on their
        // order: nobody may rely on it.
        for (name, copy) in copies {
            for parent in [copy.draft.parent, store.open(zone)?.live[name]?.parent] {
                if let parent { deletes.remove(parent) }
            }
        }
        // Nor on whether one is saved, or saved again after a conflict, before or after it would have gone with
        // another. Nor on whether it comes to one that would have gone with another; nor, where records of several
        // scopes go together, on which of the two an atomic call is refused for.
        if !isAtomic || zone == Self.hierarchyZone, let known = store.open(zone) {
            let touched = Set(copies.keys).union(copies.values.compactMap(\.draft.parent))
            deletes = deletes.filter { known.goingWith($0).isDisjoint(with: touched) }
        }
        return Modification(
            device: device, zone: zone, saving: copies.values.sorted { $0.draft.name < $1.draft.name },
            deleting: deletes.sorted(),
            policy: policy, isAtomic: isAtomic, keeps: Set(copies.keys.sorted().filter { _ in random.chance(70) }))
    }

    /// A new record, or a changed copy of one that this device knows.
    private func draft(_ device: Int, _ zone: String, _ name: String, _ random: inout SeededRandom) -> ModelDevice.Copy
    {
        var copy: ModelDevice.Copy
        if let known = devices[device].copies[ModelDevice.Key(zone: zone, name: name)], random.chance(80) {
            copy = known
        } else {
            let type = random.chance(80) ? "Note" : "Task"
            copy = ModelDevice.Copy(
                record: Record(recordType: type, recordID: devices[device].recordID(name, zone)),
                draft: ModelStore.Draft(name: name, type: type, fields: [:], changed: []))
        }
        for _ in 0..<(1 + random.below(3)) {
            let key = ModelFields.keys[random.below(ModelFields.keys.count)]
            let value = random.chance(80) ? ModelFields.random(for: key, &random) : nil
            ModelFields.set(key, value, in: &copy.record)
            copy.draft.fields[key] = value
            copy.draft.changed.insert(key)
            copy.draft.omitted.remove(key)
        }
        if random.chance(zone == Self.hierarchyZone ? 60 : 25) {
            // Parents come earlier in the alphabet: no record is its own ancestor.
            let earlier = Self.recordNames.filter { $0 < name }
            let parent = random.chance(70) ? random.one(of: earlier) : nil
            copy.draft.parent = parent
            copy.record.parent = parent.map { Record.Reference(recordName: $0) }
        }
        return copy
    }

    func lookUp(_ device: Int, _ zone: String, _ random: inout SeededRandom) -> LookUp? {
        let names = Self.recordNames.filter { _ in random.chance(35) }
        guard !names.isEmpty else { return nil }
        let desired = random.chance(40) ? ModelFields.keys.filter { _ in random.chance(50) } : nil
        return LookUp(
            device: device, zone: zone, names: names, desired: desired,
            keeps: Set(names.filter { _ in random.chance(60) }))
    }
}
