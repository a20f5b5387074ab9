import Foundation
package import SealPrimitives
import SealStorage
import SealSystem

/// A key in the secrets folder: 32 bytes that its owner alone can read.
package enum SecretFile {
    package static let byteCount = 32

    /// Reads the key, or makes one where there is none.
    ///
    /// Throws `SecretFileError` for a file of another size or that others may read: both mean that somebody should
    /// look.
    static func loadOrCreate(at path: String, randomBytes: (Int) -> [UInt8]) throws -> SecretBytes {
        if FileStatus(path: path) == nil, errno == ENOENT {
            try create(at: path, randomBytes: randomBytes)
        }
        return try load(at: path)
    }

    package static func load(at path: String) throws -> SecretBytes {
        var bytes = try contents(of: path, atMost: byteCount)
        guard bytes.count == byteCount else {
            wipe(&bytes)
            throw SecretFileError.wrongSize(path: path)
        }
        return SecretBytes(taking: &bytes)
    }

    /// The bytes of a file that its owner alone can read. The caller wipes them.
    package static func contents(of path: String, atMost limit: Int) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        defer { close(descriptor) }
        guard let status = FileStatus(descriptor: descriptor) else {
            throw FileError(path: path, action: "examine", code: errno)
        }
        guard status.mode & 0o077 == 0 else { throw SecretFileError.readableByOthers(path: path) }
        // One byte more, so that a longer file shows.
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw FileError(path: path, action: "read", code: errno) }
        guard count <= limit else {
            wipe(&bytes)
            throw SecretFileError.wrongSize(path: path)
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// That nobody but its owner can put something else in the place of what a folder has; one that is not there has
    /// nothing.
    package static func requireOwn(folder path: String) throws(SecretFileError) {
        guard let status = FileStatus(path: path), status.mode & 0o022 != 0 else { return }
        throw .replaceableByOthers(path: path)
    }

    /// Writes a new key beside the path and links it there once it is durable: a crash leaves a whole key or none, and
    /// a key that exists is never replaced. Made by root, it is its folder's owner's: the server may run as somebody
    /// else.
    package static func create(at path: String, randomBytes: (Int) -> [UInt8]) throws {
        var bytes = randomBytes(byteCount)
        defer { wipe(&bytes) }
        try create(at: path, contents: bytes)
    }

    /// The same for a secret of another form.
    package static func create(at path: String, contents bytes: [UInt8]) throws {
        let folder = path.absolutePath.folderAbove
        let draft = folder + "/" + Self.draft(of: path)
        // Of two that make one file, the later one would take away what the other writes.
        guard let lock = FolderLock(folder) else { throw FileError(path: folder, action: "lock", code: errno) }
        defer { withExtendedLifetime(lock) {} }
        // What a process that was killed has left.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, action: "create", code: errno) }
        defer {
            close(descriptor)
            unlink(draft)
        }
        try PrivateFiles.handOver(descriptor, draft, toOwnerOf: folder)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw FileError(path: path, action: "write", code: errno)
        }
        guard rename(draft, toFree: path) else { throw FileError(path: path, action: "create", code: errno) }
        try PrivateFiles.syncFolder(at: folder)
    }

    /// The name, in the same folder, of what is being written: one that nobody would give a file of their own.
    package static func draft(of path: String) -> String {
        ".\(path.split(separator: "/").last.map(String.init) ?? path).new"
    }
}

/// A key file that the server will not start with.
public enum SecretFileError: Error, Equatable, CustomStringConvertible {
    case wrongSize(path: String)
    case readableByOthers(path: String)
    /// Of a folder, into which others may write.
    case replaceableByOthers(path: String)
    /// Of the file with the operator's management token.
    case malformedToken(path: String)

    public var description: String {
        switch self {
        case .wrongSize(let path): "\(path) is not a key of 32 bytes. Restore it from a backup of the secrets folder."
        case .readableByOthers(let path): "\(path) can be read by others than its owner. Run: chmod 600 \(path)"
        case .replaceableByOthers(let path):
            "Others than its owner can replace what is in \(path). Look whether somebody has, and run: chmod go-w \(path)"
        case .malformedToken(let path):
            "\(path) does not hold a management token. Remove it: the server makes a new one at its next start."
        }
    }
}
