import CloudKit

func requestAccess(_ url: URL) {
    var count = 0
    let _: CKShareRequestAccessOperation = CKShareRequestAccessOperation()
    let operation: CKShareRequestAccessOperation = CKShareRequestAccessOperation(shareURLs: [url])
    operation.shareURLs = nil
    operation.perShareAccessRequestResultBlock = { (_: URL, _: Result<Void, any Error>) in count += 1 }
    operation.shareAccessRequestResultBlock = { (_: Result<Void, any Error>) in print(count) }
}
