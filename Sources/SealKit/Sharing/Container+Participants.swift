import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Container {
    /// Somebody to add to a share, by e-mail address. An address that nobody is found by is not an error: it gives a
    /// placeholder, whose `userIdentity.hasAccount` is false and who gets a one-time URL. Whoever has an account, but
    /// did not let others find it by the address, is such a placeholder too, and needs no code to accept.
    ///
    /// - Throws: `invalidArguments` for what is no address; `integrityFailure` when the server answers with keys that
    ///   do not belong to the name it gives.
    public func shareParticipant(
        forEmailAddress address: String, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await shareParticipant(for: .emailAddress(address), permission: permission)
    }

    /// Somebody to add to a share, by phone number: `+` and the digits.
    /// - Throws: as ``shareParticipant(forEmailAddress:permission:)``.
    public func shareParticipant(
        forPhoneNumber number: String, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await shareParticipant(for: .phoneNumber(number), permission: permission)
    }

    /// Somebody to add to a share, by the name of their account.
    /// - Parameters:
    ///   - userRecordID: as `userRecordID()` gives it on their device.
    ///   - permission: what they may do.
    /// - Throws: `unknownItem` where this container knows nobody of the name; `integrityFailure` where the keys are not
    ///   those that this device knows.
    public func shareParticipant(
        forUserRecordID userRecordID: Record.ID, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await shareParticipant(for: .userRecordName(userRecordID.recordName), permission: permission)
    }

    /// Somebody to add to a share, by whatever is known: of a requester its
    /// ``Share/AccessRequester/participantLookupInfo``.
    /// - Throws: as the call for what is known throws: an address, a number or an account's name.
    public func shareParticipant(
        for lookupInfo: Share.LookupInfo, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        guard let result = try await shareParticipants(for: [lookupInfo], permission: permission)[lookupInfo] else {
            throw Self.incomplete
        }
        return try result.get()
    }

    /// Several people to add to a share: CloudKit's `CKFetchShareParticipantsOperation`. Each has a result of their
    /// own.
    ///
    /// - Throws: what concerns the request as a whole: `networkFailure`, `notAuthenticated`, `requestRateLimited`.
    public func shareParticipants(
        for lookupInfos: [Share.LookupInfo], permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> [Share.LookupInfo: Result<Share.Participant, SealKitError>] {
        var seen: Set<Share.LookupInfo> = []
        let wanted = lookupInfos.filter { seen.insert($0).inserted }
        var results: [Share.LookupInfo: Result<Share.Participant, SealKitError>] = [:]
        for start in stride(from: 0, to: wanted.count, by: Self.handlesPerLookup) {
            let handles = wanted[start..<min(start + Self.handlesPerLookup, wanted.count)]
            for (handle, result) in zip(handles, try await core.lookUp(Array(handles))) {
                do throws(SealKitError) {
                    results[handle] = .success(try await participant(handle, result, permission))
                } catch {
                    results[handle] = .failure(error)
                }
            }
        }
        return results
    }

    /// As ``shareParticipant(forEmailAddress:permission:)``, for several at once: a result for each address.
    public func shareParticipants(
        forEmailAddresses addresses: [String], permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> [String: Result<Share.Participant, SealKitError>] {
        try await shareParticipants(addresses, permission) { .emailAddress($0) }
    }

    /// As ``shareParticipant(forPhoneNumber:permission:)``, for several at once: a result for each number.
    public func shareParticipants(
        forPhoneNumbers numbers: [String], permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> [String: Result<Share.Participant, SealKitError>] {
        try await shareParticipants(numbers, permission) { .phoneNumber($0) }
    }

    /// As ``shareParticipant(forUserRecordID:permission:)``, for several at once: a result for each name.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [Record.ID], permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> [Record.ID: Result<Share.Participant, SealKitError>] {
        try await shareParticipants(userRecordIDs, permission) { .userRecordName($0.recordName) }
    }

    private func shareParticipants<Handle: Hashable>(
        _ handles: [Handle], _ permission: Share.Participant.Permission, _ lookupInfo: (Handle) -> Share.LookupInfo
    ) async throws(SealKitError) -> [Handle: Result<Share.Participant, SealKitError>] {
        let found = try await shareParticipants(for: handles.map(lookupInfo), permission: permission)
        return Dictionary(handles.map { ($0, found[lookupInfo($0)] ?? .failure(Self.incomplete)) }) { first, _ in first
        }
    }

    /// The server's `handlesPerLookup`.
    private static let handlesPerLookup = 100

    fileprivate static let incomplete = SealKitError.lacking("somebody who was asked for")

    private func participant(
        _ handle: Share.LookupInfo, _ result: Sealkit_V1_IdentityResult, _ permission: Share.Participant.Permission
    ) async throws(SealKitError) -> Share.Participant {
        let chain = try await core.identity(in: result, of: handle)
        guard chain?.userID != core.userID() else {
            throw SealKitError(.invalidArguments, "the owner is a participant already", remedy: "invite somebody else")
        }
        let isVerified = try await !core.contacts.verified(among: chain.map { [$0.userID] } ?? []).isEmpty
        return Share.Participant(
            participantID: Share.Participant.newID(),
            userIdentity: Share.UserIdentity(
                userRecordID: chain.map { Record.ID(recordName: $0.userID.recordName) }, lookupInfo: handle,
                isVerified: isVerified),
            role: .privateUser, permission: permission, acceptanceStatus: .pending, chain: chain)
    }
}

extension ContainerCore {
    /// Asks the directory.
    /// - Parameter handles: 100 at most.
    /// - Returns: one for each, in their order; `identity(in:of:)` says what to make of it.
    func lookUp(_ handles: [Share.LookupInfo]) async throws(SealKitError) -> [Sealkit_V1_IdentityResult] {
        let request = Sealkit_V1_LookupIdentitiesRequest.with {
            $0.container = identifier
            $0.handles = handles.map(\.wire)
        }
        let response: Sealkit_V1_LookupIdentitiesResponse = try await call(Endpoints.people.lookup, request)
        guard response.results.count == handles.count else { throw Container.incomplete }
        return response.results
    }

    /// The keys of whoever was looked up, held against those that this device knows; nil for an address that is
    /// nobody's here.
    func identity(
        in result: Sealkit_V1_IdentityResult, of handle: Share.LookupInfo
    ) async throws(SealKitError) -> IdentityChain? {
        if result.hasFailure { throw SealKitError(result.failure) }
        return try await witnessing { () async throws(SealKitError) in
            guard result.hasChain else {
                guard case .userRecordName(let name) = handle else { return nil }
                throw SealKitError(
                    .unknownItem, "nobody is known as \(name) in \(identifier)",
                    remedy: "have that person open the app once, with the same container; or invite by e-mail address")
            }
            let found = try verifying("the identity that the server gave") { () throws(SealError) in
                try IdentityChain(result.chain, container: identifier)
            }
            // A name certifies its own keys; an address does not, and a grant to it needs the URL's secret as well.
            if case .userRecordName(let name) = handle, found.userID.recordName != name {
                throw SealKitError.integrity(.invalidIdentity, "the identity of \(name)")
            }
            try await contacts.observe([found], from: .directory)
            return found
        }
    }
}

extension Share.Participant {
    /// Somebody who is known by nothing but a URL of its own (``Share/oneTimeURL(for:)``, once the share is saved): the
    /// first who accepts with it is the participant.
    public static func oneTimeURLParticipant(permission: Permission = .readOnly) -> Share.Participant {
        Share.Participant(
            participantID: newID(), userIdentity: Share.UserIdentity(), role: .privateUser, permission: permission,
            acceptanceStatus: .pending)
    }

    static func newID() -> String {
        var random = SystemRandom()
        return ID16(random: &random).hex
    }
}

extension Share.LookupInfo {
    var wire: Sealkit_V1_LookupInfo {
        .with {
            switch self {
            case .emailAddress(let address): $0.email = address
            case .phoneNumber(let number): $0.phone = number
            case .userRecordName(let name): $0.userRecordName = name
            }
        }
    }
}
