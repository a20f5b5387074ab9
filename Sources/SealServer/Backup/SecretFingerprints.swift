import Foundation
import SealService
import SealStorage
import SealSystem

/// Fingerprints of the secrets that a database is written with, which it keeps among its settings: a server with others
/// would find nobody by an address, and take codes and what waits to be sent for void.
///
/// Keys that rotate are not among them: a database goes with each of those.
package struct SecretFingerprints: Sendable {
    /// By the file's name; of those that are there.
    private let given: [String: String]

    /// - Parameter folder: of secrets; it need not be there.
    /// - Throws: `FileError`, `SecretFileError`.
    init(folder: String) throws {
        given = try SecretsCopy.lasting.reduce(into: [:]) { given, name in
            let path = folder + "/" + name
            if FileStatus(path: path) == nil, errno == ENOENT { return }
            given[name] = SecretsCopy.fingerprint(of: try SecretFile.load(at: path), at: name)
        }
    }

    /// That a folder has the secrets which the database of a data folder was written with.
    /// - Throws: `ConfigurationError`, `FileError`, `SecretFileError`, `StorageError`.
    package static func requireOwn(_ folder: String, dataFolder: String) throws {
        let path = dataFolder + "/" + SQLiteDatabase.fileName
        let database = try SQLiteFile(reading: path)
        defer { database.close() }
        let given = try SecretFingerprints(folder: folder)
        try database.read { try given.require(in: $0, of: path) }
    }

    private static func setting(_ name: String) -> String { "secret " + name }

    /// What the database does not say yet may be any; what it says has to be there.
    /// - Parameter database: named in the error.
    /// - Throws: `ConfigurationError`.
    func require(in connection: any SQLConnection, of database: String) throws {
        let others = try SecretsCopy.lasting.filter { name in
            let known = try connection.setting(Self.setting(name))
            return known != nil && known != given[name]
        }
        guard others.isEmpty else {
            throw ConfigurationError.secretsOther(database: database, files: others.sorted())
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
