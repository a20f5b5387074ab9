public import Foundation
import SealKit

/// Asks the owners of shares for access.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    open var shareURLs: [URL]?
    /// Who asks, for the owner to recognise: a name, an address. Only the owner can read it. Not CloudKit's.
    open var contact = ""
    open var perShareAccessRequestResultBlock:
        ((_ shareURL: URL, _ accessRequestResult: Result<Void, any Error>) -> Void)?
    open var shareAccessRequestResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    public override init() { super.init() }

    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func work() async throws(CKError) {
        let results = try await calling {
            try await chosenContainer.asked(for: shareURLs?.eachOnce ?? [], contact: contact)
        }
        for (url, result) in results { tell { self.perShareAccessRequestResultBlock?(url, result.untyped) } }
        try throwFailures(results)
    }

    override func ended(_ failure: CKError?) { shareAccessRequestResultBlock?(failure.asResult) }

    override func releaseBlocks() {
        super.releaseBlocks()
        perShareAccessRequestResultBlock = nil
        shareAccessRequestResultBlock = nil
    }
}
