public import Foundation
import SealKit

/// Shares, by async functions.
extension CKContainer {
    /// What a share's URL leads to, without accepting it.
    /// - Parameter url: whole, with what follows `#`.
    /// - Throws: `participantMayNeedVerification` with a `CKError.shareVerification`, where the share waits for
    ///   somebody without an account, who may be the caller; `unknownItem` for the uninvited; `invalidArguments` for a
    ///   URL that is cut short, altered, or of another server.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await inCloudKitsWords { try await metadata(for: url) }
    }

    public func shareMetadatas(for urls: [URL]) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await inCloudKitsWords {
            Dictionary(try await metadata(for: urls.eachOnce).map { ($0, $1.untyped) }) { first, _ in first }
        }
    }

    /// Accepts a share. Its records are in the shared database from now on.
    /// - Returns: the share, as that database has it.
    /// - Throws: `unknownItem` where the invitation is gone; `badContainer` for a share of another container.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await inCloudKitsWords { try await accepted(metadata) }
    }

    /// - Throws: what is wrong with the whole call, such as `networkFailure`, where no share was accepted before it.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await inCloudKitsWords {
            Dictionary(try await accepted(metadatas.eachOnce).map { ($0, $1.untyped) }) { first, _ in first }
        }
    }

    /// Somebody to add to a share. An address that nobody is found by gives a participant whose identity has no
    /// account, and who gets a URL of its own (`CKShare.oneTimeURL(for:)`).
    /// - Throws: `invalidArguments` for what is no address.
    public func shareParticipant(forEmailAddress emailAddress: String) async throws -> CKShare.Participant {
        try await participant(CKUserIdentityLookupInfo(emailAddress: emailAddress))
    }

    /// - Parameter phoneNumber: `+` and the digits.
    public func shareParticipant(forPhoneNumber phoneNumber: String) async throws -> CKShare.Participant {
        try await participant(CKUserIdentityLookupInfo(phoneNumber: phoneNumber))
    }

    /// - Throws: `unknownItem` for a name that is nobody's in this container; `invalidArguments` for what is no user's
    ///   name.
    public func shareParticipant(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKShare.Participant {
        try await participant(CKUserIdentityLookupInfo(userRecordID: userRecordID))
    }

    public func shareParticipants(
        forEmailAddresses emailAddresses: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await participants(emailAddresses) { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await participants(phoneNumbers) { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        try await participants(userRecordIDs) { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    public func shareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
        try await participants(lookupInfos) { $0 }
    }

    /// Asks the owners of shares for access, where they let strangers ask.
    /// - Parameters:
    ///   - urls: of the shares.
    ///   - contact: who asks, for the owner to recognise: a name, an address. Only the owner can read it. Not
    ///     CloudKit's, where the account has a name.
    /// - Returns: a result for each: `unknownItem` where there is no such share, or it takes no requests, or the caller
    ///   is blocked, which all look alike; `participantAlreadyInvited` for somebody who may accept it right away.
    /// - Throws: what is wrong with the whole call, such as `networkFailure`, where no owner was asked before it.
    @discardableResult
    public func requestShareAccess(
        for urls: [URL], contact: String = ""
    ) async throws -> [URL: Result<Void, any Error>] {
        try await inCloudKitsWords {
            Dictionary(try await asked(for: urls.eachOnce, contact: contact).map { ($0, $1.untyped) }) { first, _ in
                first
            }
        }
    }

    private func participant(_ lookupInfo: CKUserIdentity.LookupInfo) async throws -> CKShare.Participant {
        try await inCloudKitsWords {
            guard let (_, result) = try await found([lookupInfo]).first else {
                throw CKDatabase.lacks("a participant")
            }
            return try result.get()
        }
    }

    private func participants<Handle: Hashable>(
        _ handles: [Handle], _ lookupInfo: (Handle) -> CKUserIdentity.LookupInfo
    ) async throws -> [Handle: Result<CKShare.Participant, any Error>] {
        try await inCloudKitsWords {
            let handles = handles.eachOnce
            let results = try await found(handles.map(lookupInfo))
            return Dictionary(zip(handles, results).map { ($0, $1.1.untyped) }) { first, _ in first }
        }
    }
}

/// What the three faces of each call have in common.
extension CKContainer {
    /// What is wrong with the whole call, and not with the one share that it came for.
    private static func concernsAll(_ error: SealKitError) -> Bool {
        [
            .notAuthenticated, .accountTemporarilyUnavailable, .sessionExpired, .networkFailure, .networkUnavailable,
            .operationCancelled, .serverNotTrusted,
        ].contains(error.code)
    }

    /// - Throws: what is wrong with the whole call, where nothing has come of it. What has come is told, as an
    ///   invitation may be good once: then it is the result of that item and of those after it.
    private func each<Item, Value>(
        _ items: [Item], _ body: (Item) async throws -> Value
    ) async throws(SealKitError) -> [(Item, Result<Value, CKError>)] {
        var results: [(Item, Result<Value, CKError>)] = []
        for item in items {
            do { results.append((item, .success(try await body(item)))) } catch {
                let failure = core.words(any: error)
                guard let error = error as? SealKitError, Self.concernsAll(error) else {
                    results.append((item, .failure(failure)))
                    continue
                }
                guard results.contains(where: { $0.1.error == nil }) else { throw error }
                for left in items.dropFirst(results.count) { results.append((left, .failure(failure))) }
                return results
            }
        }
        return results
    }

    /// - Parameter rootKeys: nil leaves root records out; else the keys of theirs that are wanted, nil for all.
    func metadata(
        for urls: [URL], rootKeys: [String]?? = nil
    ) async throws(SealKitError) -> [(URL, Result<CKShare.Metadata, CKError>)] {
        _ = try await core.container()
        return try await each(urls) { try await self.metadata(for: $0, rootKeys: rootKeys) }
    }

    /// - Throws: a `SealKitError`; a `CKError` that says how an address is proven.
    func metadata(for url: URL, rootKeys: [String]?? = nil) async throws -> CKShare.Metadata {
        let container = try await core.container()
        let metadata: SealKit.Share.Metadata
        do throws(SealKitError) { metadata = try await container.shareMetadata(for: url.absoluteString) } catch {
            guard error.code == .participantMayNeedVerification else { throw error }
            let verification = CKShareVerification(core, url: url.absoluteString)
            throw core.words(error, adding: [CKErrorShareVerificationKey: verification])
        }
        var root: CKRecord?
        if let keys = rootKeys, let id = metadata.hierarchicalRootRecordID, metadata.participantStatus == .accepted {
            let database = container.database(of: metadata.zoneID)
            root = try await database.records(for: [id], desiredKeys: keys)[id].map { CKRecord(try $0.get()) }
        }
        return CKShareMetadata(metadata, url: url.absoluteString, rootRecord: root)
    }

    func accepted(
        _ metadatas: [CKShare.Metadata]
    ) async throws(SealKitError) -> [(CKShare.Metadata, Result<CKShare, CKError>)] {
        _ = try await core.container()
        return try await each(metadatas) { try await self.accepted($0) }
    }

    func accepted(_ metadata: CKShare.Metadata) async throws(SealKitError) -> CKShare {
        let container = try await core.container()
        guard metadata.containerIdentifier == core.identifier else {
            throw SealKitError(
                .badContainer, "the share is one of the container \(metadata.containerIdentifier)",
                remedy: "accept it with CKContainer(identifier: metadata.containerIdentifier)")
        }
        // What was archived has its words, and none of what accepting takes.
        let sealed: SealKit.Share.Metadata
        if let known = metadata.sealed {
            sealed = known
        } else {
            sealed = try await container.shareMetadata(for: metadata.url)
        }
        let zone = try await container.accept(sealed, token: core.proofs.withLock { $0[metadata.url] })
        core.proofs.withLock { $0[metadata.url] = nil }
        let id = SealKit.Record.ID(recordName: sealed.share.recordID.recordName, zoneID: zone)
        return CKShare(try await container.database(of: zone).share(withID: id))
    }

    func found(
        _ lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws(SealKitError) -> [(CKUserIdentity.LookupInfo, Result<CKShare.Participant, CKError>)] {
        let found = try await core.container().shareParticipants(for: lookupInfos.map(\.sealed))
        return lookupInfos.map { info in
            let result = found[info.sealed] ?? .failure(CKDatabase.lacks("a participant"))
            return (info, core.words(result.map { CKShareParticipant($0) }))
        }
    }

    func asked(for urls: [URL], contact: String) async throws(SealKitError) -> [(URL, Result<Void, CKError>)] {
        let container = try await core.container()
        return try await each(urls) {
            try await container.requestShareAccess($0.absoluteString, contact: contact)
        }
    }
}

extension SealKit.Container {
    /// Where an owner's zone is: in the private database for itself, in the shared one for others.
    func database(of zone: SealKit.RecordZone.ID) -> SealKit.Database {
        zone.ownerName == CKCurrentUserDefaultName ? privateDatabase : sharedDatabase
    }
}
