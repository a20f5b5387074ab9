import Foundation
package import SealPrimitives
import SealService
import SealStorage
import SealSystem

/// Whom backups are sealed to: a public key of libsodium's box (X25519), `sealkit-backup-` and 32 bytes in base64url.
package struct BackupRecipient: Sendable, Equatable {
    private static let prefix = "sealkit-backup-"

    let publicKey: [UInt8]

    init(publicKey: [UInt8]) { self.publicKey = publicKey }

    /// - Throws: `BackupError`, for a text that is none.
    package init(_ text: String) throws(BackupError) {
        guard text.hasPrefix(Self.prefix), let bytes = try? Base64URL.decode(text.dropFirst(Self.prefix.count)),
            bytes.count == SealedBox.keyBytes
        else {
            throw BackupError(
                .badInput, "the recipient is no public key of backups",
                remedy: "give what sealkit backup key printed: \(Self.prefix) and 43 characters")
        }
        publicKey = bytes
    }

    package var text: String { Self.prefix + Base64URL.encode(publicKey) }

    /// Names the folder of what is sealed to it: 16 hexadecimal digits.
    var fingerprint: String { Hex.encode([UInt8](ServerHash.digest(.backupRecipient, publicKey).prefix(8))) }
}

/// The secret half: what opens backups. Nothing but a restore needs it, so that it need not be on the server.
package struct BackupKey: Sendable {
    private static let prefix = "sealkit-backup-secret-"

    let secretKey: SecretBytes
    package let recipient: BackupRecipient

    private init(_ secretKey: SecretBytes) throws(SealError) {
        self.secretKey = secretKey
        recipient = BackupRecipient(publicKey: try SealedBox.publicKey(of: secretKey))
    }

    package static func generate() throws(SealError) -> BackupKey {
        var random = SystemRandom()
        return try BackupKey(SecretBytes(random: &random, count: SealedBox.keyBytes))
    }

    /// A file that its owner alone may read.
    /// - Throws: `BackupError`, `FileError`, `SecretFileError`.
    package init(file path: String) throws {
        var contents = try SecretFile.contents(of: path, atMost: 256)
        defer { wipe(&contents) }
        let line = String(decoding: contents.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard line.hasPrefix(Self.prefix), let key = try? Base64URL.decodeSecret(line.dropFirst(Self.prefix.count)),
            let made = try? BackupKey(key)
        else {
            throw BackupError(
                .badInput, "\(path) holds no secret key of backups",
                remedy: "name the file that sealkit backup key made: it begins with \(Self.prefix)")
        }
        self = made
    }

    /// Into a new file, mode 0600.
    /// - Throws: `FileError`, also where there is such a file.
    package func write(to path: String) throws {
        var contents = Array((Self.prefix + Base64URL.encode(secretKey) + "\n").utf8)
        defer { wipe(&contents) }
        try SecretFile.create(at: path.absolutePath, contents: contents)
    }
}
