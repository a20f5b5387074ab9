import Foundation

/// What fields are read from and written to: a record, and its encrypted values.
public protocol CKRecordKeyValueSetting: AnyObject {
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey)
    /// Keys that have a value.
    func allKeys() -> [CKRecord.FieldKey]
    /// Keys that were set since the record was fetched or saved.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    /// Reading a value of another type gives nil; writing nil removes the key.
    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get { object(forKey: key) as? T }
        set { setObject(newValue, forKey: key) }
    }

    /// The same of whatever kind, to be cast: `record["title"] as? String`.
    @_disfavoredOverload
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }
}

/// Keys and values, in the order of the keys.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    private var keys: Array<CKRecord.FieldKey>.Iterator
    private let fields: any CKRecordKeyValueSetting

    init(_ fields: any CKRecordKeyValueSetting) {
        self.fields = fields
        keys = fields.allKeys().makeIterator()
    }

    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        while let key = keys.next() {
            if let value = fields.object(forKey: key) { return (key, value) }
        }
        return nil
    }
}

/// A record's encrypted values, as they are at the time: what is set here is set on the record.
final class EncryptedValues: NSObject, CKRecordKeyValueSetting, Sendable {
    private let box: RecordBox

    init(_ box: RecordBox) { self.box = box }

    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { box.object(key, isEncrypted: true) }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        box.set(object, key, isEncrypted: true)
    }

    func allKeys() -> [CKRecord.FieldKey] { box.allKeys(isEncrypted: true) }

    func changedKeys() -> [CKRecord.FieldKey] { box.changedKeys(isEncrypted: true) }
}
