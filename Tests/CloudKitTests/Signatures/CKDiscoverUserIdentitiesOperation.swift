import CloudKit

@available(*, deprecated)
func discover() {
    let _: CKDiscoverUserIdentitiesOperation = CKDiscoverUserIdentitiesOperation()
    let operation: CKDiscoverUserIdentitiesOperation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: [])
    operation.userIdentityLookupInfos = []
    operation.userIdentityDiscoveredBlock = { (_: CKUserIdentity, _: CKUserIdentity.LookupInfo) in }
    operation.discoverUserIdentitiesCompletionBlock = { (_: (any Error)?) in }
    operation.discoverUserIdentitiesResultBlock = { (_: Result<Void, any Error>) in }
}
