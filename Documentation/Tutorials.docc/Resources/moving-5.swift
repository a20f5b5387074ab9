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

    /// Saves a new note; a name that is there already is `serverRecordChanged`.
    func save(_ text: String, as name: String) async throws {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        note.encryptedValues["text"] = text
        do {
            try await database.save(note)
        } catch let error as CKError where error.code == .zoneNotFound {
            try await database.save(CKRecordZone(zoneID: zoneID))
            try await database.save(note)
        }
    }

    /// Changes what a note says, on top of whatever another device has made of it meanwhile.
    func edit(_ name: String, _ change: (String) -> String) async throws {
        var note = try await database.record(for: CKRecord.ID(recordName: name, zoneID: zoneID))
        while true {
            note.encryptedValues["text"] = change(note.encryptedValues["text"] as? String ?? "")
            do {
                try await database.save(note)
                return
            } catch let error as CKError where error.code == .serverRecordChanged {
                guard let theirs = error.serverRecord else { throw error }
                note = theirs
            }
        }
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
