import Foundation
import NIOCore
import SealPrimitives
import SealStorage
import SealSystem

/// Holds everything in a data folder against everything else, while no server runs on it. It writes nothing but the
/// lock.
package struct DataCheck {
    private let folder: String
    private let path: String
    private let lock: DataFolderLock

    /// How many files are named one by one, of each kind of fault.
    private static let mostNamed = 20

    /// - Throws: `FileError` where there is no such database; `DataFolderInUse`.
    package init(dataFolder: String) throws {
        folder = dataFolder
        path = dataFolder + "/" + SQLiteDatabase.fileName
        // Before the lock makes a file in a folder that is none of ours.
        guard FileStatus(path: path) != nil else { throw FileError(path: path, action: "read", code: errno) }
        lock = try DataFolderLock(folder: dataFolder)
    }

    package func close() { lock.release() }

    /// What is wrong, in the order in which it is best looked at; nothing where all is well.
    ///
    /// Throws `StorageError.unknownSchema` for a database of a newer version, `unsuitable` for one of an older version
    /// or of another program, `unsettled` for one in which something has to be taken back first, `inUse` where another
    /// program holds it, `full` where there is no room for what is sorted meanwhile; `FileError`, `CancellationError`.
    package func run() throws -> [Finding] {
        var findings: [Finding] = []
        do {
            let database = try SQLiteFile(reading: path)
            defer { database.close() }
            findings += try database.faults().map { Finding(.database, "SQLite: \($0)", remedy: RowRule.restore) }
            // What an older version lacks is no damage.
            try database.read { try Migrator(migrations: Migration.all).requireAll($0, file: path) }
            findings += try database.read { try Self.rows(in: $0) }
            findings += try blobs(of: database)
        } catch let error as StorageError {
            switch error {
            case .unknownSchema, .unsuitable, .unsettled, .inUse, .full: throw error
            default: break
            }
            findings.append(
                Finding(.database, "the database cannot be read to its end: \(error)", remedy: RowRule.restore))
        }
        return findings
    }

    private static func rows(in connection: any SQLConnection) throws -> [Finding] {
        var findings: [Finding] = []
        for rule in RowRule.all {
            try Task.checkCancellation()
            let count = try connection.first(rule.count) { try $0.int64("count") } ?? 0
            guard count > 0 else { continue }
            findings.append(Finding(rule.kind, "\(count) \(rule.what)", remedy: RowRule.restore))
        }
        let drifted = try StorageUsage.driftedAccounts(in: connection)
        if drifted > 0 {
            findings.append(
                Finding(
                    .sums, "\(drifted) accounts are billed for something else than they have",
                    remedy: "start the server: it counts them again by itself, within a day of the last time"))
        }
        return findings
    }

    // MARK: Blobs

    private struct Row {
        let stored: BlobID
        let size: Int64
        let root: [UInt8]?
        let isSealed: Bool
    }

    /// Where assets are that it does not look at; nil where they are files in the folder.
    package func blobsElsewhere() throws -> String? {
        let database = try SQLiteFile(reading: path)
        defer { database.close() }
        return try database.read { try BlobPlace.noted(in: $0) }
    }

    private func blobs(of database: SQLiteFile) throws -> [Finding] {
        // Which the server compares itself.
        guard try database.read({ try BlobPlace.noted(in: $0) }) == nil else { return [] }
        var faults: [Finding.Kind: [String]] = [:]
        var known: Set<String> = []
        try database.read { connection in
            try connection.run("SELECT stored, size, root, owner FROM blob ORDER BY stored", []) { row in
                let name = try row.text("stored")
                known.insert(name)
                // One that is under way has no file of its own yet.
                guard let size = try row.optionalInt64("size") else { return true }
                guard let id = BlobID(name) else {
                    faults[.missingBlob, default: []].append(name)
                    return true
                }
                let blob = Row(
                    stored: id, size: size, root: try row.optionalBytes("root"), isSealed: try row.int64("owner") > 0)
                if let fault = try fault(of: blob) { faults[fault, default: []].append(name) }
                return true
            }
            known.formUnion(try connection.rows("SELECT stored FROM blob_garbage") { try $0.text("stored") })
        }
        faults[.unknownFile] = try files().filter { !known.contains($0.name) }.map(\.path)
        return Finding.Kind.allCases.flatMap { kind in Self.findings(kind, faults[kind] ?? []) }
    }

    private func fault(of blob: Row) throws -> Finding.Kind? {
        let path = FolderBlobStore.path(of: blob.stored, in: folder + "/blobs")
        guard let status = FileStatus(path: path), status.isRegular else { return .missingBlob }
        guard status.size == blob.size else { return .wrongSize }
        guard let root = blob.root, let layout = try? UploadLayout(blobBytes: blob.size, isSealed: blob.isSealed) else {
            return .wrongSum
        }
        let check = AssetCheck(layout)
        do {
            let reader = try FileReader(path)
            while true {
                let bytes = try reader.read(atMost: FileReader.chunkBytes)
                if bytes.isEmpty { break }
                check.take(ByteBuffer(bytes: bytes))
            }
        } catch is FileError {
            // A disk that does not give a file back has lost it.
            return .wrongSum
        }
        return (try? check.root())?.bytes == root ? nil : .wrongSum
    }

    /// Every file of the blobs' folder that is not of an upload under way.
    private func files() throws -> [(name: String, path: String)] {
        var found: [(name: String, path: String)] = []
        func look(_ below: String) throws {
            let path = folder + "/blobs" + below
            for name in try PrivateFiles.names(in: path) where below != "" || name != "staged" {
                if FileStatus(link: path + "/" + name)?.isFolder == true {
                    try look(below + "/" + name)
                } else {
                    found.append((name, "blobs\(below)/\(name)"))
                }
            }
        }
        guard FileStatus(path: folder + "/blobs") != nil else { return [] }
        try look("")
        return found
    }

    private static func findings(_ kind: Finding.Kind, _ names: [String]) -> [Finding] {
        guard !names.isEmpty else { return [] }
        let copy = "copy it from a backup into its place, or have an app save the record again with a new file"
        let (what, remedy): (String, String) =
            switch kind {
            case .missingBlob: ("the file of an asset is missing: blob ", copy)
            case .wrongSize: ("the file of an asset has another size than was uploaded: blob ", copy)
            case .wrongSum: ("the file of an asset holds other bytes than were uploaded: blob ", copy)
            default: ("a file that the database does not know: ", "move it out of the data folder")
            }
        let named = names.prefix(mostNamed).map { Finding(kind, what + $0, remedy: remedy) }
        guard names.count > mostNamed else { return named }
        return named + [Finding(kind, "and \(names.count - mostNamed) more like it", remedy: remedy)]
    }
}
