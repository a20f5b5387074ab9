import Foundation
package import Logging
package import SealPrimitives
import SealStatements
package import SealStorage
import SealSystem
import Synchronization

/// The keys of verification tokens: the newest signs, all verify, so that rotating one never breaks a token under way.
///
/// They are the files `token-keys/000001.key`, `000002.key`, … in the secrets folder; the first is made at the first
/// start. A running server notices when files come or go (`TokenKeyRotation`), at the next token that it signs or
/// checks.
package final class TokenKeys: Sendable {
    package struct Key: Sendable {
        /// PASERK `k4.pid`.
        package let id: String
        package let signingKey: SigningKey
        /// Of its file.
        package let name: String
        /// Of its file: seconds since 1970. Copies keep it, as `rsync --archive` makes them.
        package let made: Int64
    }

    /// What was read last.
    private struct Snapshot {
        var all: [Key]
        var newest: Key
        /// When the folder last changed; nil where it may change again without its time doing so.
        var stamp: FolderStamp?
        var logger: Logger?
        /// A failure is said once, and looked into again at each use: that a file's rights were mended shows nowhere
        /// else.
        var hasFailed = false
    }

    private let folder: String
    private let snapshot: Mutex<Snapshot>

    /// - Parameter name: the folder's; what signs webhooks has keys of its own.
    package init(secretsFolder: String, name: String = "token-keys", randomBytes: (Int) -> [UInt8]) throws {
        folder = secretsFolder + "/" + name
        try PrivateFiles.createFolder(at: folder)
        if try TokenKeyFiles.names(in: folder).isEmpty {
            try SecretFile.create(at: folder + "/" + TokenKeyFiles.name(1), randomBytes: randomBytes)
        }
        snapshot = Mutex(try Self.read(folder))
    }

    /// In order of making.
    package var all: [Key] { current.all }
    package var newest: Key { current.newest }

    /// Seconds that a new file has to be copied to the other servers.
    private static let spreading: Int64 = 60

    /// The key that signs: the newest. Beside other servers, the newest that has had time to be copied to all of them;
    /// until then each verifies by it already.
    /// - Parameter now: microseconds since 1970.
    package func signing(beside peers: Peers, now: Int64) -> Key {
        let keys = current
        guard !peers.isAlone else { return keys.newest }
        return keys.all.last { $0.made <= now / 1_000_000 - Self.spreading } ?? keys.newest
    }

    package func key(_ id: String) -> Key? { all.first { $0.id == id } }

    /// Where it is said that files cannot be read while the server runs.
    package func report(to logger: Logger) { snapshot.withLock { $0.logger = logger } }

    /// Looks whether the folder has changed, which costs a system call.
    private var current: Snapshot {
        snapshot.withLock { snapshot in
            let stamp = FolderStamp(folder)
            guard stamp == nil || stamp != snapshot.stamp else { return snapshot }
            do {
                var read = try Self.read(folder)
                read.logger = snapshot.logger
                snapshot = read
            } catch {
                // What was good and is there still stays good; a key that others can read, say, is not used. One whose
                // file has gone was taken away: if none is left, what is signed from now on verifies nowhere.
                if let names = try? TokenKeyFiles.names(in: folder) {
                    snapshot.all.removeAll { !names.contains($0.name) }
                    snapshot.newest = snapshot.all.last ?? snapshot.newest
                }
                snapshot.stamp = nil
                guard !snapshot.hasFailed else { return snapshot }
                snapshot.hasFailed = true
                snapshot.logger?.error(
                    "signing keys could not be read; the server goes on with those that it has",
                    metadata: ["error": "\(error)"])
            }
            return snapshot
        }
    }

    private static func read(_ folder: String) throws -> Snapshot {
        // Before the files: what changes while they are read is read again.
        let stamp = FolderStamp(folder)
        let keys = try TokenKeyFiles.names(in: folder).map { name in
            let path = folder + "/" + name
            let key = try SigningKey(seed: try SecretFile.load(at: path))
            let made = FileStatus(path: path).map { Int64($0.modified.seconds) } ?? 0
            return Key(id: KeyIdentifier.paserk(of: key.verificationKey), signingKey: key, name: name, made: made)
        }
        guard let newest = keys.last else { throw FileError(path: folder, action: "read", code: ENOENT) }
        return Snapshot(all: keys, newest: newest, stamp: stamp)
    }
}

/// The files' names.
enum TokenKeyFiles {
    static let mostNumber = 999_999

    /// In order of making.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { number($0) != nil }.sorted()
    }

    static func name(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".key"
    }

    static func number(_ name: String) -> Int? {
        guard name.utf8.count == 10, name.hasSuffix(".key"),
            name.utf8.dropLast(4).allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(name.dropLast(4))
    }
}

/// When a folder last had a file come or go.
private struct FolderStamp: Equatable {
    let modified: FileStatus.Moment

    /// Nil where the folder cannot be looked at, and where it changed so lately that it may change again at the same
    /// time as far as its file system tells.
    init?(_ path: String) {
        guard let status = FileStatus(path: path), abs(time(nil) - status.modified.seconds) > 1 else { return nil }
        modified = status.modified
    }
}
