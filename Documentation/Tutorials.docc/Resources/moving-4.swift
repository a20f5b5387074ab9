import CloudKit
import Foundation

#if os(Linux)
    import SealKit
#endif

/// The sync layer of an app that was written for iCloud.
struct CloudNotes {
    let database: CKDatabase
    let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)

    init(container: CKContainer) {
        database = container.privateCloudDatabase
    }

    #if os(Linux)
        /// There is no account of the system here. Without this, the command line's account is found by itself.
        static func signIn(keyFile: URL) {
            CKContainer.configure(
                CKContainer.Setup(
                    account: .keyStore(
                        FileKeyStore(file: keyFile), trustFile: keyFile.appendingPathExtension("trust")),
                    containerIdentifier: "iCloud.com.example.notes"))
        }
    #endif

    func save(_ text: String, as name: String) async throws {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        note.encryptedValues["text"] = text
        try await database.save(note)
    }

    func texts() async throws -> [String] {
        var texts: [String] = []
        var token: CKServerChangeToken?
        while true {
            let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            for (id, result) in changes.modificationResultsByID {
                switch result {
                case .success(let note):
                    if let text = note.record.encryptedValues["text"] as? String { texts.append(text) }
                case .failure(let error): print(id.recordName, error)
                }
            }
            guard changes.moreComing else { return texts }
            token = changes.changeToken
        }
    }
}
