import SealKit

/// Opens a new key of a zone.
struct Rotation: ModelCall {
    let device: Int
    let zone: String

    var opensDueKey: Bool { false }
    var description: String { "device \(device) opens a new key of \(zone)" }

    func answer(from device: ModelDevice) async throws(SealKitError) -> SealKitError.Code? {
        do {
            try await device.database.rotateKeys(of: device.zoneID(zone))
            return nil
        } catch {
            return error.code
        }
    }

    func explain(
        _ answer: SealKitError.Code?, by store: inout ModelStore, for device: ModelDevice
    ) throws -> [ModelDevice.Key: ModelDevice.Copy?] {
        try checkCode(answer, store.rotate(zone, by: device.person))
        return [:]
    }
}

/// Seals again what is under older keys.
struct Rekeying: ModelCall {
    let device: Int
    let zone: String
    /// Otherwise others may write at the same time what it was about to seal.
    let isAlone: Bool

    var opensDueKey: Bool { true }
    var description: String { "device \(device) rekeys \(zone)" }

    func answer(from device: ModelDevice) async throws(SealKitError) -> Result<Database.RekeyResult, SealKitError> {
        do { return .success(try await device.database.rekey(device.zoneID(zone))) } catch { return .failure(error) }
    }

    func explain(
        _ answer: Result<Database.RekeyResult, SealKitError>, by store: inout ModelStore, for device: ModelDevice
    ) throws -> [ModelDevice.Key: ModelDevice.Copy?] {
        switch (answer, store.rekey(zone, by: device.person)) {
        case (.success(let result), .success(let expected)):
            try check(result.rekeyed == expected.count, "rekeys \(result.rekeyed) records, not \(expected.count)")
            try check(!isAlone || result.writtenByOthers == 0, "leaves \(result.writtenByOthers) records to others")
            let failures = result.failures.map { "\($0.key.recordName): \($0.value.code.rawValue)" }.sorted()
            let left =
                expected.isShareLeft ? ["\(Share.recordName): \(SealKitError.Code.permissionFailure.rawValue)"] : []
            try check(failures == left, "fails for \(failures), not for \(left)")
        case (.success, .failure(let refusal)): try checkCode(nil, refusal.code)
        case (.failure(let error), .success): try checkCode(error.code, nil)
        case (.failure(let error), .failure(let refusal)): try checkCode(error.code, refusal.code)
        }
        return [:]
    }
}
