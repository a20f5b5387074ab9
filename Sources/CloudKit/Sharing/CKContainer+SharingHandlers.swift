public import Foundation

/// Shares, with a handler in the place of `await`, which is called once, on any thread.
extension CKContainer {
    public func fetchShareMetadata(
        with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareMetadata(for: url) } }

    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler: @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareMetadatas(for: urls) } }

    public func accept(
        _ metadata: CKShare.Metadata, completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.accept(metadata) } }

    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (
                Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
            ) -> Void
    ) { telling(completionHandler) { try await self.accept(metadatas) } }

    public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareParticipant(forEmailAddress: emailAddress) } }

    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareParticipant(forPhoneNumber: phoneNumber) } }

    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareParticipant(forUserRecordID: userRecordID) } }

    public func fetchShareParticipants(
        forEmailAddresses emailAddresses: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(forEmailAddresses: emailAddresses) } }

    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(forPhoneNumbers: phoneNumbers) } }

    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(forUserRecordIDs: userRecordIDs) } }

    public func fetchShareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo],
        completionHandler:
            @escaping @Sendable (
                Result<[CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(for: lookupInfos) } }

    public func requestShareAccess(
        for urls: [URL],
        completionHandler: @escaping @Sendable (Result<[URL: Result<Void, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.requestShareAccess(for: urls) } }
}
