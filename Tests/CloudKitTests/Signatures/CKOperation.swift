import CloudKit

func anyOperation(_ operation: CKOperation) {
    let _: CKOperation = CKOperation()
    let _: CKOperation.ID = operation.operationID
    operation.configuration = CKOperation.Configuration()
    operation.group = CKOperationGroup()
    operation.longLivedOperationWasPersistedBlock = {}
    let configuration: CKOperation.Configuration = CKOperation.Configuration()
    configuration.container = CKContainer(identifier: "iCloud.org.example.notes")
    configuration.qualityOfService = .userInitiated
    configuration.allowsCellularAccess = false
    configuration.isLongLived = false
    configuration.timeoutIntervalForRequest = 10
    configuration.timeoutIntervalForResource = 100
}

@available(*, deprecated)
func anyDeprecatedOperation(_ operation: CKOperation) {
    let _: CKContainer? = operation.container
    operation.isLongLived = false
    operation.allowsCellularAccess = true
    operation.timeoutIntervalForRequest = 10
    operation.timeoutIntervalForResource = 100
}
