import CloudKit

func fetchShareMetadata(_ url: URL) {
    var count = 0
    let _: CKFetchShareMetadataOperation = CKFetchShareMetadataOperation()
    let operation: CKFetchShareMetadataOperation = CKFetchShareMetadataOperation(shareURLs: [url])
    operation.shareURLs = nil
    operation.shouldFetchRootRecord = true
    operation.rootRecordDesiredKeys = ["title"]
    operation.perShareMetadataResultBlock = { (_: URL, _: Result<CKShare.Metadata, any Error>) in count += 1 }
    operation.fetchShareMetadataResultBlock = { (_: Result<Void, any Error>) in print(count) }
}

@available(*, deprecated)
func deprecatedFetchShareMetadata(_ operation: CKFetchShareMetadataOperation) {
    operation.perShareMetadataBlock = { (_: URL, _: CKShare.Metadata?, _: (any Error)?) in }
    operation.fetchShareMetadataCompletionBlock = { (_: (any Error)?) in }
}
