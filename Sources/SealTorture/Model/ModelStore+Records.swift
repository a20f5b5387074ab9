import SealKit

extension ModelStore {
    /// One call of a person to modify records of one zone.
    mutating func modify(
        _ zoneName: String, by person: Int = 0, saving: [Draft], deleting: [String], policy: Database.SavePolicy,
        atomically: Bool
    ) -> [String: Outcome] {
        guard open(zoneName)?.hierarchies.isEmpty ?? true else {
            return modifyHierarchies(
                zoneName, by: person, saving: saving, deleting: deleting, policy, atomically: atomically)
        }
        let names = saving.map(\.name) + deleting
        guard let known = zone(zoneName, for: person) else { return outcomes(names, .failed(.zoneNotFound)) }
        // Nothing is compared with what is there before somebody may write; but what the device itself knows to fail it
        // does not send.
        let absent = deleting.filter { known.records[$0]?.isDeleted != false }
        let past = Set(saving.filter { $0.base.map { $0.life != known.life } ?? false }.map(\.name))
        let sent = atomically && !past.isEmpty ? [] : names.filter { !past.contains($0) && !absent.contains($0) }
        let barred = bar(person, zoneName)
        if let barred, !(sent.isEmpty && past.isEmpty) {
            // Of a copy of an earlier life the device knows by itself, if it has heard of the new one: else it is sent.
            return outcomes(names, .failed(barred))
                .merging(outcomes(Array(past), .failedByOne(of: [barred, .unknownItem]))) { $1 }
                .merging(outcomes(absent, .deleted)) { $1 }
        }
        if known.isKeyDue, !sent.isEmpty { openKey(zoneName) }
        guard var zone = open(zoneName) else { return [:] }
        var failures: [String: Code] = [:]
        var saves: [String: Stored] = [:]
        for draft in saving {
            switch merged(draft, by: person, in: zone, policy) {
            case .success(let stored): saves[draft.name] = stored
            case .failure(let error): failures[draft.name] = error.code
            }
        }
        // Deleting what is not there is a success, whatever becomes of the others.
        var deletes = Set(deleting).subtracting(absent)
        let gone = Self.refuseBrokenReferences(&saves, &deletes, &failures, in: zone)

        if atomically, !failures.isEmpty {
            var result = outcomes(Array(saves.keys) + Array(deletes), .failed(.batchRequestFailed))
            for (name, code) in failures { result[name] = .failed(code) }
            for name in deleting where result[name] == nil { result[name] = .deleted }
            return result
        }
        var result = failures.mapValues { Outcome.failed($0) }
        var told: [News] = []
        for name in deleting where failures[name] == nil { result[name] = .deleted }
        for name in deletes.sorted() + gone.keys.sorted() {
            guard var stored = zone.records[name] else { continue }
            told.append(News(zone: zoneName, record: (name, stored)))
            stored.isDeleted = true
            stored.wentWith = gone[name]
            stored.version = nextVersion()
            zone.records[name] = stored
        }
        for (name, stored) in saves.sorted(by: { $0.key < $1.key }) {
            var stored = stored
            stored.version = nextVersion()
            zone.records[name] = stored
            result[name] = .saved(stored)
            told.append(News(zone: zoneName, record: (name, stored)))
        }
        if !told.isEmpty { zone.touched = nextVersion() }
        put(zone, zoneName, told)
        return result
    }

    /// Why somebody writes nothing at all there now.
    private func bar(_ person: Int, _ zone: String) -> Code? {
        guard permission(of: person, in: zone) == .readWrite else { return .permissionFailure }
        return role(of: person, in: zone) == .publicUser && zones[zone]?.isKeyDue == true ? .rotationDue : nil
    }

    func outcomes(_ names: [String], _ outcome: Outcome) -> [String: Outcome] {
        Dictionary(names.map { ($0, outcome) }) { first, _ in first }
    }

    struct Refusal: Error { let code: Code }

    /// What saving would store; the version is not given yet.
    mutating func merged(
        _ draft: Draft, by person: Int, in zone: Zone, _ policy: Database.SavePolicy
    ) -> Result<Stored, Refusal> {
        // A copy from an earlier life of the zone is a copy of something that is gone.
        if let base = draft.base, base.life != zone.life { return .failure(Refusal(code: .unknownItem)) }
        guard let server = zone.records[draft.name], !server.isDeleted else {
            guard draft.base == nil else { return .failure(Refusal(code: .unknownItem)) }
            if let former = zone.records[draft.name], former.wentWith != nil, former.type != draft.type {
                return .failure(Refusal(code: .invalidArguments))
            }
            let former = zone.records[draft.name].flatMap { $0.wentWith == nil ? nil : $0.creator }
            return .success(stored(draft, by: former ?? person, over: nil, in: zone))
        }
        if draft.base?.version == server.version {
            return .success(stored(draft, by: server.creator, over: server, in: zone))
        }
        // Saved again without a change: nothing is lost by saving over it.
        let isUnchanged = draft.base.map { $0.showsTheSame(as: server) } ?? false
        guard isUnchanged || policy != .ifServerRecordUnchanged else {
            return .failure(Refusal(code: .serverRecordChanged))
        }
        var result = server
        let keys =
            policy != .allKeys ? draft.changed : draft.changed.union(draft.fields.keys).subtracting(draft.omitted)
        for key in keys { result.fields[key] = draft.fields[key] }
        result.marks = marks(of: result.fields, written: keys, over: server, in: zone)
        result.epoch = zone.epoch
        if draft.parent != draft.base?.parent { result.parent = draft.parent }
        return .success(result)
    }

    private mutating func stored(_ draft: Draft, by creator: Int, over former: Stored?, in zone: Zone) -> Stored {
        Stored(
            type: draft.type, fields: draft.fields, parent: draft.parent, creator: creator, version: 0,
            marks: marks(of: draft.fields, written: draft.changed, over: former, in: zone), epoch: zone.epoch)
    }

    private mutating func marks(
        of fields: [String: Int], written: Set<String>, over former: Stored?, in zone: Zone
    ) -> [String: Int] {
        let isSealedAnew = former?.epoch != zone.epoch
        var marks: [String: Int] = [:]
        for (key, value) in fields {
            if let mark = former?.marks[key], !written.contains(key), !isSealedAnew || !ModelFields.sealed.contains(key)
            {
                marks[key] = mark
            } else {
                // The same value sealed twice is two writings.
                marks[key] = ModelFields.sealed.contains(key) ? nextVersion() : value
            }
        }
        return marks
    }
}
