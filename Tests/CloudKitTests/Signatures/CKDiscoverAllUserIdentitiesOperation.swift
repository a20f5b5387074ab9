import CloudKit

@available(*, deprecated)
func discoverAll() {
    let operation: CKDiscoverAllUserIdentitiesOperation = CKDiscoverAllUserIdentitiesOperation()
    operation.userIdentityDiscoveredBlock = { (_: CKUserIdentity) in }
    operation.discoverAllUserIdentitiesCompletionBlock = { (_: (any Error)?) in }
    operation.discoverAllUserIdentitiesResultBlock = { (_: Result<Void, any Error>) in }
}
