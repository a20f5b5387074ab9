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
    let _: String = CKShareThumbnailImageDataKey
    let _: String = CKShareTitleKey
    let _: String = CKShareTypeKey
    let _: NSNotification.Name = NSNotification.Name.CKAccountChanged
    let value: any CKRecordValueProtocol = "text"
    let _: any CKRecordValue = value
}

@available(*, deprecated)
func deprecatedGlobals(_ action: CKRecord_Reference_Action) {
    let _: CKRecord.ReferenceAction = action
}

@available(*, deprecated)
func deprecatedGlobalsOfShares(
    _ status: CKShare_Participant_AcceptanceStatus, _ permission: CKShare_Participant_Permission,
    _ role: CKShare_Participant_Role, _ type: CKShare_Participant_ParticipantType
) {
    let _: CKShare.ParticipantAcceptanceStatus = status
    let _: CKShare.ParticipantPermission = permission
    let _: CKShare.ParticipantRole = role
    let _: CKShare.ParticipantType = type
}

@available(*, deprecated)
func deprecatedGlobalsOfContainers(
    _ permissions: CKContainer_Application_Permissions, _ status: CKContainer_Application_PermissionStatus,
    _ block: @escaping CKContainer_Application_PermissionBlock
) {
    let _: CKContainer.ApplicationPermissions = permissions
    let _: CKContainer.ApplicationPermissionStatus = status
    let _: CKContainer.ApplicationPermissionBlock = block
}
