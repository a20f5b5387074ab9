public import Foundation
public import SealEnvelope
import SealPrimitives

/// An account's seeds in a file: mode 0600, sealed by a passphrase when one is given (Argon2id).
///
/// Whoever reads an unsealed key file is the user. The file is JSON with one line of base64url, so that it survives mail
/// and copy and paste.
public struct KeyFile: Sendable {
    private struct Content: Codable {
        var format = "sealkit-key-file"
        var version = 1
        var server: String
        /// Whether `seeds` is a password box.
        var sealed: Bool
        var seeds: String
    }

    public let server: String
    public let isSealed: Bool
    private let seeds: SecretBytes

    /// - Throws: `invalidArguments` when there is no such file, or it is not a key file.
    public init(contentsOf url: URL) throws(SealKitError) {
        guard let data = try? Data(contentsOf: url) else {
            throw SealKitError(
                .notAuthenticated, "there is no key file at \(url.path)",
                remedy: "make an account first, or name its key file")
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: data), content.format == "sealkit-key-file",
            let seeds = try? Base64URL.decodeSecret(content.seeds)
        else { throw SealKitError(.invalidArguments, "\(url.path) is not a key file", remedy: "name another file") }
        guard content.version == 1 else {
            throw SealKitError(.incompatibleVersion, "\(url.path) was made by a newer version", remedy: "update SealKit")
        }
        server = content.server
        isSealed = content.sealed
        self.seeds = seeds
    }

    /// - Parameter passphrase: asked for only when the file is sealed.
    /// - Throws: `wrongPassphrase`; `invalidArguments` for a damaged file.
    public func open(passphrase: () throws(SealKitError) -> String) throws(SealKitError) -> [AccountSeed] {
        var opened = seeds
        if isSealed {
            let password = SecretBytes(copying: try passphrase().utf8)
            do {
                opened = try PasswordBox.open(seeds.copyBytes(), password: password)
            } catch {
                switch error {
                case .authenticationFailed:
                    throw SealKitError(.wrongPassphrase, "the passphrase does not open the key file", remedy: "type it again")
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
        do {
            return try AccountSeed.all(in: opened)
        } catch {
            throw SealKitError(.invalidArguments, "the key file is damaged", remedy: "recover the account with its recovery key")
        }
    }

    /// Writes the file whole or not at all, readable by its user alone.
    /// - Throws: `constraintViolation` when there is one already; `storageFull` or `internalError` when it cannot be written.
    public static func write(_ account: Account, to url: URL, passphrase: String?) throws(SealKitError) {
        let plaintext = SecretBytes(joining: account.seeds.map(\.bytes))
        var random = SystemRandom()
        let stored: SecretBytes
        if let passphrase {
            guard !passphrase.isEmpty else { throw SealKitError(.invalidArguments, "the passphrase is empty", remedy: "give one, or none at all") }
            do {
                let box = try PasswordBox.seal(plaintext, password: SecretBytes(copying: passphrase.utf8), random: &random)
                stored = SecretBytes(copying: box)
            } catch {
                throw SealKitError(.internalError, "there is not enough memory to seal the key file", remedy: "Argon2id needs 256 MiB")
            }
        } else {
            stored = plaintext
        }
        let content = Content(server: account.server, sealed: passphrase != nil, seeds: Base64URL.encode(stored))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try PrivateFile.create(at: url, content: try encoder.encode(content) + Data("\n".utf8))
        } catch let error as SealKitError {
            throw error
        } catch {
            throw SealKitError(.internalError, "the key file could not be encoded")
        }
    }
}

extension KeyFile: CustomStringConvertible {
    public var description: String { "KeyFile(\(server), sealed: \(isSealed))" }
}

/// Files that only their user may read.
enum PrivateFile {
    /// Makes a new file of mode 0600; never over one that is there.
    static func create(at url: URL, content: Data) throws(SealKitError) {
        let temporary = url.path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        let written = content.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let synced = fsync(descriptor)
        let saved = errno
        close(descriptor)
        guard written == content.count, synced == 0 else {
            errno = saved
            unlink(temporary)
            throw failure(url)
        }
        // A hard link fails where a rename would silently replace.
        let linked = link(temporary, url.path)
        let reason = errno
        unlink(temporary)
        errno = reason
        guard linked == 0 else { throw failure(url) }
    }

    private static func failure(_ url: URL) -> SealKitError {
        switch errno {
        case EEXIST:
            SealKitError(
                .constraintViolation, "there is a file at \(url.path) already", remedy: "name another file, or move it away")
        case ENOSPC, EDQUOT: SealKitError(.storageFull, "the disk is full; \(url.path) was not written", remedy: "free some space")
        default:
            SealKitError(
                .internalError, "\(url.path) could not be written (\(String(cString: strerror(errno))))",
                remedy: "check that the folder exists and is yours")
        }
    }
}
