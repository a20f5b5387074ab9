public import Foundation
import SealKit
import Synchronization

/// The type of user records.
public let CKRecordTypeUserRecord = "Users"
/// The type of shares' records.
public let CKRecordTypeShare = "cloudkit.share"
/// The name of the record of a zone's own share.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"
public let CKRecordParentKey = "parent"
public let CKRecordShareKey = "share"

/// A record: fields by their names, under an ID.
///
/// Fields set by subscript are visible to the server; `encryptedValues` and assets are sealed on this device. Records
/// are compared by identity. What cannot be a field's value is refused when the record is saved (`invalidArguments`).
open class CKRecord: NSObject, NSSecureCoding, NSCopying, CKRecordKeyValueSetting, Sequence, @unchecked Sendable {
    public typealias ID = CKRecordID
    public typealias Reference = CKRecordReference
    public typealias ReferenceAction = CKRecordReferenceAction
    public typealias RecordType = String
    public typealias FieldKey = String

    public enum SystemType {
        public static let userRecord: CKRecord.RecordType = CKRecordTypeUserRecord
        public static let share: CKRecord.RecordType = CKRecordTypeShare
    }

    /// Names of system fields, in predicates and sort descriptors.
    public enum SystemFieldKey {
        public static let recordID: CKRecord.FieldKey = "recordID"
        public static let creatorUserRecordID: CKRecord.FieldKey = "creatorUserRecordID"
        public static let creationDate: CKRecord.FieldKey = "creationDate"
        public static let lastModifiedUserRecordID: CKRecord.FieldKey = "lastModifiedUserRecordID"
        public static let modificationDate: CKRecord.FieldKey = "modificationDate"
        public static let parent: CKRecord.FieldKey = CKRecordParentKey
        public static let share: CKRecord.FieldKey = CKRecordShareKey
    }

    let box: RecordBox

    public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecordID()) {
        box = RecordBox(SealKit.Record(recordType: recordType, recordID: recordID.sealed), recordID: recordID)
    }

    @available(*, deprecated, message: "use init(recordType:recordID:)")
    public convenience init(recordType: CKRecord.RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: CKRecordID(zoneID: zoneID))
    }

    init(_ box: RecordBox) { self.box = box }

    /// What SealKit gave, as an object of its own.
    convenience init(_ record: SealKit.Record) { self.init(RecordBox(record)) }

    // MARK: System fields

    open var recordType: CKRecord.RecordType { box.record.recordType }
    open var recordID: CKRecord.ID { box.recordID }
    /// Another one after each write; nil until the record is saved.
    open var recordChangeTag: String? { box.record.recordChangeTag }
    open var creatorUserRecordID: CKRecord.ID? { box.record.creatorUserRecordID.map { CKRecordID($0) } }
    open var creationDate: Date? { box.record.creationDate }
    open var lastModifiedUserRecordID: CKRecord.ID? { box.record.lastModifiedUserRecordID.map { CKRecordID($0) } }
    open var modificationDate: Date? { box.record.modificationDate }

    /// The share that this record is the root of.
    open var share: CKRecord.Reference? {
        box.record.share.map {
            CKRecordReference(
                recordID: CKRecordID(recordName: $0.recordName, zoneID: recordID.zoneID), action: .none)
        }
    }

    /// The record that this one belongs to. Its action is `none`: another one is `invalidArguments` when the record is
    /// saved.
    open var parent: CKRecord.Reference? {
        get { box.parent }
        set { box.parent = newValue }
    }

    open func setParent(_ parentRecord: CKRecord?) { setParent(parentRecord?.recordID) }

    open func setParent(_ parentRecordID: CKRecord.ID?) {
        parent = parentRecordID.map { CKRecordReference(recordID: $0, action: .none) }
    }

    // MARK: Fields

    /// Fields that only people with the zone's key can read. What is set there is set on this record.
    open var encryptedValues: any CKRecordKeyValueSetting & Sendable { EncryptedValues(box) }

    open func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        box.object(key, isEncrypted: false)
    }

    open func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        box.set(object, key, isEncrypted: false)
    }

    open func value(forKey key: String) -> Any? { object(forKey: key) }

    /// - Parameter keyPath: a key: records hold nothing that has keys of its own.
    open func value(forKeyPath keyPath: String) -> Any? { value(forKey: keyPath) }

    /// - Parameters:
    ///   - value: of one of the types that records hold; nil removes the key.
    ///   - key: the field's name.
    open func setValue(_ value: Any?, forKey key: String) {
        if let value = value as? any __CKRecordObjCValue {
            setObject(value, forKey: key)
        } else {
            // No such object: saving the record says so.
            box.set(value, key, isEncrypted: false)
        }
    }

    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { $1 }
    }

    /// Keys that have a value, without those of encrypted values.
    open func allKeys() -> [CKRecord.FieldKey] { box.allKeys(isEncrypted: false) }

    /// Keys that were set or removed since the record was fetched or saved, without those of encrypted values.
    open func changedKeys() -> [CKRecord.FieldKey] { box.changedKeys(isEncrypted: false) }

    /// The words of all plain string fields.
    open func allTokens() -> [String] { box.record.allTokens() }

    public func makeIterator() -> CKRecordKeyValueIterator { CKRecordKeyValueIterator(self) }

    /// Names only: values do not end up in logs.
    open override var description: String {
        "<CKRecord: recordType=\(recordType), recordID=\(recordID.recordName), keys: "
            + "\(allKeys().joined(separator: " "))>"
    }

    open override var debugDescription: String { description }

    // MARK: Copies and archives

    /// All of it, by itself: a change of one is none of the other.
    open func copy(with zone: NSZone? = nil) -> Any { CKRecord(box.copied()) }

    open class var supportsSecureCoding: Bool { true }

    /// From `encodeSystemFields(with:)`, a record without values, which is saved as a change of what the server has;
    /// from `encode(with:)` the record as it was.
    public required init?(coder: NSCoder) {
        guard let record = SealKit.Record(coder: coder) else { return nil }
        box = RecordBox(record)
    }

    /// Names, change tag, dates and what proves them; no value of a field.
    open func encodeSystemFields(with coder: NSCoder) {
        coder.encode(NSData(data: box.record.encodeSystemFields()), forKey: SealKit.Record.systemFieldsKey)
    }

    /// System fields and values, encrypted ones included: keep it where its reader may see them. Of files, the paths of
    /// those that were set and not saved yet; the others stay on the server.
    open func encode(with coder: NSCoder) { box.record.encode(with: coder) }
}
