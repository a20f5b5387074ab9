public import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Share {
    /// Somebody who asked for access: CloudKit's `CKShare.AccessRequester`.
    public struct AccessRequester: Sendable {
        /// Who asks.
        public let userIdentity: UserIdentity
        /// What somebody says of itself, for people to read: nobody has verified it. Sealed to the owner; empty for
        /// administrators, who see the user name alone.
        public let contact: String
        /// When they asked, by the server's clock.
        public let dateRequested: Date
        /// What to fetch a participant with, to approve: ``Container/shareParticipant(for:permission:)``, add, save.
        public var participantLookupInfo: LookupInfo { .userRecordName(userID.recordName) }

        let userID: UserID
    }

    /// Somebody who can neither join the share nor ask for access.
    public struct BlockedIdentity: Sendable, Hashable {
        /// Who is blocked.
        public let userRecordID: Record.ID

        let userID: UserID

        init(_ userID: UserID) {
            self.userID = userID
            userRecordID = Record.ID(recordName: userID.recordName)
        }
    }

    /// The difference that saving sends, where it is not in the participants.
    struct Edits: Sendable {
        var publicPermission = Participant.Permission.none
        var allowsAccessRequests = false
        var denied: Set<UserID> = []
        var blocked: Set<UserID> = []
        var unblocked: Set<UserID> = []
    }

    /// Refuses requests for access; whoever is denied may ask again. Save the share to apply it.
    public mutating func denyRequesters(_ requesters: [AccessRequester]) {
        let users = Set(requesters.map(\.userID))
        self.requesters.removeAll { users.contains($0.userID) }
        edits.denied.formUnion(users)
    }

    /// Refuses requests for good. Save the share to apply it.
    public mutating func blockRequesters(_ requesters: [AccessRequester]) {
        for requester in requesters { block(requester.userID) }
    }

    /// Removes a participant who cannot come back, by whatever URL. Save the share to apply it; blocking opens a new
    /// key.
    /// - Throws: `invalidArguments` for a placeholder, whose name nobody knows, and for the owner.
    public mutating func blockParticipant(_ participant: Participant) throws(SealKitError) {
        let name = participant.userIdentity.userRecordID?.recordName
        guard participant.role != .owner, let user = name.flatMap({ try? UserID(recordName: $0) }) else {
            throw SealKitError(
                .invalidArguments, "the owner, and who has no account yet, cannot be blocked",
                remedy: "remove the invitation")
        }
        block(user)
    }

    /// Lets people be invited again; it makes nobody a participant. Save the share to apply it.
    public mutating func unblockIdentities(_ identities: [BlockedIdentity]) {
        let users = Set(identities.map(\.userID))
        blockedIdentities.removeAll { users.contains($0.userID) }
        edits.unblocked.formUnion(users)
        edits.blocked.subtract(users)
    }

    private mutating func block(_ user: UserID) {
        participants.removeAll { $0.userIdentity.userRecordID?.recordName == user.recordName && $0.role != .owner }
        requesters.removeAll { $0.userID == user }
        if !blockedIdentities.contains(where: { $0.userID == user }) { blockedIdentities.append(BlockedIdentity(user)) }
        edits.blocked.insert(user)
        edits.unblocked.remove(user)
    }
}

extension Share.AccessRequester: CustomStringConvertible {
    /// Without the contact.
    public var description: String { "AccessRequester(\(userID.recordName))" }
}

extension Database {
    /// What the server keeps of a share beside its roster, for those who may see it.
    func access(
        to share: SealStatements.Scope
    ) async throws(SealKitError) -> Sealkit_V1_FetchShareAccessResponse {
        let request = Sealkit_V1_FetchShareAccessRequest.with {
            $0.zone = share.zoneIDOnWire
            $0.shareRecordName = share.shareRecordName
        }
        return try await core.call(scope, Endpoints.sharing.fetchAccess, request)
    }

    /// Fills that in.
    func add(
        _ response: Sealkit_V1_FetchShareAccessResponse, to share: inout Share, view: ZoneView
    ) throws(SealKitError) {
        share.allowsAccessRequests = response.allowsRequests
        share.edits.allowsAccessRequests = response.allowsRequests
        for wire in response.requesters {
            share.requesters.append(
                try verifying("somebody who asks for access") { () throws(SealError) in
                    // The name certifies its keys; whether it asked is the server's word, and approving it is the
                    // user's choice.
                    let chain = try IdentityChain(wire.chain, container: core.identifier)
                    let contact = try? core.identity().open { keys throws(SealError) in
                        try SealedContact<XWingHPKE>.open(
                            [UInt8](wire.sealedContact), scopeID: view.roster.scopeID,
                            requestID: try ID16(wire.requestID),
                            as: core.userID(), keys: keys)
                    }
                    return Share.AccessRequester(
                        userIdentity: .init(
                            userRecordID: Record.ID(recordName: chain.userID.recordName),
                            lookupInfo: .userRecordName(chain.userID.recordName)),
                        contact: contact ?? "", dateRequested: Date(microseconds: wire.time), userID: chain.userID)
                })
        }
        let approved = Set(response.approved)
        for index in share.participants.indices {
            guard let name = share.participants[index].userIdentity.userRecordID?.recordName else { continue }
            share.participants[index].isApprovedRequester = approved.contains(name)
        }
    }

    /// Sends what has changed there.
    func saveAccess(of share: Share, view: ZoneView) async throws(SealKitError) {
        let changesSetting = share.allowsAccessRequests != share.edits.allowsAccessRequests
        guard changesSetting || !share.edits.denied.isEmpty else { return }
        let request = Sealkit_V1_UpdateShareAccessRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
            if changesSetting { $0.allowsRequests = share.allowsAccessRequests }
            $0.denied = share.edits.denied.map(\.recordName).sorted()
        }
        let _: Sealkit_V1_UpdateShareAccessResponse = try await core.call(
            scope, Endpoints.sharing.updateAccess, request)
    }
}

extension Container {
    /// Asks the owner of a share for access, where ``Share/allowsAccessRequests`` says that strangers may.
    ///
    /// - Parameter url: the share's, whole.
    /// - Parameter contact: who asks, for the owner to recognise: a name, an address. Only the owner can read it.
    /// - Throws: `unknownItem` where there is no such share, or it takes no requests, or the caller is blocked: all
    ///   look alike; `participantAlreadyInvited` for somebody who may accept it right away; `invalidArguments` for a
    ///   URL that is cut short, and for a participant; `limitExceeded`; `requestRateLimited`.
    public func requestShareAccess(_ url: String, contact: String) async throws(SealKitError) {
        let url = try await shareURL(url)
        let response: Sealkit_V1_ShareOwnerResponse = try await core.call(
            Endpoints.sharing.owner, Sealkit_V1_ShareOwnerRequest.with { $0.routingID = Data(url.routingID.bytes) })
        var random = SystemRandom()
        let requestID = ID16(random: &random)
        let core = core
        let (owner, scope) = try await core.witnessing { () async throws(SealKitError) in
            let place = SharePlace(
                container: response.container, environment: response.environment, response.zone,
                response.shareRecordName)
            let (owner, scope) = try judging(url) { () throws(ShareRefusal) in
                try place.owner(
                    try IdentityChain(response.owner, container: core.identifier), behind: url,
                    container: core.identifier, environment: core.environment)
            }
            try await core.contacts.observe([owner], from: .directory)
            return (owner, scope)
        }
        let sealed = try verifying("the contact") { () throws(SealError) in
            try SealedContact<XWingHPKE>.seal(contact, scopeID: scope.id, requestID: requestID, to: owner)
        }
        let request = Sealkit_V1_RequestShareAccessRequest.with {
            $0.routingID = Data(url.routingID.bytes)
            $0.requestID = Data(requestID.bytes)
            $0.sealedContact = Data(sealed)
        }
        let _: Sealkit_V1_RequestShareAccessResponse = try await core.call(Endpoints.sharing.requestAccess, request)
    }
}
