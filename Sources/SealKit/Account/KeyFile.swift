public import Foundation
public import SealEnvelope
import SealPrimitives

/// An account's seeds in a file: mode 0600, sealed by a passphrase when one is given (Argon2id).
///
/// Whoever reads an unsealed key file is the user. The file is JSON with one line of base64url, so that it survives
/// mail and copy and paste. ``FileKeyStore`` keeps an account in one.
public struct KeyFile: Sendable {
    private struct Content: Codable {
        var format = "sealkit-key-file"
        var version = 1
        var server: String
        var deviceName: String?
        /// Whether `seeds` is a password box.
        var sealed: Bool
        var seeds: String
        /// Missing where it is false.
        var unfinished: Bool?
    }

    /// Where the account is: scheme, host and port.
    public let server: String
    /// Whether it takes a passphrase to open it.
    public let isSealed: Bool
    /// Whether its account was begun to be made, and nobody has used it yet (``AccountSecrets/isUnfinished``).
    public let isUnfinished: Bool
    private let deviceName: String?
    private let seeds: SecretBytes

    /// - Throws: `notAuthenticated` when there is no such file; `invalidArguments` when it is not a key file;
    ///   `permissionFailure` when others can read it unsealed, or replace it.
    public init(contentsOf url: URL) throws(SealKitError) {
        guard let content = try PrivateFile.read(url) else { throw KeyFile.missing(url) }
        try self.init(content.bytes, name: url.path)
        try PrivateFile.checkAccess(content, of: url, isSecret: !isSealed)
    }

    /// - Parameter name: what errors call it.
    init(_ data: Data, name: String) throws(SealKitError) {
        guard let content = try? JSONDecoder().decode(Content.self, from: data), content.format == "sealkit-key-file",
            let seeds = try? Base64URL.decodeSecret(content.seeds)
        else {
            throw SealKitError(
                .invalidArguments, "\(name) is not a key file, or is cut short",
                remedy: "name another file, or recover the account with its recovery key")
        }
        guard content.version == 1 else {
            throw SealKitError(.incompatibleVersion, "\(name) was made by a newer version", remedy: "update SealKit")
        }
        server = content.server
        deviceName = content.deviceName
        isSealed = content.sealed
        isUnfinished = content.unfinished ?? false
        self.seeds = seeds
    }

    /// - Parameter passphrase: asked for only when the file is sealed.
    /// - Throws: `wrongPassphrase`; `invalidArguments` for a damaged file.
    public func open(passphrase: () throws(SealKitError) -> String) throws(SealKitError) -> [AccountSeed] {
        try secrets(passphrase: passphrase).seeds
    }

    func secrets(passphrase: () throws(SealKitError) -> String) throws(SealKitError) -> AccountSecrets {
        try secrets(passphrase: SecretBytes(passphrase: isSealed ? try passphrase() : ""))
    }

    func secrets(passphrase: SecretBytes) throws(SealKitError) -> AccountSecrets {
        let opened = isSealed ? try unseal(passphrase) : seeds
        do {
            let (seeds, recoveryKey) = try KeyFile.parts(of: opened, isUnfinished: isUnfinished)
            var secrets = try AccountSecrets(server: server, seeds: seeds, deviceName: deviceName)
            secrets.recoveryKey = recoveryKey
            return secrets
        } catch {
            throw SealKitError(
                .invalidArguments, "the key file is damaged", remedy: "recover the account with its recovery key")
        }
    }

    private static func parts(
        of secret: SecretBytes, isUnfinished: Bool
    ) throws(SealError) -> ([AccountSeed], RecoveryKey?) {
        guard isUnfinished else { return (try AccountSeed.all(in: secret), nil) }
        let end = secret.count - 32
        guard end > 0, let seeds = secret.part(0..<end), let key = secret.part(end..<secret.count) else {
            throw .malformed
        }
        return (try AccountSeed.all(in: seeds), try RecoveryKey(key))
    }

    private func unseal(_ passphrase: SecretBytes) throws(SealKitError) -> SecretBytes {
        do {
            return try PasswordBox.open(seeds.copyBytes(), password: passphrase)
        } catch {
            switch error {
            case .authenticationFailed:
                throw SealKitError(
                    .wrongPassphrase, "the passphrase does not open the key file", remedy: "type it again")
            case .outOfMemory:
                throw SealKitError(
                    .internalError, "there is not enough memory to check the passphrase",
                    remedy: "Argon2id needs 256 MiB; close something else")
            default:
                throw SealKitError(
                    .invalidArguments, "the key file is damaged, or sealed with parameters below the floor",
                    remedy: "recover the account with its recovery key")
            }
        }
    }

    /// Writes the file whole or not at all, readable by its user alone.
    /// - Throws: `constraintViolation` when there is one already; `storageFull` or `internalError` when it cannot be
    ///   written.
    public static func write(_ account: Account, to url: URL, passphrase: String?) throws(SealKitError) {
        guard passphrase?.isEmpty != true else { throw emptyPassphrase }
        let content = try content(try account.secrets, passphrase: passphrase.map(SecretBytes.init(passphrase:)))
        try PrivateFile.create(at: url, content: content)
    }

    /// A key file's bytes.
    static func content(_ secrets: AccountSecrets, passphrase: SecretBytes?) throws(SealKitError) -> Data {
        let plaintext = secrets.secret
        var stored = plaintext
        if let passphrase {
            var random = SystemRandom()
            do {
                stored = SecretBytes(copying: try PasswordBox.seal(plaintext, password: passphrase, random: &random))
            } catch {
                throw SealKitError(
                    .internalError, "there is not enough memory to seal the key file", remedy: "Argon2id needs 256 MiB")
            }
        }
        let content = Content(
            server: secrets.server, deviceName: secrets.deviceName, sealed: passphrase != nil,
            seeds: Base64URL.encode(stored), unfinished: secrets.isUnfinished ? true : nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(content) + Data("\n".utf8)
        } catch {
            throw SealKitError(.internalError, "the key file could not be encoded")
        }
    }

    static func missing(_ url: URL) -> SealKitError {
        SealKitError(
            .notAuthenticated, "there is no key file at \(url.path)",
            remedy: "make an account first, or name its key file")
    }

    static var emptyPassphrase: SealKitError {
        SealKitError(.invalidArguments, "the passphrase is empty", remedy: "give one, or none at all")
    }
}

extension KeyFile: CustomStringConvertible {
    public var description: String { "KeyFile(\(server), sealed: \(isSealed))" }
}
