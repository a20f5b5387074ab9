import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Container {
    /// Somebody to add to a share, by e-mail address. An unknown address is not an error: it gives a placeholder, whose
    /// `userIdentity.hasAccount` is false and who gets a one-time URL.
    ///
    /// - Throws: `invalidArguments` for what is no address; `integrityFailure` when the server answers with keys that do
    ///   not belong to the name it gives.
    public func shareParticipant(
        forEmailAddress address: String, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await participant(.emailAddress(address), permission)
    }

    /// Somebody to add to a share, by phone number: `+` and the digits.
    public func shareParticipant(
        forPhoneNumber number: String, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await participant(.phoneNumber(number), permission)
    }

    /// Somebody to add to a share, by whatever is known: of a requester its ``Share/AccessRequester/participantLookupInfo``.
    public func shareParticipant(
        for lookupInfo: Share.LookupInfo, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await participant(lookupInfo, permission)
    }

    public func shareParticipant(
        forUserRecordID userRecordID: Record.ID, permission: Share.Participant.Permission = .readOnly
    ) async throws(SealKitError) -> Share.Participant {
        try await participant(.userRecordName(userRecordID.recordName), permission)
    }

    private func participant(
        _ handle: Share.LookupInfo, _ permission: Share.Participant.Permission
    ) async throws(SealKitError) -> Share.Participant {
        let request = Sealkit_V1_LookupIdentitiesRequest.with {
            $0.container = core.identifier
            $0.handles = [handle.wire]
        }
        let response: Sealkit_V1_LookupIdentitiesResponse = try await core.call(path: "/1/directory/lookup", request)
        guard let result = response.results.first else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks the person that was asked for")
        }
        let chain = try await core.witnessing { () async throws(SealKitError) in try await known(result, handle) }
        return Share.Participant(
            participantID: Share.Participant.newID(),
            userIdentity: Share.UserIdentity(
                userRecordID: chain.map { Record.ID(recordName: $0.userID.recordName) }, lookupInfo: handle),
            role: .privateUser, permission: permission, acceptanceStatus: .pending, chain: chain)
    }

    /// The keys of whoever was looked up; nil for an address that is nobody's here.
    private func known(
        _ result: Sealkit_V1_IdentityResult, _ handle: Share.LookupInfo
    ) async throws(SealKitError) -> IdentityChain? {
        if result.hasChain {
            let found = try verifying("the identity that the server gave") { () throws(SealError) in
                try IdentityChain(result.chain, container: core.identifier)
            }
            // A name certifies its own keys; an address does not, and a grant to it needs the URL's secret as well.
            if case .userRecordName(let name) = handle, found.userID.recordName != name {
                throw SealKitError.integrity(.invalidIdentity, "the identity of \(name)")
            }
            guard found.userID != core.userID() else {
                throw SealKitError(.invalidArguments, "the owner is a participant already", remedy: "invite somebody else")
            }
            try await core.contacts.observe([found], from: .directory)
            return found
        }
        if case .userRecordName(let name) = handle {
            throw SealKitError(.unknownItem, "nobody is known as \(name) here", remedy: "invite by e-mail address")
        }
        return nil
    }
}

extension Share.Participant {
    /// Somebody who is known by nothing but a URL of its own (``Share/oneTimeURL(for:)``, once the share is saved): the first
    /// who accepts with it is the participant.
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
