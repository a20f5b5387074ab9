import Foundation

/// Finds people, which CloudKit has given up: nobody is found.
@available(*, deprecated, message: "nobody is found any more; use CKFetchShareParticipantsOperation")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []
    open var userIdentityDiscoveredBlock:
        ((_ identity: CKUserIdentity, _ lookupInfo: CKUserIdentity.LookupInfo) -> Void)?
    open var discoverUserIdentitiesCompletionBlock: ((_ operationError: (any Error)?) -> Void)?
    open var discoverUserIdentitiesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    public override init() { super.init() }

    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func work() async throws(CKError) { try await calling {} }

    override func ended(_ failure: CKError?) {
        discoverUserIdentitiesCompletionBlock?(failure)
        discoverUserIdentitiesResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        userIdentityDiscoveredBlock = nil
        discoverUserIdentitiesCompletionBlock = nil
        discoverUserIdentitiesResultBlock = nil
    }
}

/// Finds people of the address book, which CloudKit has given up: nobody is found.
@available(*, deprecated, message: "nobody is found any more; use CKFetchShareParticipantsOperation")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    open var userIdentityDiscoveredBlock: ((_ identity: CKUserIdentity) -> Void)?
    open var discoverAllUserIdentitiesCompletionBlock: ((_ operationError: (any Error)?) -> Void)?
    open var discoverAllUserIdentitiesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    public override init() { super.init() }

    override func work() async throws(CKError) { try await calling {} }

    override func ended(_ failure: CKError?) {
        discoverAllUserIdentitiesCompletionBlock?(failure)
        discoverAllUserIdentitiesResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        userIdentityDiscoveredBlock = nil
        discoverAllUserIdentitiesCompletionBlock = nil
        discoverAllUserIdentitiesResultBlock = nil
    }
}
