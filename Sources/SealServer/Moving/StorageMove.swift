import SealPrimitives
package import SealService
import SealStorage
import SealSystem

/// Moves everything that a stopped server keeps in its database to the other engine: from SQLite's file in the data
/// folder to a PostgreSQL database, or back. Assets, telemetry and secrets stay where they are.
///
/// The target is filled in one transaction and compared with the source table by table before that ends. The source
/// stays as it is, but for its mark: a file gets another name, and a PostgreSQL database says in its settings where it
/// was moved to. Until the last step the data folder has the marks of both, and no server starts on either.
package struct StorageMove {
    package enum Direction: Sendable { case toPostgreSQL, toSQLite }

    package struct Outcome: Sendable {
        package let tables: [TableSum]
        /// Of all of them, in lower-case hexadecimal digits.
        package let digest: String
        /// What the source is called from now on.
        package let source: String
        package let target: String
        /// Whether an earlier run had copied everything, and this one did the rest.
        package let wasCopied: Bool
    }

    private let folder: String
    private let address: PostgresAddress
    private let fingerprints: SecretFingerprints
    private let mark: DatabaseMark
    private let mostPages: Int?
    private let progress: (StorageCopy.Phase, Int64, Int64) -> Void

    private var file: String { folder + "/" + SQLiteDatabase.fileName }
    private var moved: String { file + ".moved" }
    private var draft: String { file + ".moving" }

    /// - Parameters:
    ///   - dataFolder: of a server that is stopped.
    ///   - secretsFolder: of the same one.
    ///   - database: the source, or the target.
    ///   - mostPages: of a new file, for tests of a full disk.
    ///   - progress: how many rows are done, and how many there are.
    /// - Throws: `BackupError`, `ConfigurationError`, `FileError`, `SecretFileError`.
    package init(
        dataFolder: String, secretsFolder: String, database: DatabaseConfiguration, mostPages: Int? = nil,
        progress: @escaping (StorageCopy.Phase, Int64, Int64) -> Void = { _, _, _ in }
    ) throws {
        folder = dataFolder.absolutePath
        try ServerConfiguration.validate(database)
        address = try database.address()
        let secrets = secretsFolder.absolutePath
        guard FileStatus(path: secrets)?.isFolder == true else {
            throw BackupError(
                .notFound, "there is no secrets folder at \(secrets)",
                remedy: "name the server's with --secrets, or with the --config that it is started with")
        }
        fingerprints = try SecretFingerprints(folder: secrets)
        mark = DatabaseMark(in: folder)
        self.mostPages = mostPages
        self.progress = progress
    }

    /// - Throws: `BackupError`, `ConfigurationError`, `DataFolderInUse`, `FileError`, `StorageError`,
    ///   `CancellationError`: nothing was moved, and the target is as it was before; or the last steps are left, which
    ///   another run does.
    package func run(_ direction: Direction) throws -> Outcome {
        // Before the lock makes a file in a folder that is none of ours.
        try requireSource(direction)
        let lock = try DataFolderLock(folder: folder)
        defer { lock.release() }
        // Another move may have ended since.
        try requireSource(direction)
        let database = try PostgresHold(address)
        defer { database.close() }
        do {
            return switch direction {
            case .toPostgreSQL: try moveToPostgreSQL(database)
            case .toSQLite: try moveToSQLite(database)
            }
        } catch let error as CopyDiffers {
            throw BackupError(
                .damaged, "what was copied is not what the source has: \(error)",
                remedy: "nothing was moved; look at both disks, and tell us of it")
        } catch is TargetNotEmpty {
            throw notEmpty(address.name)
        } catch StorageError.denied(let message) {
            throw BackupError(
                .cannotWrite, "\(address.name) refuses that to the role which the URL names: \(message)",
                remedy: "have the role own the database and all that is in it (createdb --owner=… makes an empty one), "
                    + "and run the same again")
        } catch StorageError.constraint(let message) {
            throw BackupError(
                .damaged, "a row of the source does not fit where it belongs: \(message)",
                remedy: "see what sealkit check says of a file, or put back the constraint that a table has lost")
        } catch StorageError.failed(code: 0, message: let message) {
            // SQLite's errors have their numbers.
            throw BackupError(
                .cannotWrite, "\(address.name) failed in the middle: \(message)",
                remedy: "see the log of PostgreSQL, mend what it tells of, and run the same again")
        }
    }

    private func notEmpty(_ name: String) -> BackupError {
        BackupError(
            .badInput, "\(name) is not empty, and nothing in it was changed",
            remedy: "name an empty database: createdb makes one, and dropdb takes this one away where nobody needs it")
    }

    private func requireSource(_ direction: Direction) throws {
        switch direction {
        case .toPostgreSQL:
            if let database = mark.database, FileStatus(path: file) == nil {
                throw BackupError(
                    .badInput, "the server at \(folder) has \(database) already", remedy: "start it with --database-url"
                )
            }
            try OwnUser.require(at: folder)
            guard FileStatus(link: moved) == nil else {
                throw BackupError(
                    .badInput, "\(moved) is there, from an earlier move",
                    remedy: "remove it, or give it another name: the file that is moved now gets that one")
            }
        case .toSQLite:
            guard mark.database != nil else {
                throw BackupError(
                    FileStatus(path: file) == nil ? .notFound : .badInput,
                    "the server at \(folder) has no database of PostgreSQL",
                    remedy: "name the folder that the server has as its --data")
            }
            try OwnUser.require(at: folder, file: DatabaseMark.fileName)
        }
    }

    /// What has to be the server's of this folder and these secrets.
    private func requireOwn(_ source: any SQLConnection, _ name: String) throws {
        try StorageCopy.requireWhole(source, file: name)
        // A database of a server that was never started has no run.
        try mark.require(address, firstRun: try ServerRuns.first(in: source))
        try fingerprints.require(in: source, of: name)
    }

    private func outcome(_ tables: [TableSum], _ source: String, _ target: String, wasCopied: Bool) -> Outcome {
        Outcome(
            tables: tables, digest: Hex.encode(TableSum.digest(of: tables)), source: source, target: target,
            wasCopied: wasCopied)
    }

    /// - Throws: `BackupError` for a target that has something else in it than an earlier run has copied.
    private func compare(_ copy: StorageCopy, with target: any SQLConnection, _ name: String) throws -> [TableSum] {
        do {
            try StorageCopy.requireWhole(target, file: name)
            return try copy.compare(target)
        } catch is CopyDiffers {
            throw notEmpty(name)
        } catch StorageError.unsuitable {
            throw notEmpty(name)
        } catch StorageError.unknownSchema {
            throw notEmpty(name)
        }
    }

    // MARK: To PostgreSQL

    private func moveToPostgreSQL(_ target: PostgresHold) throws -> Outcome {
        try SQLiteFile.settle(file)
        let source = try SQLiteFile(reading: file)
        defer { source.close() }
        let (tables, firstRun, wasCopied) = try source.read { source in
            try requireOwn(source, file)
            let copy = StorageCopy(from: source, progress: progress)
            let firstRun = try ServerRuns.first(in: source)
            if try !target.read({ try $0.tables() }).isEmpty {
                return (try target.read { try compare(copy, with: $0, address.name) }, firstRun, true)
            }
            return (try target.write { try copy.fill($0, file: address.name) }, firstRun, false)
        }
        try mark.write(address, firstRun: firstRun)
        // A database that the file was made of by a move the other way says that it was moved away.
        if wasCopied { try target.write { try StorageCopy.forgetMoved(in: $0) } }
        try PrivateFiles.rename(file, to: moved)
        // Of a log with nothing in it.
        for suffix in ["-wal", "-shm"] { try PrivateFiles.remove(file + suffix) }
        return outcome(tables, moved, address.name, wasCopied: wasCopied)
    }

    // MARK: To SQLite

    private func moveToSQLite(_ source: PostgresHold) throws -> Outcome {
        let isThere = FileStatus(path: file) != nil
        let tables = try source.read { source in
            try requireOwn(source, address.name)
            let copy = StorageCopy(from: source, progress: progress)
            guard !isThere else {
                let target = try SQLiteFile(reading: file)
                defer { target.close() }
                return try target.read { try compare(copy, with: $0, file) }
            }
            if let place = try StorageCopy.movedTo(source) {
                throw ConfigurationError.databaseMoved(database: address.name, to: place)
            }
            return try fillDraft(copy)
        }
        if !isThere { try PrivateFiles.rename(draft, to: file) }
        try source.write { try StorageCopy.noteMoved(to: file, in: $0) }
        try mark.remove()
        try PrivateFiles.syncFolder(at: folder)
        return outcome(tables, address.name, file, wasCopied: isThere)
    }

    private func fillDraft(_ copy: StorageCopy) throws -> [TableSum] {
        try removeDraft()
        do {
            let target = try SQLiteFile(making: draft, mostPages: mostPages)
            defer { target.close() }
            return try target.write { try copy.fill($0, file: draft) }
        } catch {
            // Best effort: what stays is removed by the next one.
            try? removeDraft()
            throw error
        }
    }

    /// Of this run, or of one that was killed.
    private func removeDraft() throws {
        for suffix in ["", "-journal", "-wal", "-shm"] { try PrivateFiles.remove(draft + suffix) }
    }
}
