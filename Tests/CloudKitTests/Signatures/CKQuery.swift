import CloudKit

func queries(_ coder: NSCoder) {
    let query: CKQuery = CKQuery(
        recordType: "Note", predicate: NSPredicate(format: "date > %@ AND count = %d", NSDate(), 3))
    let _: CKQuery? = CKQuery(coder: coder)
    let _: CKRecord.RecordType = query.recordType
    let _: NSPredicate = query.predicate
    query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
}
