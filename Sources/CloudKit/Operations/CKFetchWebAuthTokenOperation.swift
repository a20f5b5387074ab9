import Foundation
import SealKit

/// Fetches a token for CloudKit's web services, which are not here: it fails with `serverRejectedRequest`.
open class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    open var apiToken: String?
    @available(*, deprecated, message: "use fetchWebAuthTokenResultBlock")
    open var fetchWebAuthTokenCompletionBlock: ((_ webAuthToken: String?, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchWebAuthTokenResultBlock: ((_ operationResult: Result<String, any Error>) -> Void)?

    private var oldEnd: ((String?, (any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(apiToken: String) {
        self.init()
        self.apiToken = apiToken
    }

    override func work() async throws(CKError) {
        try await calling {
            throw SealKitError(
                .serverRejectedRequest, "there are no web services that such a token is for",
                remedy: "use the browser's module, or a key of server to server")
        }
    }

    override func ended(_ failure: CKError?) {
        guard let failure else { return }
        oldEnd?(nil, failure)
        fetchWebAuthTokenResultBlock?(.failure(failure))
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        fetchWebAuthTokenResultBlock = nil
        oldEnd = nil
    }
}
