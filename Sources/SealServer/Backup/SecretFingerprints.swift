import SealService
import SealStorage

/// Fingerprints of the secrets that a database is written with, which it keeps among its settings: a server with others
/// would find nobody by an address, and take codes and what waits to be sent for void.
///
/// Keys that rotate are not among them: a database goes with each of those.
struct SecretFingerprints: Sendable {
    /// By the file's name.
    private let given: [String: String]

    /// - Parameter folder: of secrets, which a server has made them in.
    /// - Throws: `FileError`, `SecretFileError`.
    init(folder: String) throws {
        given = try Dictionary(
            uniqueKeysWithValues: SecretsCopy.lasting.map { name in
                (name, SecretsCopy.fingerprint(of: try SecretFile.load(at: folder + "/" + name), at: name))
            })
    }

    private static func setting(_ name: String) -> String { "secret " + name }

    /// What the database does not say yet may be any.
    /// - Parameter database: named in the error.
    /// - Throws: `ConfigurationError`.
    func require(in connection: any SQLConnection, of database: String) throws {
        let others = try given.filter { name, fingerprint in
            let known = try connection.setting(Self.setting(name))
            return known != nil && known != fingerprint
        }
        guard others.isEmpty else {
            throw ConfigurationError.secretsOther(database: database, files: others.keys.sorted())
        }
    }

    /// In the caller's transaction, once they are known to be those of the database.
    func note(in connection: any SQLConnection) throws {
        for (name, fingerprint) in given.sorted(by: { $0.key < $1.key }) {
            guard try connection.setting(Self.setting(name)) == nil else { continue }
            try connection.change(setting: Self.setting(name), to: fingerprint)
        }
    }
}
