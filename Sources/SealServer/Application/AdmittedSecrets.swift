import SealStorage
import Synchronization

/// The secrets of a server until its database is open: they are made once that is known to be new, or to know none. A
/// folder that was named by mistake, or not at all, would look like the server's to whatever copies it.
final class AdmittedSecrets: Sendable {
    private let folder: String
    /// Each connection is held against what the first one has found.
    private let found = Mutex<SecretFingerprints?>(nil)

    init(folder: String) { self.folder = folder }

    /// Before anything of the database is changed: without its secrets no server writes to it.
    /// - Parameters:
    ///   - database: named in the error.
    ///   - isNew: whether nothing is in it yet.
    /// - Throws: `ConfigurationError` where it was written with others; `FileError`, `SecretFileError`.
    func admit(_ connection: any SQLConnection, of database: String, isNew: Bool) throws {
        let known = found.withLock { $0 }
        if !isNew { try (known ?? SecretFingerprints(folder: folder)).require(in: connection, of: database) }
        guard known == nil else { return }
        try PrivateFiles.createFolder(at: folder)
        _ = try ServerSecrets(folder: folder)
        let made = try SecretFingerprints(folder: folder)
        found.withLock { $0 = made }
    }
}
