import Foundation
import SealKit

/// Zones, by async functions.
extension CKDatabase {
    public func allRecordZones() async throws -> [CKRecordZone] {
        try await inCloudKitsWords { try await allZones() }
    }

    /// - Throws: `zoneNotFound`.
    public func recordZone(for recordZoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await inCloudKitsWords { try Self.only(try await fetchZones([recordZoneID]), recordZoneID) }
    }

    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await inCloudKitsWords { try await fetchZones(ids).mapValues(\.untyped) }
    }

    /// Makes a zone; one that is there is left as it is, with its records.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await inCloudKitsWords {
            try Self.only(try await modifyZones(saving: [zone], deleting: []).saveResults, zone.zoneID)
        }
    }

    /// A zone that is not there is no failure; `modifyRecordZones` reports it as `zoneNotFound`.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await inCloudKitsWords {
            do {
                try Self.only(try await modifyZones(saving: [], deleting: [zoneID]).deleteResults, zoneID)
            } catch CKError.zoneNotFound {}
            return zoneID
        }
    }

    @discardableResult
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone] = [], deleting recordZoneIDsToDelete: [CKRecordZone.ID] = []
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        try await inCloudKitsWords {
            let results = try await modifyZones(saving: recordZonesToSave, deleting: recordZoneIDsToDelete)
            return (results.saveResults.mapValues(\.untyped), results.deleteResults.mapValues(\.untyped))
        }
    }
}
