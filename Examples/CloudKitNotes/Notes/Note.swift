import CloudKit

/// A note, as this device has it.
public struct Note: Codable, Sendable, Equatable {
    public var text: String
    public var changed: Date

    public init(text: String, changed: Date) { (self.text, self.changed) = (text, changed) }

    /// The later change wins, and of two at the same moment the one that reads greater: any rule does, if it is one for
    /// all devices.
    mutating func merge(_ other: Note) {
        if (other.changed, other.text) > (changed, text) { self = other }
    }
}

/// Whose notebook a note is in, and its name there.
public struct NoteID: Hashable, Sendable {
    public let notebook: String
    public let name: String

    init(notebook: String, name: String) { (self.notebook, self.name) = (notebook, name) }

    init(_ id: CKRecord.ID) { self.init(notebook: id.zoneID.ownerName, name: id.recordName) }

    var recordID: CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Notes.zoneID(of: notebook)) }
}

extension Note {
    static let recordType = "Note"

    /// Nil for what another version of the app has saved under this type.
    init?(record: CKRecord) {
        guard record.recordType == Self.recordType, let text = record.encryptedValues["text"] as? String,
            let changed = record.encryptedValues["changed"] as? Date
        else { return nil }
        self.init(text: text, changed: changed)
    }

    func write(to record: CKRecord) {
        record.encryptedValues["text"] = text
        record.encryptedValues["changed"] = changed
    }
}

extension CKRecord {
    /// What an app keeps beside its rows: names, change tag, dates, and no value of a field.
    var systemFields: Data {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        encodeSystemFields(with: coder)
        return coder.encodedData
    }

    /// Nil for what is no archive of a record.
    static func from(systemFields data: Data) -> CKRecord? {
        guard let coder = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        coder.requiresSecureCoding = true
        return CKRecord(coder: coder)
    }
}
