import Foundation
import SealKit

/// Notes on a server that cannot read them.
struct Notebook {
    let account: Account
    let database: Database
    let zoneID: RecordZone.ID

    /// The notebook of the account whose keys lie in `folder`; at the first start there is none, and one is made.
    init(server: String, folder: URL, passphrase: String, show: (RecoveryKey) -> Void) async throws {
        let store = FileKeyStore(file: folder.appendingPathComponent("account.json")) { passphrase }
        if let kept = try await Account.load(from: store) {
            account = kept
        } else {
            let made = try await Account.create(transport: try HTTPTransport(server: server), in: store)
            account = made.account
            show(made.recoveryKey)
        }
        let trust = try TrustStore(file: folder.appendingPathComponent("account.json.trust"))
        database = try Container("com.example.notes", account: account, trust: trust).privateDatabase
        zoneID = try await database.save(RecordZone(zoneName: "Notes")).zoneID
    }

    /// Saves a note: the server sees in which folder it is, and not what it says.
    @discardableResult
    func add(_ text: String, to folder: String) async throws -> Record.ID {
        var note = Record(recordType: "Note", recordID: Record.ID(zoneID: zoneID))
        note["folder"] = folder
        note.encryptedValues["text"] = text
        return try await database.save(note).recordID
    }

    /// What all notes say, oldest change first.
    func texts() async throws -> [String] {
        var texts: [String] = []
        for try await changes in database.allRecordZoneChanges(inZoneWith: zoneID) {
            for (id, result) in changes.modifications {
                switch result {
                case .success(let note): if let text = note.encryptedValues["text"] as? String { texts.append(text) }
                case .failure(let error): print(id.recordName, error.reason)
                }
            }
        }
        return texts
    }

    /// The notes of one folder: it is a plain field, so the server can look for it.
    func notes(in folder: String) async throws -> [Record] {
        let query = Query(recordType: "Note", predicate: try Query.Predicate("folder = %@", folder))
        var notes: [Record] = []
        var page = try await database.records(matching: query, inZoneWith: zoneID)
        while true {
            for (id, result) in page.matchResults {
                switch result {
                case .success(let note): notes.append(note)
                case .failure(let error): print(id.recordName, error.reason)
                }
            }
            guard let cursor = page.queryCursor else { return notes }
            page = try await database.records(continuingMatchFrom: cursor)
        }
    }
}
