public import Foundation
import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Container {
    /// A container without an account: its public database can be read, as far as everybody may.
    /// - Parameter identifier: of the container, like `com.example.notes`.
    /// - Parameter environment: development or production: each has its own data.
    /// - Parameter transport: what reaches the server.
    /// - Parameter trust: what this device has verified; without one, protection against rollback lasts as long as the
    ///   process.
    /// - Throws: `badContainer`.
    public init(
        _ identifier: String, environment: Environment = .development, transport: any Transport,
        trust: TrustStore? = nil
    ) throws(SealKitError) {
        try self.init(identifier, environment, transport: transport, access: .world, trust: trust)
    }

    /// A container for a server that has a server-to-server key: its public database can be read and written.
    ///
    /// ```swift
    /// let credential = try ServerCredential(contentsOf: URL(fileURLWithPath: "credential.json"))
    /// let container = try Container(serverCredential: credential)
    /// try await container.publicDatabase.save(record)
    /// ```
    /// - Throws: `badContainer`; `invalidArguments` for a server that is none.
    public init(
        serverCredential: ServerCredential, configuration: HTTPTransport.Configuration = .init(),
        trust: TrustStore? = nil
    ) throws(SealKitError) {
        let signer = RequestSigner(key: serverCredential.signingKey, user: serverCredential.chain.userID)
        let transport = try HTTPTransport(server: serverCredential.server, configuration: configuration, signer: signer)
        try self.init(
            serverCredential.containerIdentifier, serverCredential.environment, transport: transport,
            access: .serverKey(serverCredential), trust: trust)
    }

    private init(
        _ identifier: String, _ environment: Environment, transport: any Transport, access: ContainerAccess,
        trust: TrustStore?
    ) throws(SealKitError) {
        let known: TrustStore
        if let trust { known = trust } else { known = try TrustStore() }
        self.init(
            store: ContainerStore(
                try ContainerCore(
                    account: try Account.withoutSession(transport: transport), access: access, identifier: identifier,
                    environment: environment == .production ? .production : .development, trust: known
                ) { () throws(SealKitError) in }))
    }

    /// The user's own record in the public database, of the type `Users`.
    ///
    /// Everybody can read it, and only its user can change it. As with CloudKit it need not be made:
    /// `record(for: userRecordID())` gives it as well, in the private database another one. What its user never asked
    /// for others do not find.
    /// - Throws: `notAuthenticated` without an account.
    public func userRecord() async throws(SealKitError) -> Record {
        _ = try core.publicSigner()
        return try await publicDatabase.record(for: try userRecordID())
    }

    // MARK: Server-to-server keys

    /// A key as its account sees it.
    public struct ServerKey: Sendable, Hashable {
        /// The key's own user record, which is also its id.
        public let userRecordID: Record.ID
        /// What it was called when it was made.
        public let name: String
        /// When it was made, by the server's clock.
        public let created: Date

        init(_ wire: Sealkit_V1_ServerKey) {
            userRecordID = Record.ID(recordName: wire.userRecordName)
            name = wire.name
            created = Date(microseconds: wire.created)
        }
    }

    /// Makes a server-to-server key for this container and environment. The server gets its public half only. New keys
    /// of the account end it (`Account.rotateKeys`).
    /// - Parameter name: for people: 1 to 255 bytes.
    /// - Throws: `invalidArguments`; `limitExceeded` above 20 keys an account; `requestRateLimited`.
    public func createServerKey(name: String) async throws(SealKitError) -> ServerCredential {
        var random = SystemRandom()
        let seed = SecretBytes(random: &random)
        let container = core.identifier
        let (key, identity) = try verifying("the new key") { () throws(SealError) in
            let key = try SigningKey(seed: seed)
            // Every identity names a key for grants. The seed of this one is forgotten: nothing can ever be granted to
            // it.
            let grantKey = try XWingHPKE.publicKey(seed: SecretBytes(random: &random))
            let bytes = Identity(
                container: container, generation: 0, signingKey: key.verificationKey, grantKey: grantKey,
                time: currentTime(),
                previous: .zero
            ).canonicalBytes()
            return (key, SignedIdentity(bytes: bytes, signature: key.sign(Identity.signedBytes(bytes))))
        }
        let credential = try ServerCredential(
            server: core.account.server, container: container, environment: core.environment, seed: seed,
            identity: identity)
        try core.requireSignedIn()
        let registration = IdentityRegistration(
            credential.chain, container: container, loginKey: core.account.session.publicKey, by: key)
        let request = Sealkit_V1_CreateServerKeyRequest.with {
            $0.name = name
            $0.chain = registration.chain.wire
            $0.loginBinding = Data(registration.loginBinding)
        }
        let response: Sealkit_V1_CreateServerKeyResponse = try await core.call(
            .public, Endpoints.management.createServerKey, request)
        do { try registration.check(answer: response.key.userRecordName) } catch {
            throw SealKitError(.integrityFailure, "the server names the new key otherwise than the key itself does")
        }
        return credential
    }

    /// This account's server-to-server keys for this container and environment.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func serverKeys() async throws(SealKitError) -> [ServerKey] {
        let response: Sealkit_V1_ListServerKeysResponse = try await core.call(
            .public, Endpoints.management.listServerKeys, Sealkit_V1_ListServerKeysRequest())
        return response.keys.map { ServerKey($0) }
    }

    /// Revokes a key: its requests are refused from now on. What it saved stays.
    /// - Throws: `unknownItem` when the account has no such key here; `serverResponseLost`: revoke it again, and
    ///   `unknownItem` says that it was done.
    public func revokeServerKey(_ userRecordID: Record.ID) async throws(SealKitError) {
        let request = Sealkit_V1_RevokeServerKeyRequest.with { $0.userRecordName = userRecordID.recordName }
        let _: Sealkit_V1_RevokeServerKeyResponse = try await core.call(
            .public, Endpoints.management.revokeServerKey, request)
    }
}
