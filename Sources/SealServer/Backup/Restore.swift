import Foundation
import SealPrimitives
import SealService
import SealStorage
import SealSystem

/// Puts a backup back into a new data folder, and begins a new history in it. The folder has its name once all of it is
/// there and is what was copied.
package struct Restore {
    /// Where the secrets are that the database goes with.
    package enum Secrets: Sendable {
        /// A folder that has them, and stays as it is.
        case folder(String)
        /// A sealed file, which is opened into a new folder.
        case file(String, into: String)
    }

    package struct Outcome: Sendable {
        package let name: String
        package let manifest: BackupManifest
        package let blobs: Int
        /// Blobs that the server had lost already when the backup was made.
        package let missing: [String]
        /// Files of the place that are not what they were, or not there any more: their blobs are not restored.
        package let damaged: [String]
        /// Signing keys of then that are not among the secrets.
        package let formerKeys: [String]
    }

    static let databasePurpose = "database"

    private let place: BackupPlace
    private let name: String
    private let target: String
    private let key: BackupKey?
    private let secrets: Secrets
    private let goesOnWithoutDamaged: Bool

    private static let mostNamed = 20
    /// What a draft may have in it: a folder with anything else is somebody's.
    private static let draftNames = Set(
        ["lock", "blobs"] + ["", "-wal", "-shm", "-journal"].map { SQLiteDatabase.fileName + $0 })

    /// - Parameters:
    ///   - path: the place.
    ///   - name: of a backup there; nil for the one that was made last.
    ///   - dataFolder: to be made; an empty folder will do.
    ///   - key: for what is sealed.
    ///   - withoutDamaged: whether blobs whose file is damaged are left out; else nothing is restored.
    /// - Throws: `BackupError`, `FileError`.
    package init(
        place path: String, name: String?, dataFolder: String, key: BackupKey?, secrets: Secrets, withoutDamaged: Bool
    ) throws {
        place = try BackupPlace(existing: path)
        if let name { try place.require(name) }
        self.name = try name ?? place.newest()
        target = dataFolder.absolutePath
        (self.key, self.secrets, goesOnWithoutDamaged) = (key, secrets, withoutDamaged)
        guard !target.isWithin(place.folder), !place.folder.isWithin(target) else {
            throw BackupError(
                .badInput, "the data folder and the place of the backups are within one another",
                remedy: "name another folder with --data")
        }
    }

    private var draft: String { target + ".restoring" }

    /// - Throws: `BackupError`, `FileError`, `StorageError`, `SecretFileError`, `CancellationError`.
    package func run(now: Int64) async throws -> Outcome {
        let placeLock = try place.lock(.shared)
        defer { placeLock?.release() }
        try requireFree()
        let folder = place.path(of: name)
        let manifest = try checked { try BackupManifest(readFrom: folder) }
        try requireKey(for: manifest)
        try checked { try Migration.requireKnown(manifest.schema, file: folder + "/" + BackupManifest.fileName) }
        let given = try secretsGiven()
        let formerKeys = try given.requireMatch(manifest)
        try await checkSumsOfList(manifest, folder)

        try PrivateFiles.createFolder(at: target.folderAbove)
        try makeDraft()
        let lock = try lockDraft()
        defer { lock.release() }
        do {
            try clearDraft()
            try copyDatabase(manifest, folder)
            let (missing, damaged) = try copyBlobs(manifest, folder)
            try await beginHistory(now: now)
            try PrivateFiles.syncFolder(at: draft)
            // First: a server that finds the data without its secrets would make others.
            if case .file(_, let folder) = secrets { try writeSecrets(given, into: folder) }
            try publish()
            return Outcome(
                name: name, manifest: manifest, blobs: manifest.blobs - missing.count - damaged.count,
                missing: missing, damaged: damaged, formerKeys: formerKeys)
        } catch {
            // Best effort: what stays is cleared by the next one.
            if lock.isOf(draft) { try? removeDraft() }
            throw error
        }
    }

    // MARK: Before anything is written

    private func requireFree() throws {
        guard let status = FileStatus(link: target) else { return }
        guard status.isFolder else {
            throw BackupError(
                .badInput, "\(target) is there and is no folder", remedy: "name another folder with --data")
        }
        if FileStatus(path: target)?.identity.device != FileStatus(path: target.folderAbove)?.identity.device
            || MountPoints.has(target)
        {
            throw BackupError(
                .badInput,
                "\(target) is where a disk is mounted: a folder that is made beside it cannot take its place",
                remedy: "restore into a folder below it (--data \(target)/data), and let the server's data: name that")
        }
        guard try PrivateFiles.names(in: target).isEmpty else {
            throw BackupError(
                .badInput, "\(target) is not empty, and nothing in it was touched",
                remedy: "stop the server, move the folder away (mv \(target) \(target).before), and restore again")
        }
    }

    private func requireKey(for manifest: BackupManifest) throws(BackupError) {
        guard let sealedTo = manifest.recipient else { return }
        guard let key else {
            throw BackupError(
                .badInput, "the backup is sealed to \(sealedTo)",
                remedy: "give the file with that key's secret half: --key FILE")
        }
        guard key.recipient.text == sealedTo else {
            throw BackupError(
                .badInput,
                "the backup is sealed to \(sealedTo), which is not the public half of the key that was given",
                remedy: "give the file with the secret half of that one")
        }
    }

    private func secretsGiven() throws -> SecretsCopy {
        switch secrets {
        case .folder(let path): return try SecretsCopy(folder: path.absolutePath)
        case .file(let path, let folder):
            guard FileStatus(path: path.absolutePath) != nil else {
                throw BackupError(
                    .notFound, "there are no secrets at \(path)",
                    remedy: "name the server's secrets folder, or the file that --secrets-to made")
            }
            guard let key else {
                throw BackupError(
                    .badInput, "\(path) is sealed", remedy: "give the file with the key's secret half: --key FILE")
            }
            let copy = try SecretsCopy(sealedFile: path.absolutePath, key: key)
            let folder = folder.absolutePath
            guard FileStatus(link: folder) != nil else { return copy }
            let there = try SecretsCopy(folder: folder)
            // A restore that was stopped after it had written them.
            guard there.fingerprints == copy.fingerprints || there.isEmpty else {
                throw BackupError(
                    .badInput, "\(folder) has other secrets already",
                    remedy: "move that folder away, or give it as --secrets in the place of the file")
            }
            return copy
        }
    }

    private func writeSecrets(_ copy: SecretsCopy, into path: String) throws {
        let folder = path.absolutePath
        if FileStatus(link: folder) != nil, try !SecretsCopy(folder: folder).isEmpty { return }
        try copy.write(to: folder)
    }

    // MARK: The draft

    private func makeDraft() throws {
        do { try PrivateFiles.createFolder(at: draft) } catch {
            guard [EACCES, EPERM, EROFS].contains(error.code) else { throw error }
            let parent = target.folderAbove
            throw BackupError(
                .cannotWrite, "\(draft) cannot be made: this user makes no folders in \(parent)",
                remedy: "as root, make one of this user's (install -d -o USER -m 0700 \(target).restored), "
                    + "restore below it (--data \(target).restored/data), and move that to \(target)")
        }
    }

    private func lockDraft() throws -> DataFolderLock {
        let busy = BackupError(
            .busy, "another restore into \(target) is under way, or has just ended", remedy: "see what came of that one"
        )
        do {
            let lock = try DataFolderLock(folder: draft)
            // Another one may have given the draft its name between the two looks.
            guard lock.isOf(draft) else { throw busy }
            do { try requireFree() } catch {
                // Another one was published after the first look: this draft is nobody's.
                try? removeDraft()
                lock.release()
                throw error
            }
            return lock
        } catch is DataFolderInUse {
            throw busy
        } catch let error as FileError where error.code == ENOENT {
            throw busy
        }
    }

    private func clearDraft() throws {
        let names = try PrivateFiles.names(in: draft)
        guard Set(names).isSubset(of: Self.draftNames) else {
            throw BackupError(
                .badInput, "\(draft) has something else in it than what a restore has left",
                remedy: "move it away: restores are made in a folder of that name")
        }
        for name in names where name != "lock" { try PrivateFiles.remove(draft + "/" + name) }
    }

    /// With nothing in it but what a restore has made.
    private func removeDraft() throws {
        try clearDraft()
        try PrivateFiles.remove(draft)
    }

    private func publish() throws {
        // An empty folder gives way; anything that came meanwhile does not.
        do { try PrivateFiles.rename(draft, to: target) } catch {
            throw BackupError(
                .badInput, "\(error)", remedy: "look what is at \(target), move it away, and restore again")
        }
    }

    // MARK: Copying

    private func checkSumsOfList(_ manifest: BackupManifest, _ folder: String) async throws {
        let path = folder + "/" + manifest.blobList.name
        guard (try? FileSum(ofFileAt: path)) == manifest.blobList.sum else { throw damaged([path]) }
    }

    private func copyDatabase(_ manifest: BackupManifest, _ folder: String) throws {
        let path = folder + "/" + manifest.database.name
        let isWhole = try copy(
            path, manifest.database.sum, for: Self.databasePurpose, isSealed: manifest.recipient != nil,
            to: draft + "/" + SQLiteDatabase.fileName)
        guard isWhole else { throw damaged([path]) }
    }

    /// - Returns: those that the backup never had, and the files that are damaged.
    private func copyBlobs(
        _ manifest: BackupManifest, _ folder: String
    ) throws -> (missing: [String], damaged: [String]) {
        var (missing, faulty): ([String], [BlobList.Entry]) = ([], [])
        let blobs = draft + "/blobs"
        try PrivateFiles.createFolder(at: blobs)
        try PrivateFiles.createFolder(at: blobs + "/staged")
        var made: Set<String> = [blobs]
        let list = try BlobList.Reader(folder + "/" + manifest.blobList.name)
        while let entry = try list.next() {
            guard let stored = entry.stored else {
                missing.append(entry.id.description)
                continue
            }
            let source = place.blobPath(entry.id, in: manifest.blobFolder)
            let path = FolderBlobStore.path(of: entry.id, in: blobs)
            if !made.contains(path.folderAbove) {
                try PrivateFiles.createFolder(at: path.folderAbove)
                made.formUnion([path.folderAbove, path.folderAbove.folderAbove])
            }
            let isWhole = try copy(
                source, stored, for: BlobCopies.purpose(entry.id), isSealed: manifest.recipient != nil, to: path)
            if !isWhole || FileStatus(path: path)?.size != entry.size {
                faulty.append(entry)
                // A server takes what is there for whole.
                try PrivateFiles.remove(path)
            }
        }
        guard list.isWhole(manifest.blobs) else { throw damaged([list.path]) }
        let files = faulty.map { place.blobPath($0.id, in: manifest.blobFolder) }
        guard faulty.isEmpty || goesOnWithoutDamaged else {
            var remedy = "restore everything else with --without-damaged"
            if let other = before(without: faulty, in: manifest.blobFolder) {
                remedy += ", or the one before it that has none of these: --backup \(other)"
            }
            throw damaged(files, remedy: remedy)
        }
        for folder in made { try PrivateFiles.syncFolder(at: folder) }
        return (missing, files)
    }

    /// - Returns: false where the file is not what it was, or does not open.
    /// - Throws: `FileError` of the copy, `CancellationError`.
    private func copy(
        _ source: String, _ sum: FileSum, for purpose: String, isSealed: Bool, to path: String
    ) throws -> Bool {
        let reader: FileReader
        do throws(FileError) { reader = try FileReader(source) } catch {
            // What this user may not read, or not now, says nothing of the file.
            guard ![EACCES, EPERM, EMFILE, ENFILE].contains(error.code) else { throw error }
            return false
        }
        let writer = try FileWriter(path)
        do {
            if isSealed {
                guard let key else { return false }
                try SealedFile.open(reader, for: purpose, with: key) { try writer.write($0) }
            } else {
                try reader.copy(to: writer)
            }
        } catch is SealError {
            return false
        } catch let error as FileError where error.path == source {
            return false
        }
        _ = try writer.finish()
        return reader.sum == sum
    }

    private func checked<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as BackupError where error.kind == .damaged {
            throw BackupError(.damaged, error.reason, remedy: older)
        }
    }

    private func damaged(_ paths: [String], remedy: String? = nil) -> BackupError {
        let named = paths.prefix(Self.mostNamed).joined(separator: ", ")
        let more = paths.count > Self.mostNamed ? " and \(paths.count - Self.mostNamed) more" : ""
        return BackupError(.damaged, "the backup \(name) is damaged: \(named)\(more)", remedy: remedy ?? older)
    }

    /// The newest backup before it that names none of these files: blobs are of all backups that have them.
    /// - Parameter faulty: in the order of their names.
    private func before(without faulty: [BlobList.Entry], in blobFolder: String) -> String? {
        let earlier = (try? place.entries())?.prefix { $0.name != name } ?? []
        return earlier.last { entry in
            guard let manifest = entry.manifest, let list = try? KnownBlobs.list(of: entry, in: place) else {
                return false
            }
            guard manifest.blobFolder == blobFolder else { return true }
            return (try? faulty.allSatisfy { try list.entry(of: $0.id)?.stored != $0.stored }) ?? false
        }?.name
    }

    /// What to do where this backup is of no use.
    private var older: String {
        let before = (try? place.entries())?.prefix { $0.name != name }.last { $0.manifest != nil }?.name
        guard let before else { return "there is no older one here: look for another copy of these files" }
        return "restore the one before it: --backup \(before)"
    }

    // MARK: A new history

    /// What was given out after the backup is known to be lost, and uploads that were under way have no file.
    private func beginHistory(now: Int64) async throws {
        let database = try SQLiteDatabase(path: draft + "/" + SQLiteDatabase.fileName, migrations: Migration.all)
        do {
            let random = Int64.random(in: 0...Int64.max)
            try await database.write(at: .everything) { connection in
                try ServerRuns.begin(now: now, random: random, in: connection)
                try Blobs.dropUnfinished(in: connection)
            }
        } catch {
            try? await database.close()
            throw error
        }
        try await database.close()
    }
}
