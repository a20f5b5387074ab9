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
    /// Scheme, host and port.
    public var server: String { file.server }
    /// The one container that it is good for.
    public var containerIdentifier: String { file.container }
    /// The one environment that it is good for.
    public var environment: Container.Environment { file.environment == .production ? .production : .development }
    /// Its user record name, which is also the key's id.
    public var userRecordID: Record.ID { Record.ID(recordName: chain.userID.recordName) }

    var signingKey: SigningKey { file.signingKey }
    var chain: IdentityChain { file.chain }
    private let file: ServerCredentialFile

    init(
        server: String, container: String, environment: SealStatements.Environment, seed: SecretBytes,
        identity: SignedIdentity
    ) throws(SealKitError) {
        file = try verifying("the server credential") { () throws(SealError) in
            try ServerCredentialFile(
                server: server, container: container, environment: environment, seed: seed, identity: identity)
        }
    }

    /// - Throws: `notAuthenticated` when there is no such file; `invalidArguments` when it is not a credential;
    ///   `incompatibleVersion`; `integrityFailure` when its parts do not belong together; `permissionFailure` when
    ///   others can read it, or replace it.
    public init(contentsOf url: URL) throws(SealKitError) {
        guard let content = try PrivateFile.read(url) else {
            throw SealKitError(
                .notAuthenticated, "there is no server credential at \(url.path)",
                remedy: "make one with createServerKey(name:)")
        }
        let read = Result { () throws(ServerCredentialFile.Fault) in try ServerCredentialFile(content.bytes) }
        if case .failure(.malformed) = read { throw Self.error(.malformed, url) }
        try PrivateFile.checkAccess(content, of: url, isSecret: true)
        do { file = try read.get() } catch { throw Self.error(error, url) }
    }

    private static func error(_ fault: ServerCredentialFile.Fault, _ url: URL) -> SealKitError {
        switch fault {
        case .malformed:
            SealKitError(.invalidArguments, "\(url.path) is not a server credential", remedy: "name another file")
        case .version:
            SealKitError(.incompatibleVersion, "\(url.path) was made by a newer version", remedy: "update SealKit")
        case .inconsistent(let error): SealKitError.integrity(error, "the server credential")
        case .otherKey:
            SealKitError(
                .integrityFailure, "\(url.path) names another key than it holds", remedy: "make a new credential")
        }
    }

    /// Writes the file whole or not at all, mode 0600, and never over another.
    /// - Throws: `constraintViolation` when there is one already; `storageFull` or `internalError` when it cannot be
    ///   written.
    public func write(to url: URL) throws(SealKitError) {
        do {
            try PrivateFile.create(at: url, content: try file.encoded())
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
