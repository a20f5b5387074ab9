import CloudKit

func iterators(_ iterator: inout CKRecordKeyValueIterator) {
    let _: (CKRecord.FieldKey, any CKRecordValueProtocol)? = iterator.next()
    let _: CKRecordKeyValueIterator.Element? = nil
}
