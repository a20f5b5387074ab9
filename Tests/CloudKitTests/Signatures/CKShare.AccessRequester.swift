import CloudKit

func requesters(_ requester: CKShare.AccessRequester) {
    let _: CKUserIdentity = requester.userIdentity
    let _: CKUserIdentity.LookupInfo = requester.participantLookupInfo
}
