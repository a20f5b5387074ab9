import CloudKit

func groups(_ coder: NSCoder) {
    let group: CKOperationGroup = CKOperationGroup()
    let _: CKOperationGroup? = CKOperationGroup(coder: coder)
    let _: String = group.operationGroupID
    let _: CKOperation.Configuration = group.defaultConfiguration
    group.name = "Backup"
    group.quantity = 3
    group.expectedSendSize = .kilobytes
    group.expectedReceiveSize = .unknown
    let _: [CKOperationGroup.TransferSize] = [
        .megabytes, .tensOfMegabytes, .hundredsOfMegabytes, .gigabytes, .tensOfGigabytes, .hundredsOfGigabytes,
    ]
    let _: CKOperationGroup.TransferSize? = CKOperationGroup.TransferSize(rawValue: 1)
}
