import Foundation
import SealStorage
import SealSystem

/// Whoever works on a server's files beside it is the server's user: what another one made there, root above all, the
/// server could not open any more.
package enum OwnUser {
    /// - Parameters:
    ///   - folder: a server's data folder.
    ///   - file: what is looked at there; nil for SQLite's file.
    /// - Throws: `BackupError`, also where there is no database in it.
    package static func require(at folder: String, file: String? = nil) throws(BackupError) {
        guard let database = FileStatus(path: folder + "/" + (file ?? SQLiteDatabase.fileName)) else {
            throw BackupError(
                .notFound, "there is no server's database in \(folder), or it may not be looked at",
                remedy: "name the folder that the server has as its --data, as the server's user")
        }
        guard database.owner.user != geteuid() else { return }
        throw BackupError(
            .badInput, "\(folder) belongs to another user",
            remedy: "run this as the server's user: sudo -u sealkit sealkit …, or by systemd's User=")
    }

    /// That root, who may write anywhere, serves no folder of another user's. Before anything is made in it.
    /// - Throws: `ConfigurationError`.
    static func requireOwn(servedFolder folder: String) throws(ConfigurationError) {
        guard geteuid() == 0, let owner = FileStatus(path: folder)?.owner.user, owner != 0 else { return }
        throw .dataOfAnotherUser(folder: folder)
    }
}
