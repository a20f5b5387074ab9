import CloudKit

/// An app's model, as it is written against Apple's CloudKit.
public struct Note {
    public let record: CKRecord

    public init(title: String, pages: Int, in zoneID: CKRecordZone.ID = .default) {
        record = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID))
        record["title"] = title as CKRecordValue
        record["pages"] = pages
        record["due"] = Date()
        record.encryptedValues["body"] = "Tomatoes go left"
    }

    public var title: String? { record["title"] as? String }
    public var body: String? { record.encryptedValues["body"] as? String }
}

@MainActor public final class NotesModel {
    public private(set) var notes: [CKRecord.ID: Note] = [:]
    private let container: CKContainer
    private lazy var database = container.privateCloudDatabase
    private var token: CKServerChangeToken?

    public init(container: CKContainer) { self.container = container }

    public func save(_ note: Note) async throws {
        do {
            try await database.save(note.record)
        } catch let error as CKError where error.code == .serverRecordChanged {
            guard let server = error.serverRecord else { throw error }
            for (key, value) in note.record { server[key] = value }
            try await database.save(server)
        } catch CKError.zoneNotFound {
            try await database.save(CKRecordZone(zoneID: note.record.recordID.zoneID))
            try await database.save(note.record)
        }
    }

    public func refresh(_ zoneID: CKRecordZone.ID) async throws {
        var isMore = true
        while isMore {
            let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            for (id, result) in changes.modificationResultsByID {
                notes[id] = Note(record: try result.get().record)
            }
            for deletion in changes.deletions { notes[deletion.recordID] = nil }
            (token, isMore) = (changes.changeToken, changes.moreComing)
        }
    }

    public func find(_ folder: String) async throws -> [CKRecord] {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "folder == %@", folder))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let (matches, _) = try await database.records(matching: query, resultsLimit: 50)
        return matches.compactMap { try? $0.1.get() }
    }

    public func forget(_ id: CKRecord.ID) {
        database.delete(withRecordID: id) { [weak self] id, error in
            guard let id, error == nil else { return }
            Task { @MainActor in self?.notes[id] = nil }
        }
    }
}

extension Note {
    init(record: CKRecord) { self.record = record }
}

/// What an app keeps beside its rows.
public func systemFields(of record: CKRecord) -> Data {
    let coder = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: coder)
    return coder.encodedData
}
