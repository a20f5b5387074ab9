import Foundation
import SealKit

/// Accepts shares.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    open var shareMetadatas: [CKShare.Metadata]?
    @available(*, deprecated, message: "use perShareResultBlock")
    open var perShareCompletionBlock:
        ((_ shareMetadata: CKShare.Metadata, _ acceptedShare: CKShare?, _ error: (any Error)?) -> Void)?
    {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var perShareResultBlock:
        ((_ shareMetadata: CKShare.Metadata, _ acceptedShareResult: Result<CKShare, any Error>) -> Void)?
    @available(*, deprecated, message: "use acceptSharesResultBlock")
    open var acceptSharesCompletionBlock: ((_ operationError: (any Error)?) -> Void)? {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var acceptSharesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    private var oldEnd: (((any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    override func work() async throws(CKError) {
        let results = try await calling { try await chosenContainer.accepted(shareMetadatas?.eachOnce ?? []) }
        for (metadata, result) in results {
            tell {
                self.oldEach?(metadata, result.value, result.error)
                self.perShareResultBlock?(metadata, result.untyped)
            }
        }
        try throwFailures(results)
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(failure)
        acceptSharesResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perShareResultBlock = nil
        acceptSharesResultBlock = nil
        oldEach = nil
        oldEnd = nil
    }
}
