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
    let _: CKAccountStatus = try await container.configuredWith(
        configuration: CKOperation.Configuration(), group: CKOperationGroup(),
        body: { (container: CKContainer) in try await container.accountStatus() })
    let _: String? = container.configuredWith(
        configuration: CKOperation.Configuration(), group: CKOperationGroup(),
        body: { (container: CKContainer) in container.containerIdentifier })
}

func sharing(_ container: CKContainer, _ url: URL, _ metadata: CKShare.Metadata) async throws {
    let _: CKShare.Metadata = try await container.shareMetadata(for: url)
    let _: [URL: Result<CKShare.Metadata, any Error>] = try await container.shareMetadatas(for: [url])
    let _: CKShare = try await container.accept(metadata)
    let _: [CKShare.Metadata: Result<CKShare, any Error>] = try await container.accept([metadata])
    let _: CKShare.Participant = try await container.shareParticipant(forEmailAddress: "a@example.org")
    let _: CKShare.Participant = try await container.shareParticipant(forPhoneNumber: "+1")
    let _: CKShare.Participant = try await container.shareParticipant(forUserRecordID: CKRecord.ID())
    let _: [String: Result<CKShare.Participant, any Error>] =
        try await container.shareParticipants(forEmailAddresses: [])
    let _: [String: Result<CKShare.Participant, any Error>] =
        try await container.shareParticipants(forPhoneNumbers: [])
    let _: [CKRecord.ID: Result<CKShare.Participant, any Error>] =
        try await container.shareParticipants(forUserRecordIDs: [])
    let _: [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] =
        try await container.shareParticipants(for: [])
    let _: [URL: Result<Void, any Error>] = try await container.requestShareAccess(for: [url])
    let _: [CKOperation.ID] = try await container.allLongLivedOperationIDs()
    let _: CKOperation? = try await container.longLivedOperation(for: "id")
}

func sharingHandlers(_ container: CKContainer, _ url: URL, _ metadata: CKShare.Metadata) {
    container.fetchShareMetadata(with: url, completionHandler: { (_: CKShare.Metadata?, _: (any Error)?) in })
    container.fetchShareMetadatas(
        for: [url], completionHandler: { (_: Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) in })
    container.accept(metadata, completionHandler: { (_: CKShare?, _: (any Error)?) in })
    container.accept(
        [metadata],
        completionHandler: { (_: Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>) in })
    container.fetchShareParticipant(
        withEmailAddress: "a@example.org", completionHandler: { (_: CKShare.Participant?, _: (any Error)?) in })
    container.fetchShareParticipant(
        withPhoneNumber: "+1", completionHandler: { (_: CKShare.Participant?, _: (any Error)?) in })
    container.fetchShareParticipant(
        withUserRecordID: CKRecord.ID(), completionHandler: { (_: CKShare.Participant?, _: (any Error)?) in })
    container.fetchShareParticipants(
        forEmailAddresses: [],
        completionHandler: { (_: Result<[String: Result<CKShare.Participant, any Error>], any Error>) in })
    container.fetchShareParticipants(
        forPhoneNumbers: [],
        completionHandler: { (_: Result<[String: Result<CKShare.Participant, any Error>], any Error>) in })
    container.fetchShareParticipants(
        forUserRecordIDs: [],
        completionHandler: { (_: Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>) in })
    container.fetchShareParticipants(
        for: [],
        completionHandler: {
            (_: Result<[CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>], any Error>) in
        })
    container.requestShareAccess(
        for: [url], completionHandler: { (_: Result<[URL: Result<Void, any Error>], any Error>) in })
    container.fetchAllLongLivedOperationIDs(completionHandler: { (_: [CKOperation.ID]?, _: (any Error)?) in })
    container.fetchLongLivedOperation(
        withID: "id", completionHandler: { (_: CKOperation?, _: (any Error)?) in })
}

@available(*, deprecated)
func discovery(_ container: CKContainer) async throws {
    let _: CKContainer.ApplicationPermissions = CKContainer.ApplicationPermissions(rawValue: 1)
    let _: CKContainer.ApplicationPermissions = .userDiscoverability
    let _: CKContainer.Application.Permissions = .userDiscoverability
    let _: CKContainer.Application.PermissionStatus = .denied
    let _: CKContainer.Application.PermissionBlock = { (_: CKContainer.ApplicationPermissionStatus, _: (any Error)?) in
    }
    let _: [CKContainer.ApplicationPermissionStatus] = [.initialState, .couldNotComplete, .denied, .granted]
    let block: CKContainer.ApplicationPermissionBlock = {
        (_: CKContainer.ApplicationPermissionStatus, _: (any Error)?) in
    }
    let _: CKContainer.ApplicationPermissionStatus =
        try await container.requestApplicationPermission(.userDiscoverability)
    container.requestApplicationPermission(.userDiscoverability, completionHandler: block)
    let _: CKContainer.ApplicationPermissionStatus =
        try await container.applicationPermissionStatus(for: .userDiscoverability)
    container.status(forApplicationPermission: .userDiscoverability, completionHandler: block)
    container.discoverAllIdentities(completionHandler: { (_: [CKUserIdentity]?, _: (any Error)?) in })
    let _: CKUserIdentity? = try await container.userIdentity(forEmailAddress: "a@example.org")
    let _: CKUserIdentity? = try await container.userIdentity(forPhoneNumber: "+1")
    let _: CKUserIdentity? = try await container.userIdentity(forUserRecordID: CKRecord.ID())
    let _: [String: CKUserIdentity] = try await container.userIdentities(forEmailAddresses: [])
    let _: [String: CKUserIdentity] = try await container.userIdentities(forPhoneNumbers: [])
    let _: [CKRecord.ID: CKUserIdentity] = try await container.userIdentities(forUserRecordIDs: [])
    container.discoverUserIdentity(
        withEmailAddress: "a@example.org", completionHandler: { (_: CKUserIdentity?, _: (any Error)?) in })
    container.discoverUserIdentity(
        withPhoneNumber: "+1", completionHandler: { (_: CKUserIdentity?, _: (any Error)?) in })
    container.discoverUserIdentity(
        withUserRecordID: CKRecord.ID(), completionHandler: { (_: CKUserIdentity?, _: (any Error)?) in })
    container.discoverUserIdentities(
        forEmailAddresses: [], completionHandler: { (_: Result<[String: CKUserIdentity], any Error>) in })
    container.discoverUserIdentities(
        forPhoneNumbers: [], completionHandler: { (_: Result<[String: CKUserIdentity], any Error>) in })
    container.discoverUserIdentities(
        forUserRecordIDs: [], completionHandler: { (_: Result<[CKRecord.ID: CKUserIdentity], any Error>) in })
}
