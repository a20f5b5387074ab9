import Foundation
import SealPrimitives
import SealStatements

/// The keys of verification tokens: the newest signs, all verify, so that rotating one never breaks a token under way.
struct TokenKeys: Sendable {
    struct Key: Sendable {
        /// PASERK `k4.pid`.
        let id: String
        let signingKey: SigningKey
    }

    /// In order of making; never empty.
    let all: [Key]
    let newest: Key

    /// Reads the keys `token-keys/000001.key`, `000002.key`, … in the secrets folder; makes the first at the first start.
    ///
    /// To rotate, put 32 random bytes (mode 0600) under the next number and restart; remove the old file a day later.
    /// - Parameter name: the folder's; what signs webhooks has keys of its own.
    init(secretsFolder: String, name: String = "token-keys", randomBytes: (Int) -> [UInt8]) throws {
        let folder = secretsFolder + "/" + name
        try PrivateFiles.createFolder(at: folder)
        var names = try Self.names(in: folder)
        if names.isEmpty {
            names = ["000001.key"]
            try SecretFile.create(at: folder + "/000001.key", randomBytes: randomBytes)
        }
        var keys: [Key] = []
        for name in names.sorted() {
            let key = try SigningKey(seed: try SecretFile.load(at: folder + "/" + name))
            keys.append(Key(id: KeyIdentifier.paserk(of: key.verificationKey), signingKey: key))
        }
        guard let last = keys.last else { throw FileError(path: folder, action: "read", code: ENOENT) }
        all = keys
        newest = last
    }

    func key(_ id: String) -> Key? { all.first { $0.id == id } }

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
            name.count == 10 && name.hasSuffix(".key") && name.dropLast(4).utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
