public import Foundation
public import SealPrimitives
public import SealStatements

/// A server-to-server key as its file has it: JSON, verified. Whoever has the file's bytes has the key.
public struct ServerCredentialFile: Sendable {
    private struct Content: Codable {
        static let known = "sealkit-server-credential"
        var format = known
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

    /// Why bytes are no such file.
    public enum Fault: Error, Sendable, Hashable {
        case malformed
        /// Made by a newer version.
        case version
        /// Its parts do not belong together.
        case inconsistent(SealError)
        /// It names another key than it holds.
        case otherKey
    }

    /// More than any such file has.
    public static let mostBytes = 16_384

    /// Scheme, host and port.
    public let server: String
    public let container: String
    public let environment: SealStatements.Environment
    public let signingKey: SigningKey
    public let chain: IdentityChain
    private let seed: SecretBytes

    /// - Throws: `invalidIdentity` where the identity is not the seed's; as `IdentityChain.init(verifying:container:)`.
    public init(
        server: String, container: String, environment: SealStatements.Environment, seed: SecretBytes,
        identity: SignedIdentity
    ) throws(SealError) {
        (self.server, self.container, self.environment, self.seed) = (server, container, environment, seed)
        signingKey = try SigningKey(seed: seed)
        chain = try IdentityChain(verifying: [identity], container: container)
        guard chain.current.signingKey == signingKey.verificationKey else { throw .invalidIdentity }
    }

    public init(_ bytes: Data) throws(Fault) {
        guard let content = try? JSONDecoder().decode(Content.self, from: bytes), content.format == Content.known,
            let environment = SealStatements.Environment(name: content.environment),
            let seed = try? Base64URL.decodeSecret(content.signingSeed),
            let identity = try? Base64URL.decode(content.identity),
            let signature = try? Base64URL.decode(content.identitySignature)
        else { throw .malformed }
        guard content.version == 1 else { throw .version }
        do throws(SealError) {
            try self.init(
                server: content.server, container: content.container, environment: environment, seed: seed,
                identity: SignedIdentity(bytes: identity, signature: signature))
        } catch {
            throw .inconsistent(error)
        }
        guard content.keyID == chain.userID.recordName else { throw .otherKey }
    }

    /// - Throws: `EncodingError`, for a server that is no text.
    public func encoded() throws -> Data {
        let identity = chain.signed[0]
        let content = Content(
            server: server, container: container, environment: environment.name, keyID: chain.userID.recordName,
            signingSeed: Base64URL.encode(seed), identity: Base64URL.encode(identity.bytes),
            identitySignature: Base64URL.encode(identity.signature))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(content) + Data("\n".utf8)
    }
}

extension ServerCredentialFile: CustomStringConvertible, CustomReflectable {
    /// Without the key.
    public var description: String { "ServerCredentialFile(\(server), \(container), \(environment.name))" }
    public var customMirror: Mirror { Mirror(self, children: ["server": server, "container": container]) }
}
