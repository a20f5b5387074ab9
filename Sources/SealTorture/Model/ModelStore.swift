import SealKit

/// What CloudKit's documentation says that a private database holds, and how it answers: in memory, without keys,
/// statements, positions or a network.
struct ModelStore {
    typealias Code = SealKitError.Code

    /// A record as the store has it.
    struct Stored: Equatable {
        var type: String
        var fields: [String: Int]
        var parent: String?
        /// Different for each change of any record: what a change tag stands for.
        var version: Int
        /// What can be told of each field without opening it: a plain one's value, a sealed one's writing.
        var marks: [String: Int] = [:]
        var isDeleted = false
    }

    struct Zone {
        /// Goes up when the zone is deleted and made again.
        var life: Int
        var isOpen = true
        var records: [String: Stored] = [:]
        /// The version of its last change.
        var touched: Int
    }

    /// A record as a device is about to save it.
    struct Draft {
        var name: String
        var type: String
        var fields: [String: Int]
        /// Keys that were set or removed since it was fetched.
        var changed: Set<String>
        /// Keys that exist, but were not fetched: they are carried over, or stay as the server has them.
        var omitted: Set<String> = []
        var parent: String?
        var base: Base?
    }

    /// What a device's copy was when it was fetched or saved.
    struct Base {
        var version: Int
        var life: Int
        var type: String
        var parent: String?
        var marks: [String: Int]
    }

    enum Outcome: Equatable {
        case saved(Stored)
        case deleted
        case failed(Code)
    }

    private(set) var zones: [String: Zone] = [:]
    private var lastVersion = 0

    func open(_ zone: String) -> Zone? { zones[zone].flatMap { $0.isOpen ? $0 : nil } }

    private mutating func nextVersion() -> Int {
        lastVersion += 1
        return lastVersion
    }

    // MARK: Zones

    /// One that is open stays as it is, with its records.
    mutating func makeZone(_ name: String) {
        guard open(name) == nil else { return }
        zones[name] = Zone(life: (zones[name]?.life ?? 0) + 1, touched: nextVersion())
    }

    mutating func deleteZone(_ name: String) -> Code? {
        guard var zone = open(name) else { return .zoneNotFound }
        zone.isOpen = false
        zone.records = [:]
        zone.touched = nextVersion()
        zones[name] = zone
        return nil
    }

    // MARK: Records

    /// One call to modify records of one zone.
    mutating func modify(
        _ zoneName: String, saving: [Draft], deleting: [String], policy: Database.SavePolicy, atomically: Bool
    ) -> [String: Outcome] {
        let names = saving.map(\.name) + deleting
        guard var zone = open(zoneName) else { return outcomes(names, .failed(.zoneNotFound)) }
        var failures: [String: Code] = [:]
        var saves: [String: Stored] = [:]
        for draft in saving {
            switch merged(draft, in: zone, policy) {
            case .success(let stored): saves[draft.name] = stored
            case .failure(let error): failures[draft.name] = error.code
            }
        }
        // Deleting what is not there is a success, whatever becomes of the others.
        var deletes = Set(deleting.filter { zone.records[$0]?.isDeleted == false })
        refuseBrokenParents(&saves, &deletes, &failures, in: zone)

        if atomically, !failures.isEmpty {
            var result = outcomes(Array(saves.keys) + Array(deletes), .failed(.batchRequestFailed))
            for (name, code) in failures { result[name] = .failed(code) }
            for name in deleting where result[name] == nil { result[name] = .deleted }
            return result
        }
        var result = failures.mapValues { Outcome.failed($0) }
        for name in deleting where failures[name] == nil {
            result[name] = .deleted
            guard deletes.contains(name) else { continue }
            zone.records[name]?.isDeleted = true
            let version = nextVersion()
            zone.records[name]?.version = version
        }
        for (name, stored) in saves.sorted(by: { $0.key < $1.key }) {
            var stored = stored
            stored.version = nextVersion()
            zone.records[name] = stored
            result[name] = .saved(stored)
        }
        if !saves.isEmpty || !deletes.isEmpty { zone.touched = nextVersion() }
        zones[zoneName] = zone
        return result
    }

    private func outcomes(_ names: [String], _ outcome: Outcome) -> [String: Outcome] {
        Dictionary(names.map { ($0, outcome) }) { first, _ in first }
    }

    struct Refusal: Error { let code: Code }

    /// What saving would store; the version is not given yet.
    private mutating func merged(_ draft: Draft, in zone: Zone, _ policy: Database.SavePolicy) -> Result<Stored, Refusal> {
        // A copy from an earlier life of the zone is a copy of something that is gone.
        if let base = draft.base, base.life != zone.life { return .failure(Refusal(code: .unknownItem)) }
        guard let server = zone.records[draft.name], !server.isDeleted else {
            guard draft.base == nil else { return .failure(Refusal(code: .unknownItem)) }
            return .success(stored(draft, over: [:]))
        }
        if draft.base?.version == server.version { return .success(stored(draft, over: server.marks)) }
        // Saved again without a change: nothing is lost by saving over it.
        let isUnchanged = draft.base.map { $0.marks == server.marks && $0.type == server.type && $0.parent == server.parent } ?? false
        guard isUnchanged || policy != .ifServerRecordUnchanged else { return .failure(Refusal(code: .serverRecordChanged)) }
        var result = server
        let keys = policy != .allKeys ? draft.changed : draft.changed.union(draft.fields.keys).subtracting(draft.omitted)
        for key in keys { result.fields[key] = draft.fields[key] }
        result.marks = marks(of: result.fields, written: keys, over: server.marks)
        if draft.parent != draft.base?.parent { result.parent = draft.parent }
        return .success(result)
    }

    private mutating func stored(_ draft: Draft, over former: [String: Int]) -> Stored {
        Stored(
            type: draft.type, fields: draft.fields, parent: draft.parent, version: 0,
            marks: marks(of: draft.fields, written: draft.changed, over: former))
    }

    private mutating func marks(
        of fields: [String: Int], written: Set<String>, over former: [String: Int]
    ) -> [String: Int] {
        var marks: [String: Int] = [:]
        for (key, value) in fields {
            if let mark = former[key], !written.contains(key) {
                marks[key] = mark
            } else {
                // The same value sealed twice is two writings.
                marks[key] = ModelFields.sealed.contains(key) ? nextVersion() : value
            }
        }
        return marks
    }

    /// A child's parent is there after the call, and what has children stays.
    private func refuseBrokenParents(
        _ saves: inout [String: Stored], _ deletes: inout Set<String>, _ failures: inout [String: Code], in zone: Zone
    ) {
        while true {
            let orphans = saves.filter { _, stored in
                guard let parent = stored.parent, saves[parent] == nil else { return false }
                return deletes.contains(parent) || zone.records[parent].map(\.isDeleted) ?? true
            }.map(\.key)
            let parents = deletes.filter { name in
                saves.values.contains { $0.parent == name }
                    || zone.records.contains { child, stored in
                        stored.parent == name && !stored.isDeleted && !deletes.contains(child) && saves[child] == nil
                    }
            }
            if orphans.isEmpty, parents.isEmpty { return }
            for name in orphans {
                saves[name] = nil
                failures[name] = .referenceViolation
            }
            for name in parents {
                deletes.remove(name)
                failures[name] = .referenceViolation
            }
        }
    }
}
