import CloudKit

func acceptShares(_ metadata: CKShare.Metadata) {
    var count = 0
    let _: CKAcceptSharesOperation = CKAcceptSharesOperation()
    let operation: CKAcceptSharesOperation = CKAcceptSharesOperation(shareMetadatas: [metadata])
    operation.shareMetadatas = nil
    operation.perShareResultBlock = { (_: CKShare.Metadata, _: Result<CKShare, any Error>) in count += 1 }
    operation.acceptSharesResultBlock = { (_: Result<Void, any Error>) in print(count) }
}

@available(*, deprecated)
func deprecatedAcceptShares(_ operation: CKAcceptSharesOperation) {
    operation.perShareCompletionBlock = { (_: CKShare.Metadata, _: CKShare?, _: (any Error)?) in }
    operation.acceptSharesCompletionBlock = { (_: (any Error)?) in }
}
