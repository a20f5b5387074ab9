import Foundation
import SealPrimitives
import SealService
import SealStorage
import SealSystem

/// What is in a secrets folder, in memory for as long as it is sealed or compared.
struct SecretsCopy {
    private struct File {
        /// Within the folder.
        let path: String
        let contents: SecretBytes
    }

    private let files: [File]

    var isEmpty: Bool { files.isEmpty }

    private static let mostBytes = 1 << 16
    private static let mostFiles = 10_000
    /// Of all together, with their names: what is opened again is in memory.
    private static let mostBytesOfAll = mostBytes * 64
    private static let purpose = "secrets"
    /// What the database has been written with: with others nobody is found by an address, and codes are void.
    static let lasting = ["address.key", "registration.key"]

    /// - Throws: `BackupError` where there is no such folder; `FileError`, `SecretFileError`.
    init(folder: String) throws {
        try self.init(folder: folder) { _, _ in true }
    }

    /// Those alone that have fingerprints. What else lies there, and how, is nothing to whoever seals nothing.
    /// - Throws: as `init(folder:)`.
    init(keysOf folder: String) throws {
        try self.init(folder: folder) { path, size in Self.isKey(path, size: size) }
    }

    /// - Parameter isWanted: by a file's path and size.
    private init(folder: String, _ isWanted: (String, Int) -> Bool) throws {
        guard FileStatus(path: folder)?.isFolder == true else {
            throw BackupError(
                .notFound, "there is no secrets folder at \(folder)",
                remedy: "name the server's with --secrets, or with the --config that it is started with")
        }
        var files: [File] = []
        func take(_ below: String) throws {
            for name in try PrivateFiles.names(in: folder + below) {
                let path = below + "/" + name
                guard let status = FileStatus(path: folder + path) else {
                    throw FileError(path: folder + path, action: "examine", code: errno)
                }
                if status.isFolder {
                    // The folders of keys have no others in them.
                    if below.isEmpty { try take(path) }
                } else if !name.hasSuffix(".new"), isWanted(path, Int(clamping: status.size)) {
                    var bytes = try SecretFile.contents(of: folder + path, atMost: Self.mostBytes)
                    files.append(File(path: String(path.dropFirst()), contents: SecretBytes(taking: &bytes)))
                }
            }
        }
        try take("")
        self.files = files
    }

    // MARK: Fingerprints

    /// By path, of the keys alone: 32 random bytes, which nobody finds by trying. What else lies there may be a
    /// password.
    var fingerprints: [String: String] {
        Dictionary(
            uniqueKeysWithValues: files.compactMap { file in
                guard Self.isKey(file.path, size: file.contents.count) else { return nil }
                return (file.path, Self.fingerprint(of: file.contents, at: file.path))
            })
    }

    private static func isKey(_ path: String, size: Int) -> Bool {
        path.hasSuffix(".key") && size == SecretFile.byteCount
    }

    /// - Parameter path: within the folder.
    static func fingerprint(of key: SecretBytes, at path: String) -> String {
        var bytes = key.copyBytes()
        defer { wipe(&bytes) }
        let digest = ServerHash.digest(.secretFingerprint, Array(path.utf8), bytes)
        return Hex.encode([UInt8](digest.prefix(16)))
    }

    /// Whether a backup's database goes with these secrets.
    /// - Returns: signing keys that are not among them: what was signed with those verifies no more.
    /// - Throws: `BackupError` where the database is of no use with them.
    func requireMatch(_ manifest: BackupManifest) throws(BackupError) -> [String] {
        let given = fingerprints
        let others = Self.lasting.filter { name in
            manifest.secrets[name] != nil && manifest.secrets[name] != given[name]
        }
        guard others.isEmpty else {
            throw BackupError(
                .badInput,
                "the backup's database was written with other secrets: \(others.joined(separator: ", ")) differs",
                remedy: "give the secrets that the server had then, from the file of --secrets-to or the folder itself")
        }
        return manifest.secrets.filter { given[$0.key] != $0.value }.keys.sorted()
    }

    // MARK: Sealed

    /// Seals them into a file, which takes the place of a sealed one that is there.
    /// - Throws: `BackupError` where something else is there, `FileError`.
    func seal(to recipient: BackupRecipient, at path: String) throws {
        let size = files.reduce(64) { $0 + $1.path.utf8.count + $1.contents.count + 8 }
        guard size <= Self.mostBytesOfAll, files.count <= Self.mostFiles else {
            throw BackupError(
                .badInput,
                "the secrets folder has more than \(Self.mostFiles) files or \(Self.mostBytesOfAll >> 20) MiB in it, and nobody could open its sealed copy",
                remedy: "keep what is no secret of the server elsewhere")
        }
        var writer = CanonicalWriter(capacity: size)
        writer.number(UInt32(files.count))
        for file in files {
            writer.string(file.path)
            var bytes = file.contents.copyBytes()
            writer.blob(bytes)
            wipe(&bytes)
        }
        var rest = writer.bytes[...]
        let draft = path + ".new"
        for there in [path, draft] where FileStatus(link: there) != nil {
            // What was killed before it had written this much is as good as nothing.
            guard SealedFile.isThere(at: there) || FileStatus(link: there)?.size == 0 else {
                throw BackupError(
                    .badInput, "\(there) is there, and is no sealed file",
                    remedy: "name another file with --secrets-to, or move that one away")
            }
        }
        unlink(draft)
        let file = try FileWriter(draft)
        try SealedFile.seal(
            { count in
                defer { rest = rest.dropFirst(count) }
                return [UInt8](rest.prefix(count))
            }, for: Self.purpose, to: recipient, into: file)
        _ = try file.finish()
        try PrivateFiles.rename(draft, to: path)
    }

    /// - Throws: `BackupError`, `FileError`.
    init(sealedFile path: String, key: BackupKey) throws {
        do {
            var bytes: [UInt8] = []
            defer { wipe(&bytes) }
            try SealedFile.open(try FileReader(path), for: Self.purpose, with: key) { part in
                guard bytes.count + part.count <= Self.mostBytesOfAll else { throw SealError.invalidLength }
                bytes += part
            }
            files = try Self.files(in: bytes)
        } catch let error as SealError {
            throw BackupError(
                .damaged, "\(path) does not open as secrets with this key (\(error.rawValue))",
                remedy: "give the key that it was sealed to, or another copy of the file")
        }
    }

    private static func files(in bytes: [UInt8]) throws(SealError) -> [File] {
        var reader = CanonicalReader(bytes)
        let count: UInt32 = try reader.number()
        guard count <= mostFiles else { throw .malformed }
        var files: [File] = []
        for _ in 0..<count {
            let name = try reader.string(atMost: 512)
            var contents = try reader.blob(atMost: mostBytes)
            guard isPlain(name) else { throw .invalidName }
            files.append(File(path: name, contents: SecretBytes(taking: &contents)))
        }
        try reader.finish()
        return files
    }

    /// A name, or one in a folder: nothing that leads out.
    private static func isPlain(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
            && !path.utf8.contains(0)
    }

    /// Writes them into a new folder, which has its name once it is whole.
    func write(to folder: String) throws {
        let draft = folder + ".restoring"
        let ours = Set(files.flatMap { [String($0.path.prefix { $0 != "/" }), SecretFile.draft(of: $0.path)] })
        if FileStatus(link: draft)?.isFolder == true {
            guard try Set(PrivateFiles.names(in: draft)).isSubset(of: ours) else {
                throw BackupError(
                    .badInput, "\(draft) has something else in it than what a restore has left",
                    remedy: "move it away: restores are made in a folder of that name")
            }
            try PrivateFiles.remove(draft)
        }
        try PrivateFiles.createFolder(at: draft)
        for file in files {
            let path = draft + "/" + file.path
            try PrivateFiles.createFolder(at: path.folderAbove)
            var bytes = file.contents.copyBytes()
            defer { wipe(&bytes) }
            try SecretFile.create(at: path, contents: bytes)
        }
        try PrivateFiles.syncFolder(at: draft)
        try PrivateFiles.rename(draft, to: folder)
    }
}
