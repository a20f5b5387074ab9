import CloudKit

func identities(_ identity: CKUserIdentity) {
    let _: CKRecord.ID? = identity.userRecordID
    let _: CKUserIdentity.LookupInfo? = identity.lookupInfo
    let _: PersonNameComponents? = identity.nameComponents
    let _: Bool = identity.hasiCloudAccount
    let _: [String] = identity.contactIdentifiers
    let info: CKUserIdentity.LookupInfo = CKUserIdentity.LookupInfo(emailAddress: "a@example.org")
    let _: CKUserIdentity.LookupInfo = CKUserIdentity.LookupInfo(phoneNumber: "+1")
    let _: CKUserIdentity.LookupInfo = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID())
    let _: [CKUserIdentity.LookupInfo] = CKUserIdentity.LookupInfo.lookupInfos(withEmails: [])
    let _: [CKUserIdentity.LookupInfo] = CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: [])
    let _: [CKUserIdentity.LookupInfo] = CKUserIdentity.LookupInfo.lookupInfos(with: [CKRecord.ID()])
    let _: String? = info.emailAddress
    let _: String? = info.phoneNumber
    let _: CKRecord.ID? = info.userRecordID
    let _: [any NSSecureCoding & NSCopying] = [identity, info]
}
