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
            !names.contains(SQLiteDatabase.fileName)
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

    /// A backup that has its name.
    struct Entry {
        let name: String
        /// Nil where it is damaged, or of another form.
        let manifest: BackupManifest?
    }

    /// Those that have their names, in the order in which they were made: by the numbers in their manifests, since
    /// names go by a clock that may have been set back. One whose manifest says nothing stands where its name puts it.
    /// - Throws: `FileError`, `CancellationError`.
    func entries() throws -> [Entry] {
        typealias Position = (sequence: Int, isUnknown: Int, isOwn: Int)
        var (found, highest) = ([(entry: Entry, at: Position)](), 0)
        for name in try names() {
            var manifest: BackupManifest?
            do { manifest = try BackupManifest(readFrom: path(of: name)) } catch is BackupError {}
            let sequence = manifest?.sequence
            highest = max(highest, sequence ?? 0)
            // A copy that somebody has named otherwise comes before what it was made of.
            found.append(
                (
                    Entry(name: name, manifest: manifest),
                    (sequence ?? highest, sequence == nil ? 1 : 0, Self.isOwn(name) ? 1 : 0)
                ))
        }
        // Sorting keeps no order of its own among equals.
        return found.enumerated().sorted { first, second in
            first.element.at == second.element.at
                ? first.offset < second.offset : first.element.at < second.element.at
        }.map(\.element.entry)
    }

    /// That the backups here are of one database: what one server keeps, another one would remove, and what was made
    /// last is what a restore takes. One that was restored from them goes on; an empty one that runs in its place,
    /// since its disk is not mounted, does not.
    /// - Parameters:
    ///   - newest: of them.
    ///   - firstRun: as manifests have it.
    ///   - secrets: fingerprints of the server's, for manifests that say nothing of a run.
    func requireOwn(_ newest: Entry?, firstRun: String, secrets: [String: String]) throws(BackupError) {
        guard let newest, let manifest = newest.manifest else { return }
        let isOwn =
            manifest.firstRun.map { $0 == firstRun }
            ?? SecretsCopy.lasting.allSatisfy { name in
                manifest.secrets[name] == nil || manifest.secrets[name] == secrets[name]
            }
        guard isOwn else {
            throw BackupError(
                .badInput,
                "the backups at \(folder) are of another server's database: \(newest.name) was made last, and nothing was written",
                remedy:
                    "name a place of its own with --to; where these are this server's, look whether its data is what it was: mount its disk, or restore it; where \(newest.name) was made by mistake, by an empty server say, remove its folder"
            )
        }
    }

    /// The number of the next backup.
    func nextSequence() throws -> Int {
        let entries = try entries()
        // Those that cannot be read may have the numbers that follow.
        let unknown = entries.count { $0.manifest?.sequence == nil }
        return (entries.compactMap { $0.manifest?.sequence }.max() ?? 0) + unknown + 1
    }

    /// The one that was made last.
    /// - Throws: `BackupError`, also where nobody can tell which that is.
    func newest() throws -> String {
        let entries = try entries()
        guard let newest = entries.last(where: { $0.manifest != nil }) else {
            try requireAny()
            throw BackupError(
                .damaged, "the manifest of every backup at \(folder) is damaged",
                remedy: "look for another copy of these files")
        }
        if let damaged = entries.last(where: { $0.manifest == nil && Self.isOwn($0.name) }) {
            throw BackupError(
                .damaged,
                "\(path(of: damaged.name))/\(BackupManifest.fileName) is damaged, so that nobody can tell which backup is the newest",
                remedy: "name the one to restore, as of those that are whole the newest: --backup \(newest.name)")
        }
        return newest.name
    }

    /// - Throws: `BackupError` where there is none.
    func requireAny() throws {
        guard try names().isEmpty else { return }
        throw BackupError(
            .notFound, "there is no whole backup at \(folder)", remedy: "make one with sealkit backup")
    }

    /// Whole ones by their names, in the order of these.
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

    /// A name that none has.
    /// - Parameter time: to the second, in UTC.
    func newName(at time: Date) throws(FileError) -> String {
        let stamp = time.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .dash, dateTimeSeparator: .standard, timeSeparator: .omitted))
        let taken = Set(try names())
        guard taken.contains(stamp) else { return stamp }
        return (2...).lazy.map { "\(stamp)-\($0)" }.first { !taken.contains($0) } ?? stamp
    }

    /// - Throws: `BackupError`, for a name that none has.
    func require(_ name: String) throws {
        let names = try names()
        guard names.contains(name) else {
            throw BackupError(
                .notFound, "there is no backup of that name at \(folder)",
                remedy: names.isEmpty
                    ? "there is none at all" : "there are: \(names.suffix(10).joined(separator: ", "))")
        }
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
