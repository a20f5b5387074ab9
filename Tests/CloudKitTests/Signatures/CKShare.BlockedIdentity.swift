import CloudKit

func blockedIdentities(_ identity: CKShare.BlockedIdentity) {
    let _: CKUserIdentity = identity.userIdentity
}
