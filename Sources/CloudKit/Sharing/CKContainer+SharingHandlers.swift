public import Foundation

/// Shares, with a handler in the place of `await`, which is called once, on a queue of its
/// own.
extension CKContainer {
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareMetadata(for: url) } }

    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler: @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareMetadatas(for: urls) } }

    @preconcurrency
    public func accept(
        _ metadata: CKShare.Metadata, completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.accept(metadata) } }

    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (
                Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
            ) -> Void
    ) { telling(completionHandler) { try await self.accept(metadatas) } }

    @preconcurrency
    public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareParticipant(forEmailAddress: emailAddress) } }

    @preconcurrency
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareParticipant(forPhoneNumber: phoneNumber) } }

    @preconcurrency
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.shareParticipant(forUserRecordID: userRecordID) } }

    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emailAddresses: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(forEmailAddresses: emailAddresses) } }

    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(forPhoneNumbers: phoneNumbers) } }

    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(forUserRecordIDs: userRecordIDs) } }

    @preconcurrency
    public func fetchShareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo],
        completionHandler:
            @escaping @Sendable (
                Result<[CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) { telling(completionHandler) { try await self.shareParticipants(for: lookupInfos) } }

    @preconcurrency
    public func requestShareAccess(
        for urls: [URL],
        completionHandler: @escaping @Sendable (Result<[URL: Result<Void, any Error>], any Error>) -> Void
    ) { telling(completionHandler) { try await self.requestShareAccess(for: urls) } }
}
