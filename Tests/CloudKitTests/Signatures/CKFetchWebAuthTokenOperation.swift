import CloudKit

func fetchWebAuthToken() {
    let _: CKFetchWebAuthTokenOperation = CKFetchWebAuthTokenOperation()
    let operation: CKFetchWebAuthTokenOperation = CKFetchWebAuthTokenOperation(apiToken: "token")
    operation.apiToken = nil
    operation.fetchWebAuthTokenResultBlock = { (_: Result<String, any Error>) in }
}

@available(*, deprecated)
func deprecatedFetchWebAuthToken(_ operation: CKFetchWebAuthTokenOperation) {
    operation.fetchWebAuthTokenCompletionBlock = { (_: String?, _: (any Error)?) in }
}
