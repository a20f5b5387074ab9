import SealKit
import SealLab

extension ModelRun {
    /// Saves and deletes: new records, changed copies, copies that are behind, under every policy.
    mutating func modify(_ device: Int, _ zone: String, _ random: inout SeededRandom) async throws {
        let count = random.chance(45) ? 1 : 2 + random.below(4)
        let policies: [Database.SavePolicy] = [.ifServerRecordUnchanged, .ifServerRecordUnchanged, .changedKeys, .allKeys]
        let policy = policies[random.below(policies.count)]
        let isAtomic = random.chance(50)
        var copies: [String: ModelDevice.Copy] = [:]
        var deletes: Set<String> = []
        for _ in 0..<count {
            let name = Self.recordNames[random.below(Self.recordNames.count)]
            guard copies[name] == nil, !deletes.contains(name) else { continue }
            if random.chance(20) { deletes.insert(name) } else { copies[name] = draft(device, zone, name, &random) }
        }
        // Whether a record can go while another one of the call comes to it depends on their order: nobody may rely on it.
        for copy in copies.values { if let parent = copy.draft.parent { deletes.remove(parent) } }
        let saving = copies.values.sorted { $0.draft.name < $1.draft.name }
        let deleting = deletes.sorted()
        doing = """
            device \(device) in \(zone): \(policy) \(isAtomic ? "atomically" : "one by one") saves \
            \(saving.map { "\($0.draft.name) (base \($0.draft.base.map { "\($0.version)" } ?? "none"), parent \($0.draft.parent ?? "none"), changed \($0.draft.changed.sorted()))" }) \
            deletes \(deleting)
            """
        let before = store.open(zone)
        let expected = store.modify(
            zone, saving: saving.map(\.draft), deleting: deleting, policy: policy, atomically: isAtomic)
        let id = RecordZone.ID(zoneName: zone)
        let results = try await devices[device].database.modifyRecords(
            saving: saving.map(\.record), deleting: deleting.map { Record.ID(recordName: $0, zoneID: id) }, savePolicy: policy,
            atomically: isAtomic)
        // Of several culprits in an atomic call one is named; the others may be told apart from it or not.
        let codes = results.saveResults.values.map(Self.code) + results.deleteResults.values.map(Self.code)
        let hasCulprit = isAtomic && codes.contains { $0 != nil && $0 != .batchRequestFailed }
        for copy in saving {
            guard let result = results.saveResults[copy.record.recordID] else { throw Finding("no result for \(copy.draft.name)") }
            let keeps = random.chance(70)
            // A copy from before an earlier deletion of the zone: the SDK need not ask whether there is a zone at all now.
            if expected[copy.draft.name] == .failed(.zoneNotFound), Self.code(result) == .unknownItem,
                let base = copy.draft.base, base.life != store.zones[zone]?.life
            {
                continue
            }
            if hasCulprit, Self.code(result) == .batchRequestFailed, case .failed = expected[copy.draft.name] { continue }
            try settle(device, zone, copy.draft.name, result, expected[copy.draft.name], before: before, keeps: keeps)
        }
        for name in deleting {
            guard let result = results.deleteResults[Record.ID(recordName: name, zoneID: id)] else { throw Finding("no result for \(name)") }
            if case .failure(let error) = result {
                if hasCulprit, error.code == .batchRequestFailed, case .failed = expected[name] { continue }
                try check(expected[name] == .failed(error.code), "deleting \(name): \(error.code.rawValue), not \(text(expected[name]))")
            } else {
                try check(expected[name] == .deleted, "deleting \(name): success, not \(text(expected[name]))")
            }
        }
    }

    private static func code<T>(_ result: Result<T, SealKitError>) -> SealKitError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    /// A new record, or a changed copy of one that this device knows.
    private func draft(_ device: Int, _ zone: String, _ name: String, _ random: inout SeededRandom) -> ModelDevice.Copy {
        let id = Record.ID(recordName: name, zoneID: RecordZone.ID(zoneName: zone))
        var copy: ModelDevice.Copy
        if let known = devices[device].copies[ModelDevice.Key(zone: zone, name: name)], random.chance(80) {
            copy = known
        } else {
            let type = random.chance(80) ? "Note" : "Task"
            copy = ModelDevice.Copy(
                record: Record(recordType: type, recordID: id),
                draft: ModelStore.Draft(name: name, type: type, fields: [:], changed: []))
        }
        for _ in 0..<(1 + random.below(3)) {
            let key = ModelFields.keys[random.below(ModelFields.keys.count)]
            let value = random.chance(80) ? random.below(1000) : nil
            ModelFields.set(key, value, in: &copy.record)
            copy.draft.fields[key] = value
            copy.draft.changed.insert(key)
            copy.draft.omitted.remove(key)
        }
        if random.chance(25) {
            // Parents come earlier in the alphabet: no record is its own ancestor.
            let earlier = Self.recordNames.filter { $0 < name }
            let parent = random.chance(70) ? random.one(of: earlier) : nil
            copy.draft.parent = parent
            copy.record.parent = parent.map { Record.Reference(recordName: $0) }
        }
        return copy
    }

    private mutating func settle(
        _ device: Int, _ zone: String, _ name: String, _ result: Result<Record, SealKitError>, _ expected: ModelStore.Outcome?,
        before: ModelStore.Zone?, keeps: Bool
    ) throws {
        let key = ModelDevice.Key(zone: zone, name: name)
        switch (result, expected) {
        case (.success(let record), .saved(let stored)):
            // What was not at hand may still be left out of what comes back.
            try record.checkEqual(stored, desired: stored.fields.keys.filter { !record.omittedKeys.contains($0) })
            if keeps, let life = store.open(zone)?.life { devices[device].copies[key] = record.copy(stored, life: life) }
        case (.failure(let error), .failed(let code)):
            try check(error.code == code, "saving \(name): \(error.code.rawValue), not \(code.rawValue)")
            guard code == .serverRecordChanged else {
                if keeps, code == .unknownItem { devices[device].copies[key] = nil }
                return
            }
            guard let server = error.serverRecord, let stored = before?.records[name] else {
                throw Finding("saving \(name): a conflict comes without the server's record")
            }
            try check(error.clientRecord?.recordID.recordName == name, "saving \(name): a conflict comes without the client's record")
            try server.checkEqual(stored)
            if keeps, let life = before?.life { devices[device].copies[key] = server.copy(stored, life: life) }
        case (.success, _): throw Finding("saving \(name): success, not \(text(expected))")
        case (.failure(let error), _): throw Finding("saving \(name): \(error.code.rawValue), not \(text(expected))")
        }
    }

    private func text(_ outcome: ModelStore.Outcome?) -> String {
        switch outcome {
        case .failed(let code): code.rawValue
        case .saved, .deleted: "success"
        case nil: "nothing"
        }
    }

    mutating func lookUp(_ device: Int, _ zone: String, _ random: inout SeededRandom) async throws {
        let names = Self.recordNames.filter { _ in random.chance(35) }
        guard !names.isEmpty else { return }
        let desired = random.chance(40) ? ModelFields.keys.filter { _ in random.chance(50) } : nil
        doing = "device \(device) looks up \(names) in \(zone), keys \(desired.map { "\($0)" } ?? "all")"
        let id = RecordZone.ID(zoneName: zone)
        let found: [Record.ID: Result<Record, SealKitError>]
        do {
            found = try await devices[device].database.records(
                for: names.map { Record.ID(recordName: $0, zoneID: id) }, desiredKeys: desired)
        } catch {
            return try checkCode(error.code, nil)
        }
        let known = store.open(zone)
        for name in names {
            let stored = known?.records[name].flatMap { $0.isDeleted ? nil : $0 }
            switch (found[Record.ID(recordName: name, zoneID: id)], stored) {
            case (.success(let record), let stored?):
                try record.checkEqual(stored, desired: desired)
                if random.chance(60), let life = known?.life {
                    devices[device].copies[ModelDevice.Key(zone: zone, name: name)] = record.copy(stored, life: life)
                }
            case (.failure(let error), nil): try checkCode(error.code, known == nil ? .zoneNotFound : .unknownItem)
            case (.failure(let error), _): throw Finding("\(name) fails with \(error.code.rawValue)")
            case (.success, nil): throw Finding("\(name) is there and should not be")
            case (nil, _): throw Finding("no result for \(name)")
            }
        }
    }
}
