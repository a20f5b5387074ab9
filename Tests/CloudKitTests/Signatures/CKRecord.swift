import CloudKit

func records(_ record: CKRecord, _ coder: NSCoder) {
    let _: CKRecord = CKRecord(recordType: "Note")
    let _: CKRecord = CKRecord(recordType: "Note", recordID: record.recordID)
    let _: CKRecord? = CKRecord(coder: coder)
    let _: CKRecord.RecordType = record.recordType
    let _: CKRecord.FieldKey = "title"
    let _: CKRecord.RecordType = CKRecord.SystemType.userRecord
    let _: CKRecord.RecordType = CKRecord.SystemType.share
    let _: String? = record.recordChangeTag
    let _: CKRecord.ID? = record.creatorUserRecordID
    let _: Date? = record.creationDate
    let _: CKRecord.ID? = record.lastModifiedUserRecordID
    let _: Date? = record.modificationDate
    let _: CKRecord.Reference? = record.share
    record.parent = nil
    let _: CKRecord.Reference? = record.parent
    record.setParent(record)
    record.setParent(record.recordID)
    let _: [CKRecord.FieldKey] = [
        CKRecord.SystemFieldKey.recordID, CKRecord.SystemFieldKey.creatorUserRecordID,
        CKRecord.SystemFieldKey.creationDate, CKRecord.SystemFieldKey.lastModifiedUserRecordID,
        CKRecord.SystemFieldKey.modificationDate, CKRecord.SystemFieldKey.parent, CKRecord.SystemFieldKey.share,
    ]
}

@available(*, deprecated)
func deprecatedRecords(_ zoneID: CKRecordZone.ID) {
    let _: CKRecord = CKRecord(recordType: "Note", zoneID: zoneID)
}

func fields(_ record: CKRecord, _ coder: NSCoder) {
    let _: any CKRecordKeyValueSetting & Sendable = record.encryptedValues
    let _: (any __CKRecordObjCValue)? = record.object(forKey: "title")
    record.setObject("a" as any CKRecordValue, forKey: "title")
    record.setObject(nil, forKey: "title")
    let _: String? = record["title"]
    let _: (any CKRecordValueProtocol)? = record["title"]
    record["title"] = "a"
    record["title"] = "a" as any CKRecordValue
    record["title"] = nil
    record["tags"] = ["a"] as any CKRecordValue
    record["count"] = NSNumber(value: 1)
    record["date"] = NSDate()
    record.encryptedValues["title"] = "a"
    let _: Any? = record.value(forKey: "title")
    record.setValue("a", forKey: "title")
    let _: [CKRecord.FieldKey] = record.allKeys()
    let _: [CKRecord.FieldKey] = record.changedKeys()
    let _: [String] = record.allTokens()
    let _: CKRecordKeyValueIterator = record.makeIterator()
    for (key, value) in record { print(key, value) }
    record.encodeSystemFields(with: coder)
    record.encode(with: coder)
    let _: CKRecord? = record.copy() as? CKRecord
    let _: Bool = CKRecord.supportsSecureCoding
}

func identifiers(_ coder: NSCoder, _ record: CKRecord, _ zoneID: CKRecordZone.ID) {
    let recordID: CKRecord.ID = CKRecord.ID(recordName: "first", zoneID: zoneID)
    let _: CKRecord.ID = CKRecord.ID(recordName: "first")
    let _: CKRecord.ID? = CKRecord.ID(coder: coder)
    let _: String = recordID.recordName
    let _: CKRecordZone.ID = recordID.zoneID
    let reference: CKRecord.Reference = CKRecord.Reference(recordID: recordID, action: .deleteSelf)
    let _: CKRecord.Reference = CKRecord.Reference(record: record, action: CKRecord.ReferenceAction.none)
    let _: CKRecord.Reference? = CKRecord.Reference(coder: coder)
    let _: CKRecord.Reference.Action = reference.action
    let _: CKRecord.ReferenceAction? = CKRecord.ReferenceAction(rawValue: 1)
    let _: CKRecord.ID = reference.recordID
    let _: [any NSSecureCoding & NSCopying] = [zoneID, recordID, reference]
    let _: Set<CKRecord.ID> = [recordID]
}
