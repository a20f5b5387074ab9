public import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire

/// What another server needs to write to one container's public database, without a person: a server-to-server key.
///
/// The key is a user of its own, and the creator of what it saves. It opens nothing, is nobody's account, and reaches
/// nothing but its public database; its account's owner can revoke it at any time.
public struct ServerCredential: Sendable {
    private struct Content: Codable {
        var format = "sealkit-server-credential"
        var version = 1
        var server: String
        var container: String
        var environment: String
        var keyID: String
        /// Seed of the Ed25519 key that signs requests and records.
        var signingSeed: String
        /// The identity's statement and its signature: public.
        var identity: String
        var identitySignature: String
    }

    /// Scheme, host and port.
    public let server: String
    /// The one container that it is good for.
    public let containerIdentifier: String
    /// The one environment that it is good for.
    public let environment: Container.Environment
    /// Its user record name, which is also the key's id.
    public var userRecordID: Record.ID { Record.ID(recordName: chain.userID.recordName) }

    let signingKey: SigningKey
    let chain: IdentityChain
    private let seed: SecretBytes

    init(
        server: String, container: String, environment: Container.Environment, seed: SecretBytes,
        identity: SignedIdentity
    ) throws(SealKitError) {
        self.server = server
        containerIdentifier = container
        self.environment = environment
        self.seed = seed
        (signingKey, chain) = try verifying("the server credential") { () throws(SealError) in
            let key = try SigningKey(seed: seed)
            let chain = try IdentityChain(verifying: [identity], container: container)
            guard chain.current.signingKey == key.verificationKey else { throw .invalidIdentity }
            return (key, chain)
        }
    }

    /// - Throws: `notAuthenticated` when there is no such file; `invalidArguments` when it is not a credential;
    ///   `incompatibleVersion`; `integrityFailure` when its parts do not belong together; `permissionFailure` when
    ///   others can read it, or replace it.
    public init(contentsOf url: URL) throws(SealKitError) {
        guard let file = try PrivateFile.read(url) else {
            throw SealKitError(
                .notAuthenticated, "there is no server credential at \(url.path)",
                remedy: "make one with createServerKey(name:)")
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: file.bytes),
            content.format == "sealkit-server-credential",
            let environment = Container.Environment(rawValue: content.environment),
            let seed = try? Base64URL.decodeSecret(content.signingSeed),
            let bytes = try? Base64URL.decode(content.identity),
            let signature = try? Base64URL.decode(content.identitySignature)
        else {
            throw SealKitError(.invalidArguments, "\(url.path) is not a server credential", remedy: "name another file")
        }
        try PrivateFile.checkAccess(file, of: url, isSecret: true)
        guard content.version == 1 else {
            throw SealKitError(
                .incompatibleVersion, "\(url.path) was made by a newer version", remedy: "update SealKit")
        }
        try self.init(
            server: content.server, container: content.container, environment: environment, seed: seed,
            identity: SignedIdentity(bytes: bytes, signature: signature))
        guard content.keyID == chain.userID.recordName else {
            throw SealKitError(
                .integrityFailure, "\(url.path) names another key than it holds", remedy: "make a new credential")
        }
    }

    /// Writes the file whole or not at all, mode 0600, and never over another.
    /// - Throws: `constraintViolation` when there is one already; `storageFull` or `internalError` when it cannot be
    ///   written.
    public func write(to url: URL) throws(SealKitError) {
        let identity = chain.signed[0]
        let content = Content(
            server: server, container: containerIdentifier, environment: environment.rawValue,
            keyID: chain.userID.recordName,
            signingSeed: Base64URL.encode(seed), identity: Base64URL.encode(identity.bytes),
            identitySignature: Base64URL.encode(identity.signature))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try PrivateFile.create(at: url, content: try encoder.encode(content) + Data("\n".utf8))
        } catch let error as SealKitError {
            throw error
        } catch {
            throw SealKitError(.internalError, "the server credential could not be encoded")
        }
    }
}

extension ServerCredential: CustomStringConvertible, CustomReflectable {
    /// Without the key.
    public var description: String { "ServerCredential(\(server), \(containerIdentifier), \(environment.rawValue))" }
    public var customMirror: Mirror { Mirror(self, children: ["server": server, "container": containerIdentifier]) }
}

/// Signs requests as a server-to-server key.
struct RequestSigner: Sendable {
    let key: SigningKey
    let user: UserID

    /// A fresh date and nonce each time: a request that is sent again is another request.
    func headers(origin: String, method: String, path: String, body: [UInt8]) -> [(name: String, value: String)] {
        var random = SystemRandom()
        let nonce = ID16(random: &random)
        let date = ServerRequests.date(at: currentTime())
        let signed = ServerRequests.signedBytes(
            origin: origin, user: user, method: method, path: path, date: date, nonce: nonce, body: body)
        return [
            ("X-SealKit-Key-ID", user.recordName), ("X-SealKit-Date", date), ("X-SealKit-Nonce", nonce.hex),
            ("X-SealKit-Signature", Hex.encode(key.sign(signed))),
        ]
    }
}
