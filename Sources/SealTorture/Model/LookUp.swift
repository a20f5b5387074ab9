import SealKit

/// Fetches records by name.
struct LookUp: ModelCall {
    let device: Int
    let zone: String
    let names: [String]
    let desired: [String]?
    /// Names of which the device keeps what it is answered.
    let keeps: Set<String>

    var opensDueKey: Bool { false }
    var description: String {
        "device \(device) looks up \(names) in \(zone), keys \(desired.map { "\($0)" } ?? "all")"
    }

    func answer(from device: ModelDevice) async throws(SealKitError) -> [String: Result<Record, SealKitError>] {
        let found = try await device.database.records(
            for: names.map { device.recordID($0, zone) }, desiredKeys: desired)
        return Dictionary(uniqueKeysWithValues: found.map { ($0.key.recordName, $0.value) })
    }

    func explain(
        _ answer: [String: Result<Record, SealKitError>], by store: inout ModelStore, for device: ModelDevice
    ) throws -> [ModelDevice.Key: ModelDevice.Copy?] {
        let known = store.zone(zone, for: device.person)
        var copies: [ModelDevice.Key: ModelDevice.Copy?] = [:]
        for name in names {
            switch (answer[name], known?.live[name]) {
            case (.success(let record), let stored?):
                try record.checkEqual(stored, desired: desired)
                store.note(record, as: stored)
                if keeps.contains(name), let life = known?.life {
                    copies[ModelDevice.Key(zone: zone, name: name)] = record.copy(stored, life: life)
                }
            case (.failure(let error), nil):
                let expected: SealKitError.Code = known == nil ? .zoneNotFound : .unknownItem
                try check(
                    error.code == expected, "\(name) fails with \(error.code.rawValue), not with \(expected.rawValue)")
            case (.failure(let error), _): throw Finding("\(name) fails with \(error.code.rawValue)")
            case (.success, nil): throw Finding("\(name) is there and should not be")
            case (nil, _): throw Finding("no result for \(name)")
            }
        }
        return copies
    }
}
