public import Foundation
import SealKit

/// Looks at what shares' URLs lead to.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    open var shareURLs: [URL]?
    /// Root records of shares that the caller is in already come along. A zone's share has none.
    open var shouldFetchRootRecord = false
    /// Nil for all fields of root records, empty for system fields only.
    open var rootRecordDesiredKeys: [CKRecord.FieldKey]?
    @available(*, deprecated, message: "use perShareMetadataResultBlock")
    open var perShareMetadataBlock:
        ((_ shareURL: URL, _ shareMetadata: CKShare.Metadata?, _ error: (any Error)?) -> Void)?
    {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var perShareMetadataResultBlock:
        ((_ shareURL: URL, _ shareMetadataResult: Result<CKShare.Metadata, any Error>) -> Void)?
    @available(*, deprecated, message: "use fetchShareMetadataResultBlock")
    open var fetchShareMetadataCompletionBlock: ((_ operationError: (any Error)?) -> Void)? {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchShareMetadataResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    private var oldEnd: (((any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func work() async throws(CKError) {
        let results = try await calling {
            try await chosenContainer.metadata(
                for: shareURLs?.eachOnce ?? [], rootKeys: shouldFetchRootRecord ? .some(rootRecordDesiredKeys) : nil)
        }
        for (url, result) in results {
            tell {
                self.oldEach?(url, result.value, result.error)
                self.perShareMetadataResultBlock?(url, result.untyped)
            }
        }
        try results.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(failure)
        fetchShareMetadataResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perShareMetadataResultBlock = nil
        fetchShareMetadataResultBlock = nil
        oldEach = nil
        oldEnd = nil
    }
}
