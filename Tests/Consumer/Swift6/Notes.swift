import Foundation
import SealKit

/// An app's model, as it is written against CloudKit.
public struct Note {
    public var title: String
    public var pages: Int
    public var isPinned: Bool
    public var due: Date?
    public var tags: [String]
    public var body: String?
    public var scan: URL?
    public var folder: Record.Reference?

    public init?(record: Record) {
        guard let title = record["title"] as? String, let pages = record["pages"] as? Int else { return nil }
        self.title = title
        self.pages = pages
        isPinned = (record["isPinned"] as? Bool) ?? false
        due = record["due"] as? Date
        tags = record["tags"] as? [String] ?? []
        body = record.encryptedValues["body"] as? String
        scan = (record["scan"] as? Asset)?.fileURL
        folder = record["folder"] as? Record.Reference
    }

    public static func record(in zoneID: RecordZone.ID, scan: URL) -> Record {
        let record = Record(recordType: "Note", zoneID: zoneID)
        return fill(record, scan: scan)
    }

    private static func fill(_ empty: Record, scan: URL) -> Record {
        var record = empty
        let subtitle: String? = nil
        record["title"] = "Plans"
        record["pages"] = 3
        record["isPinned"] = true
        record["weight"] = 1.5
        record["due"] = Date(timeIntervalSinceReferenceDate: 800_000_000)
        record["tags"] = ["a", "b"]
        record["thumbnail"] = Data([1, 2])
        record["scan"] = Asset(fileURL: scan)
        record["folder"] = Record.Reference(
            recordID: Record.ID(recordName: "folder", zoneID: record.recordID.zoneID), action: .none)
        record["subtitle"] = subtitle
        record["place"] = Location(latitude: 52.5, longitude: 13.4, timestamp: Date(timeIntervalSinceReferenceDate: 0))
        record["count"] = NSNumber(value: 7)
        record["pages"] = (record["pages"] as? Int ?? 0) + 1
        record["draft"] = "gone"
        record["draft"] = nil
        record.encryptedValues["body"] = "Tomatoes go left"
        record.encryptedValues["old"] = "gone"
        record.encryptedValues["old"] = nil
        return record
    }
}

public enum Habits {
    /// What a record's fields are, by a loop over it.
    public static func kinds(of record: Record) -> [String: String] {
        var kinds: [String: String] = [:]
        for (key, value) in record {
            switch value {
            case is Asset: kinds[key] = "asset"
            case is String: kinds[key] = "text"
            case let reference as Record.Reference: kinds[key] = reference.action == .none ? "reference" : "owner"
            case let place as Location: kinds[key] = "place \(place.latitude)"
            case let number as NSNumber: kinds[key] = "number \(number)"
            default: kinds[key] = "other"
            }
        }
        return kinds
    }

    public static func share(of zoneID: RecordZone.ID) -> Share {
        var share = Share(recordZoneID: zoneID)
        share[Share.SystemFieldKey.title] = "Our notes"
        share[.shareType] = "org.example.notes"
        share[.thumbnailImageData] = Data([1])
        share.publicPermission = .none
        return share
    }

    public static func query(_ folder: String) throws -> Query {
        let typed = Query.Field<String>("folder") == folder
        let text = try Query.Predicate("folder = %@ AND pages > 3", folder)
        print(typed)
        return Query(recordType: "Note", predicate: text, sortDescriptors: [.init(key: "pages", ascending: false)])
    }

    /// A field of whatever kind, as a notification brings it.
    public static func text(of value: RecordValue?) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        default: ""
        }
    }

    /// What a new account shows its user.
    public static func shown(_ key: RecoveryKey) -> String { key.text() }

    /// By code.
    public static func isSignedIn(_ database: Database, _ record: Record) async throws -> Bool {
        do {
            try await database.save(record)
            return true
        } catch SealKitError.Code.notAuthenticated {
            return false
        }
    }

    /// What a code asks for, in a function that loops too: `catch let error as SealKitError` at the end would crash
    /// Swift 6.3.
    public static func makeZone(of record: Record, in database: Database) async throws -> (
        children: [Record], refused: SealKitError.Code?
    ) {
        var children: [Record] = []
        for name in ["a", "b"] {
            var child = Record(
                recordType: "Page", recordID: Record.ID(recordName: name, zoneID: record.recordID.zoneID))
            child["note"] = Record.Reference(record: record, action: .deleteSelf)
            children.append(child)
        }
        do {
            try await database.save(RecordZone(zoneID: record.recordID.zoneID))
        } catch {
            switch error.code {
            case .notAuthenticated: return (children, error.code)
            default: throw error
            }
        }
        return (children, nil)
    }

    /// In a loop: the last clause has to take every error, or Swift 6.3 crashes while it compiles this.
    public static func save(_ record: Record, in database: Database, attempts: Int = 3) async throws -> [SealKitError
        .Code]
    {
        var codes: [SealKitError.Code] = []
        var record = record
        for _ in 0..<attempts {
            do {
                record = try await database.save(record)
                return codes
            } catch let error where error.code == .serverRecordChanged {
                guard var server = error.serverRecord else { throw error }
                server["title"] = record["title"]
                record = server
            } catch SealKitError.Code.notAuthenticated {
                codes.append(.notAuthenticated)
            } catch {
                throw error
            }
        }
        return codes
    }

    /// Beside errors of other kinds, which is CloudKit code as it stands.
    public static func read(_ file: URL, into record: Record, _ database: Database) async throws -> SealKitError.Code? {
        var record = record
        while true {
            do {
                record["thumbnail"] = try Data(contentsOf: file)
                record = try await database.save(record)
                return nil
            } catch let error as SealKitError where error.code == .notAuthenticated {
                return error.code
            } catch let error as SealKitError {
                guard let seconds = error.retryAfter else { throw error }
                try await Task.sleep(for: .seconds(seconds))
            }
        }
    }

    public static func sync(_ zoneID: RecordZone.ID, in database: Database) async throws -> [Note] {
        var notes: [Note] = []
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        for (_, result) in changes.modificationResultsByID {
            if let note = Note(record: try result.get().record) { notes.append(note) }
        }
        for deletion in changes.deletions { print("deleted", deletion.recordID.recordName, deletion.recordType) }
        let results = try await database.modifyRecords(saving: [], deleting: changes.deletions.map { $0.recordID })
        for (_, result) in results.deleteResults {
            if case .failure(let error) = result, error == SealKitError(.unknownItem, "") { continue }
        }
        return notes
    }
}
