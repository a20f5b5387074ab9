import CloudKit
import Foundation

/// The sync layer of an app that was written for iCloud.
struct CloudNotes {
    let database: CKDatabase
    let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)

    init(container: CKContainer) {
        database = container.privateCloudDatabase
    }

    func save(_ text: String, as name: String) async throws {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        note["text"] = text
        try await database.save(note)
    }

    func texts() async throws -> [String] {
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        return try changes.modificationResultsByID.values.compactMap { try $0.get().record["text"] as? String }
    }
}
