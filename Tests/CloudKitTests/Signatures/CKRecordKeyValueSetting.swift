import CloudKit

func keyValues(_ values: any CKRecordKeyValueSetting) {
    let _: (any __CKRecordObjCValue)? = values.object(forKey: "title")
    values.setObject("a" as any CKRecordValue, forKey: "title")
    let _: (any CKRecordValueProtocol)? = values["title"]
    let _: [CKRecord.FieldKey] = values.allKeys()
    let _: [CKRecord.FieldKey] = values.changedKeys()
}
