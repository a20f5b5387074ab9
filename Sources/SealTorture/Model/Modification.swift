import SealKit

/// Saves and deletes records of one zone.
struct Modification: ModelCall {
    let device: Int
    let zone: String
    let saving: [ModelDevice.Copy]
    let deleting: [String]
    let policy: Database.SavePolicy
    let isAtomic: Bool
    /// Names of which the device keeps what it is answered.
    let keeps: Set<String>

    struct Answer: Sendable {
        let saved: [String: Result<Record, SealKitError>]
        let deleted: [String: Result<Void, SealKitError>]
    }

    var opensDueKey: Bool { true }
    var description: String {
        let saves = saving.map { copy in
            let draft = copy.draft
            return
                "\(draft.name) (base \(draft.base.map { "\($0.version)" } ?? "none"), parent \(draft.parent ?? "none"), goes with \(ModelFields.target(of: draft.fields) ?? "none"), changed \(draft.changed.sorted()))"
        }
        return
            "device \(device) in \(zone): \(policy) \(isAtomic ? "atomically" : "one by one") saves \(saves) deletes \(deleting)"
    }

    func answer(from device: ModelDevice) async throws(SealKitError) -> Answer {
        let results = try await device.database.modifyRecords(
            saving: saving.map(\.record), deleting: deleting.map { device.recordID($0, zone) }, savePolicy: policy,
            atomically: isAtomic)
        return Answer(
            saved: Dictionary(uniqueKeysWithValues: results.saveResults.map { ($0.key.recordName, $0.value) }),
            deleted: Dictionary(uniqueKeysWithValues: results.deleteResults.map { ($0.key.recordName, $0.value) }))
    }

    func explain(
        _ answer: Answer, by store: inout ModelStore, for device: ModelDevice
    ) throws -> [ModelDevice.Key: ModelDevice.Copy?] {
        let before = store.open(zone)
        var expected = store.modify(
            zone, by: device.person, saving: saving.map(\.draft), deleting: deleting, policy: policy,
            atomically: isAtomic)
        // Of several culprits in an atomic call one is named; the others may be told apart from it or not.
        let came = answer.saved.mapValues(Self.code).merging(answer.deleted.mapValues(Self.code)) { $1 }
        for (name, code) in came { expected[name] = expected[name]?.settled(by: code) }
        let codes = came.values
        let culprits = Set(expected.values.compactMap { if case .failed(let code) = $0 { code } else { nil } })
        let hasCulprit = isAtomic && codes.contains { $0 != nil && $0 != .batchRequestFailed }
        var copies: [ModelDevice.Key: ModelDevice.Copy?] = [:]
        for copy in saving {
            let name = copy.draft.name
            guard let result = answer.saved[name] else { throw Finding("no result for \(name)") }
            // A copy from before an earlier deletion of the zone: the SDK need not ask whether there is a zone at all
            // now.
            if expected[name] == .failed(.zoneNotFound), Self.code(result) == .unknownItem,
                let base = copy.draft.base, base.life != store.zones[zone]?.life
            {
                continue
            }
            if hasCulprit, Self.code(result) == .batchRequestFailed, case .failed = expected[name] { continue }
            // A refusal that a key's renewal meets is every item's.
            if hasCulprit, zone == ModelRun.hierarchyZone, Self.code(result) == .permissionFailure,
                expected[name] == .failed(.batchRequestFailed), culprits.contains(.permissionFailure)
            {
                continue
            }
            do throws(Finding) {
                try settle(
                    copy.draft, result, expected[name], before: store.conflictViews ?? [before], in: &store, &copies)
            } catch {
                throw Finding("\(error)\(Self.culprits(answer))")
            }
        }
        for name in deleting {
            guard let result = answer.deleted[name] else { throw Finding("no result for \(name)") }
            if case .failure(let error) = result {
                if hasCulprit, error.code == .batchRequestFailed, case .failed = expected[name] { continue }
                try check(
                    expected[name] == .failed(error.code),
                    "deleting \(name): \(error.code.rawValue) (\(error.reason)), not \(Self.text(expected[name]))")
            } else {
                try check(expected[name] == .deleted, "deleting \(name): success, not \(Self.text(expected[name]))")
            }
        }
        return copies
    }

    private static func code<T>(_ result: Result<T, SealKitError>) -> SealKitError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    private func settle(
        _ draft: ModelStore.Draft, _ result: Result<Record, SealKitError>, _ expected: ModelStore.Outcome?,
        before: [ModelStore.Zone?], in store: inout ModelStore, _ copies: inout [ModelDevice.Key: ModelDevice.Copy?]
    ) throws(Finding) {
        let name = draft.name
        let key = ModelDevice.Key(zone: zone, name: name)
        let keeps = keeps.contains(name)
        switch (result, expected) {
        case (.success(let record), .saved(let stored)):
            // What the device had not at hand, and that alone, may still be left out of what comes back.
            let left = draft.omitted.intersection(record.omittedKeys)
            try record.checkEqual(stored, desired: stored.fields.keys.filter { !left.contains($0) })
            store.note(record, as: stored)
            if keeps, let life = store.open(zone)?.life { copies[key] = record.copy(stored, life: life) }
        case (.failure(let error), .failed(let code)):
            try check(
                error.code == code, "saving \(name): \(error.code.rawValue) (\(error.reason)), not \(code.rawValue)")
            guard code == .serverRecordChanged else {
                if keeps, code == .unknownItem { copies.updateValue(nil, forKey: key) }
                return
            }
            guard let server = error.serverRecord else {
                throw Finding("saving \(name): a conflict comes without the server's record")
            }
            try check(
                error.clientRecord?.recordID.recordName == name,
                "saving \(name): a conflict comes without the client's record")
            var different: Finding?
            for case let view? in before {
                guard let stored = view.records[name] else { continue }
                do throws(Finding) { try server.checkEqual(stored) } catch {
                    different = different ?? error
                    continue
                }
                store.note(server, as: stored)
                if keeps { copies[key] = server.copy(stored, life: view.life) }
                return
            }
            guard !before.isEmpty else { return }
            throw different ?? Finding("saving \(name): a conflict shows a record that there is not")
        case (.success, _): throw Finding("saving \(name): success, not \(Self.text(expected))")
        case (.failure(let error), _):
            throw Finding("saving \(name): \(error.code.rawValue) (\(error.reason)), not \(Self.text(expected))")
        }
    }

    /// Why others of an atomic call failed, which tells more than that one did for them.
    private static func culprits(_ answer: Answer) -> String {
        let saved = answer.saved.map { ($0.key, $0.value.map { _ in () }) }
        let culprits = (saved + answer.deleted.map { ($0.key, $0.value) }).compactMap { name, result -> String? in
            guard case .failure(let error) = result, error.code != .batchRequestFailed else { return nil }
            return "\(name): \(error.code.rawValue) (\(error.reason))"
        }
        return culprits.isEmpty ? "" : "; of the others " + culprits.sorted().joined(separator: ", ")
    }

    private static func text(_ outcome: ModelStore.Outcome?) -> String {
        switch outcome {
        case .failed(let code): code.rawValue
        case .failedByOne(let codes): codes.map(\.rawValue).sorted().joined(separator: " or ")
        case .saved, .deleted: "success"
        case nil: "nothing"
        }
    }
}
