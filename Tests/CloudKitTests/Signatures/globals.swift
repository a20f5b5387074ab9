import CloudKit

// Each public member once, with the types of Apple's documentation: it only has to compile. `make parity` holds these
// files against the list of members.

func globals() {
    let _: String = CKCurrentUserDefaultName
    let _: String = CKOwnerDefaultName
    let _: String = CKErrorDomain
    let _: String = CKErrorRetryAfterKey
    let _: String = CKErrorUserDidResetEncryptedDataKey
    let _: String = CKPartialErrorsByItemIDKey
    let _: String = CKRecordChangedErrorAncestorRecordKey
    let _: String = CKRecordChangedErrorClientRecordKey
    let _: String = CKRecordChangedErrorServerRecordKey
    let _: String = CKRecordNameZoneWideShare
    let _: String = CKRecordParentKey
    let _: String = CKRecordShareKey
    let _: String = CKRecordTypeShare
    let _: String = CKRecordTypeUserRecord
    let _: String = CKRecordZoneDefaultName
    let _: NSNotification.Name = NSNotification.Name.CKAccountChanged
    let value: any CKRecordValueProtocol = "text"
    let _: any CKRecordValue = value
}

@available(*, deprecated)
func deprecatedGlobals(_ action: CKRecord_Reference_Action) {
    let _: CKRecord.ReferenceAction = action
}
