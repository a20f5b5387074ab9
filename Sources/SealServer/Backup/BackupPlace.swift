import Foundation
import SealStorage
import SealSystem

/// A folder of backups: `backups/<time>/` has what each says of itself and its database, `blobs/` the assets of all of
/// them, or `blobs-<fingerprint>/` those that are sealed to one recipient.
struct BackupPlace {
    /// Absolute.
    let folder: String

    /// - Throws: `BackupError` where nothing is there.
    init(existing path: String) throws(BackupError) {
        folder = path.absolutePath
        guard FileStatus(path: folder + "/backups")?.isFolder == true else {
            throw BackupError(
                .notFound, "there are no backups at \(folder)", remedy: "name the folder that sealkit backup --to names"
            )
        }
    }

    /// - Throws: `BackupError` for a folder with something else in it: what is removed from a place some day must be
    ///   its own. `FileError`.
    init(making path: String) throws {
        folder = path.absolutePath
        try PrivateFiles.createFolder(at: folder)
        let names = try PrivateFiles.names(in: folder)
        guard names.contains("backups") || Set(names).isSubset(of: ["lost+found", "lock"]),
            !names.contains("sealkit.sqlite")
        else {
            throw BackupError(
                .badInput, "\(folder) has something else in it than backups",
                remedy: "name an empty folder with --to, or one that sealkit backup has made")
        }
        try PrivateFiles.createFolder(at: folder + "/backups")
    }

    var backups: String { folder + "/backups" }
    func path(of name: String) -> String { backups + "/" + name }

    /// Whoever writes has it alone. Where the place can only be read nobody can take anything away.
    /// - Throws: `BackupError` (`busy`), `FileError`.
    func lock(_ kind: FileLock.Kind) throws -> FileLock? {
        let path = folder + "/lock"
        guard kind == .alone || access(FileStatus(path: path) == nil ? folder : path, W_OK) == 0 else { return nil }
        guard let lock = try FileLock(path, kind) else {
            throw BackupError(
                .busy, "somebody else works on the backups at \(folder)", remedy: "wait until that has ended")
        }
        return lock
    }

    // MARK: What is there

    private static let draftPrefix = ".draft-"
    private static let oldPrefix = ".old-"

    /// Whole ones by their names, oldest first.
    func names() throws(FileError) -> [String] {
        try PrivateFiles.names(in: backups).filter { !$0.hasPrefix(".") }
    }

    /// What backups and removals that were killed have left.
    func leftOvers() throws(FileError) -> [String] {
        try PrivateFiles.names(in: backups).filter { $0.hasPrefix(Self.draftPrefix) || $0.hasPrefix(Self.oldPrefix) }
            .map(path(of:))
    }

    func isDraft(_ path: String) -> Bool { path.hasPrefix(self.path(of: Self.draftPrefix)) }
    func draft(of name: String) -> String { path(of: Self.draftPrefix + name) }
    func old(_ name: String) -> String { path(of: Self.oldPrefix + name) }

    /// As `newName` makes them: 2026-11-26T230925Z, or with -2 behind it.
    static func isOwn(_ name: String) -> Bool {
        name.wholeMatch(of: /\d{4}-\d\d-\d\dT\d{6}Z(-\d+)?/) != nil
    }

    /// A name that sorts behind those of before.
    /// - Parameter time: to the second, in UTC.
    func newName(at time: Date) throws(FileError) -> String {
        let stamp = time.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .dash, dateTimeSeparator: .standard, timeSeparator: .omitted))
        let taken = Set(try names())
        guard taken.contains(stamp) else { return stamp }
        return (2...).lazy.map { "\(stamp)-\($0)" }.first { !taken.contains($0) } ?? stamp
    }

    /// - Throws: `BackupError`, for a name that none has.
    func require(_ name: String?) throws -> String {
        let names = try names()
        guard let name else {
            guard let newest = names.last else {
                throw BackupError(
                    .notFound, "there is no whole backup at \(folder)", remedy: "make one with sealkit backup")
            }
            return newest
        }
        guard names.contains(name) else {
            throw BackupError(
                .notFound, "there is no backup of that name at \(folder)",
                remedy: names.isEmpty
                    ? "there is none at all" : "there are: \(names.suffix(10).joined(separator: ", "))")
        }
        return name
    }

    // MARK: Blobs

    static func blobFolder(of recipient: BackupRecipient?) -> String {
        recipient.map { "blobs-" + $0.fingerprint } ?? "blobs"
    }

    func blobPath(_ id: BlobID, in blobFolder: String) -> String {
        FolderBlobStore.path(of: id, in: folder + "/" + blobFolder)
    }

    /// What lies where blobs lie, in the order of the names, as the lists are. Whatever else is in these folders is
    /// somebody's.
    /// - Parameter body: gets a file's name and path.
    func forEachFile(in blobFolder: String, _ body: (String, String) throws -> Void) throws {
        let folder = folder + "/" + blobFolder
        guard FileStatus(path: folder) != nil else { return }
        for first in try Self.folders(in: folder) {
            for second in try Self.folders(in: first) {
                for name in try PrivateFiles.names(in: second) { try body(name, second + "/" + name) }
            }
        }
    }

    private static func folders(in folder: String) throws(FileError) -> [String] {
        try PrivateFiles.names(in: folder).map { folder + "/" + $0 }.filter { FileStatus(link: $0)?.isFolder == true }
    }

    /// The folders of blobs that are there.
    func blobFolders() throws(FileError) -> [String] {
        try PrivateFiles.names(in: folder).filter { $0 == "blobs" || $0.hasPrefix("blobs-") }
    }
}
