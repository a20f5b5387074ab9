package import Foundation
import SealService
import SealStorage
import SealSystem

/// Copies a server's data, whether it runs or not, into a place for backups: one moment of the database, and each blob
/// that it names and that the place does not have yet. A backup has its name once it is whole.
package struct Backup {
    /// What came of it.
    package struct Outcome: Sendable {
        /// In the place.
        package let name: String
        package let blobs: Int
        /// Of those, how many the place did not have.
        package let copied: Int
        package let copiedBytes: Int64
        package let databaseBytes: Int64
        /// Blobs that the data folder itself has lost, or has with another size.
        package let missing: [String]
        /// Whether the backup before has any of them, so that no older one was removed.
        package let hasLostMore: Bool
        /// How many older backups, and blobs of theirs alone, were removed.
        package let removed: (backups: Int, blobs: Int)
        /// Why fewer were removed than `keep` says; the backup is whole all the same.
        package let pruningFailure: String?
    }

    private let data: String
    private let place: BackupPlace
    private let secretsFolder: String
    private let fingerprints: [String: String]
    private let recipient: BackupRecipient?
    private let origin: String?
    private let now: Date
    private let freeBytes: (String) -> UInt64?

    /// - Parameters:
    ///   - dataFolder: of a server.
    ///   - secretsFolder: of the same one.
    ///   - place: the folder for backups, made where there is none.
    ///   - recipient: whom everything is sealed to; nil for nobody.
    ///   - freeBytes: of the disk that a folder is on; nil where nobody can tell.
    /// - Throws: `BackupError`, `FileError`, `SecretFileError`, `StorageError`; `ConfigurationError` where the database
    ///   was written with other secrets.
    package init(
        dataFolder: String, secretsFolder: String, place path: String, recipient: BackupRecipient?, origin: String?,
        now: Date, freeBytes: @escaping (String) -> UInt64? = SealSystem.freeBytes(at:)
    ) throws {
        data = dataFolder.absolutePath
        (self.recipient, self.origin, self.now, self.freeBytes) = (recipient, origin, now, freeBytes)
        try OwnUser.require(at: data)
        let target = path.absolutePath
        guard !target.isWithin(data), !data.isWithin(target) else {
            throw BackupError(
                .badInput, "the place for backups and the data folder are within one another",
                remedy: "name another place with --to, on another disk at best")
        }
        self.secretsFolder = secretsFolder.absolutePath
        fingerprints = try SecretsCopy(keysOf: self.secretsFolder).fingerprints
        // A restore could not tell: both copies would be of the wrong ones.
        try SecretFingerprints.requireOwn(self.secretsFolder, dataFolder: data)
        place = try BackupPlace(making: target)
    }

    /// - Parameters:
    ///   - keep: how many whole backups stay, this one included; nil for all.
    ///   - secretsFile: which the secrets folder is sealed into, in the place of the one before; nil for none.
    /// - Throws: `BackupError`, `FileError`, `SecretFileError`, `StorageError`, `CancellationError`.
    package func run(keep: Int? = nil, secretsTo secretsFile: String? = nil) throws -> Outcome {
        let lock = try place.lock(.alone)
        defer { lock?.release() }
        // From before the database's moment on: what it names is not taken away until it is copied.
        guard let hold = try BlobHold.forCopying(from: data + "/blobs") else {
            throw BackupError(
                .busy, "another backup of \(data) is under way", remedy: "wait until that has ended")
        }
        defer { hold.release() }
        let name = try place.newName(at: now)
        let draft = place.draft(of: name)
        let known = try KnownBlobs(place, blobFolder: BackupPlace.blobFolder(of: recipient), besides: draft)
        let former = try place.entries().last { $0.manifest != nil }
        let made: Outcome
        do {
            made = try make(name, draft, known, after: former, secretsTo: secretsFile)
        } catch {
            // A list of what was copied so far is of use to the next one; the database is not.
            try? PrivateFiles.remove(draft + "/" + databaseName)
            throw error
        }
        try known.removeDrafts()
        // Where this cannot be written an alert comes too early, and the backup is as good.
        if !made.hasLostMore { try? BackupNote.write(made.name, in: data) }
        guard let keep, !made.hasLostMore else { return made }
        return prune(made, keep: keep)
    }

    private func prune(_ made: Outcome, keep: Int) -> Outcome {
        var (removed, failure) = ((backups: 0, blobs: 0), String?.none)
        do { try Pruning(place).run(keep: keep, besides: made.name, removed: &removed) } catch { failure = "\(error)" }
        return Outcome(
            name: made.name, blobs: made.blobs, copied: made.copied, copiedBytes: made.copiedBytes,
            databaseBytes: made.databaseBytes, missing: made.missing, hasLostMore: made.hasLostMore, removed: removed,
            pruningFailure: failure)
    }

    /// Whether blobs are missing that the backup before has. What that one lacks too is lost for good, and whoever made
    /// it was told: older backups go as ever, or each night would add one for as long as the server runs.
    private func hasLostMore(_ missing: [String], since former: BackupPlace.Entry?) throws -> Bool {
        guard !missing.isEmpty else { return false }
        guard let list = try former.flatMap({ try KnownBlobs.list(of: $0, in: place) }) else { return true }
        var lacked: Set<String> = []
        while let entry = try list.next() {
            if entry.stored == nil { lacked.insert(entry.id.description) }
        }
        return !lacked.isSuperset(of: missing)
    }

    /// That the database fits before anything of it is written, and that what the server needs stays free: while a
    /// draft fills the data's disk, nobody can save. Blobs are looked at one by one.
    private func requireRoom() throws {
        let file = data + "/" + SQLiteDatabase.fileName
        let size = [file, file + "-wal"].reduce(UInt64(0)) { $0 + UInt64(clamping: FileStatus(path: $1)?.size ?? 0) }
        var needed = [(folder: place.folder, bytes: size)]
        if recipient != nil {
            needed[0].bytes = UInt64(clamping: SealedFile.size(of: Int64(clamping: size)))
            needed.append((data, size))
        }
        // On one disk both have to fit.
        let devices = Set(needed.map { FileStatus(path: $0.folder)?.identity.device })
        if devices.count < needed.count { needed = [(data, needed.reduce(0) { $0 + $1.bytes })] }
        for (folder, size) in needed {
            let bytes = size + FreeSpace.keptFromBlobs
            guard let free = freeBytes(folder), free < bytes else { continue }
            throw BackupError(
                .cannotWrite,
                "the database needs \(bytes) bytes at \(folder), and \(free) are free there; nothing was written",
                remedy: recipient == nil
                    ? "make room, or name a place on another disk with --to: 16 MiB stay free for the server"
                    : "make room: what is sealed is copied beside the data first, and 16 MiB stay free for the server")
        }
    }

    private var databaseName: String { SQLiteDatabase.fileName + (recipient == nil ? "" : ".sealed") }

    private func sealSecrets(to path: String) throws {
        guard let recipient else {
            throw BackupError(
                .badInput, "secrets are only ever written sealed",
                remedy: "say with --recipient whom they are sealed to")
        }
        let file = path.absolutePath
        guard !file.isWithin(data) else {
            throw BackupError(
                .badInput, "the secrets' file would lie in the data folder", remedy: "name a file elsewhere")
        }
        try SecretsCopy(folder: secretsFolder).seal(to: recipient, at: file)
    }

    /// - Parameters:
    ///   - former: the backup before it.
    ///   - secretsFile: as `run` takes it.
    private func make(
        _ name: String, _ draft: String, _ known: KnownBlobs, after former: BackupPlace.Entry?,
        secretsTo secretsFile: String?
    ) throws -> Outcome {
        let database = try SQLiteFile(reading: data + "/" + SQLiteDatabase.fileName)
        defer { database.close() }
        if let place = try database.read({ try BlobPlace.noted(in: $0) }) {
            throw BackupError(
                .badInput, "the assets of this server are in \(place), and a backup is of files",
                remedy:
                    "copy the database by sqlite3's .backup, and let the store keep versions of the bucket: S3.md says how"
            )
        }
        let firstRun = String(try database.read { try ServerRuns.first(in: $0) })
        try place.requireOwn(former, firstRun: firstRun, secrets: fingerprints)
        try requireRoom()
        // Not before: the file may have another server's, without which the backups here are of no use, and nobody can
        // tell without its key.
        if let secretsFile { try sealSecrets(to: secretsFile) }
        let sequence = try place.nextSequence()
        try PrivateFiles.remove(draft)
        try PrivateFiles.createFolder(at: draft)
        // What is not sealed does not leave the data's disk on its way to being so.
        let copy = recipient == nil ? draft + "/" + databaseName : data + "/backup-draft.sqlite"
        for path in [copy, copy + "-journal", copy + "-wal", copy + "-shm"] { try PrivateFiles.remove(path) }
        defer { if recipient != nil { try? PrivateFiles.remove(copy) } }
        let faults = try database.copy(to: copy)
        guard faults.isEmpty else {
            throw BackupError(
                .damaged, "the database is damaged (\(faults[0])), and no backup was made of it",
                remedy: "stop the server, see what sealkit check says, and restore an older backup")
        }
        let sum = try store(copy, as: draft + "/" + databaseName)
        let copied = try SQLiteFile(reading: copy)
        defer { copied.close() }
        let listName = BlobList.fileName(of: known.blobFolder)
        var blobs = BlobCopies(
            from: data + "/blobs", to: place, known: known, list: try BlobList.Writer(draft + "/" + listName),
            recipient: recipient, freeBytes: freeBytes)
        let schema = try copied.read { connection in
            try connection.run("SELECT stored, size FROM blob WHERE size IS NOT NULL ORDER BY stored", []) { row in
                try blobs.add(try row.text("stored"), size: try row.int64("size"))
                return true
            }
            return try Migration.applied(in: connection)
        }
        let list = try blobs.finish()
        let manifest = BackupManifest(
            version: ServerVersion.current, schema: schema, sequence: sequence, time: now, origin: origin,
            recipient: recipient,
            database: .init(databaseName, sum), blobList: .init(listName, list),
            blobFolder: known.blobFolder, blobs: blobs.count, missingBlobs: blobs.missing.count,
            secrets: fingerprints, firstRun: firstRun)
        let hasLostMore = try hasLostMore(blobs.missing, since: former)
        try manifest.write(into: draft)
        try PrivateFiles.syncFolder(at: draft)
        try PrivateFiles.rename(draft, to: place.path(of: name))
        return Outcome(
            name: name, blobs: blobs.count, copied: blobs.copied, copiedBytes: blobs.copiedBytes,
            databaseBytes: sum.size, missing: blobs.missing, hasLostMore: hasLostMore, removed: (0, 0),
            pruningFailure: nil)
    }

    /// - Returns: of the file in the place.
    private func store(_ copy: String, as path: String) throws -> FileSum {
        guard let recipient else {
            let sum = try FileSum(ofFileAt: copy)
            try PrivateFiles.syncFile(at: copy)
            return sum
        }
        let (reader, writer) = (try FileReader(copy), try FileWriter(path))
        try SealedFile.seal(reader.read, for: Restore.databasePurpose, to: recipient, into: writer)
        return try writer.finish()
    }
}
