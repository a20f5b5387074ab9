import CloudKit

func containers(_ container: CKContainer, _ operation: CKOperation) async throws {
    let _: () -> CKContainer = { CKContainer.default() }
    let _: CKContainer = CKContainer(identifier: "iCloud.org.example.notes")
    let _: String? = container.containerIdentifier
    let _: CKDatabase = container.privateCloudDatabase
    let _: CKDatabase = container.publicCloudDatabase
    let _: CKDatabase = container.sharedCloudDatabase
    let _: CKDatabase = container.database(with: .private)
    container.add(operation)
    let _: CKAccountStatus = try await container.accountStatus()
    container.accountStatus(completionHandler: { (_: CKAccountStatus, _: (any Error)?) in })
    let _: CKRecord.ID = try await container.userRecordID()
    container.fetchUserRecordID(completionHandler: { (_: CKRecord.ID?, _: (any Error)?) in })
    let _: String? = await container.configuredWith(
        configuration: CKOperation.Configuration(), group: CKOperationGroup(),
        body: { (container: CKContainer) in container.containerIdentifier })
}
