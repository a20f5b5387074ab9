import Foundation
import SealSystem

/// The folder that something is written to until it is whole. Its process holds a lock on it, which the system lets go
/// however the process ends: what lies there without one has been abandoned.
struct PartFolder {
    let url: URL
    private let lock: Lock

    private final class Lock: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    /// - Parameter folder: the name that it gets at the end.
    /// - Throws: `internalError` where it cannot be made.
    init(for folder: URL, isPrivate: Bool) throws(SealKitError) {
        // Who takes one that was made this moment for an abandoned one makes this one try again.
        for _ in 0..<8 {
            let path = folder.path + PartFolder.infix + UUID().uuidString.prefix(PartFolder.suffixLength)
            guard mkdir(path, isPrivate ? 0o700 : 0o777) == 0 else { break }
            guard let lock = PartFolder.locked(path, orUnlockable: true) else { continue }
            (url, self.lock) = (URL(fileURLWithPath: path), lock)
            return
        }
        throw SealKitError(
            .internalError, "the folder of \(folder.path) cannot be written to", remedy: "choose another place")
    }

    /// Removes what exports to the same place have left that no process writes to any more.
    /// - Returns: how many there were.
    static func removeAbandoned(besides folder: URL) -> Int {
        let parent = folder.deletingLastPathComponent()
        let prefix = folder.lastPathComponent + infix
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.count { name in
            guard name.hasPrefix(prefix), isSuffix(name.dropFirst(prefix.count)) else { return false }
            let part = parent.appendingPathComponent(name)
            // Held until it is gone.
            guard let lock = locked(part.path) else { return false }
            return withExtendedLifetime(lock) { (try? FileManager.default.removeItem(at: part)) != nil }
        }
    }

    private static let infix = ".part-"
    private static let suffixLength = 8

    private static func isSuffix(_ text: Substring) -> Bool {
        text.utf8.count == suffixLength && text.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isLowercase }
    }

    /// - Parameter orUnlockable: also a folder on a file system that has no locks.
    /// - Returns: nil for what is not this user's folder, is in use, or has gone.
    private static func locked(_ path: String, orUnlockable: Bool = false) -> Lock? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let lock = Lock(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || (orUnlockable && errno != EWOULDBLOCK),
            let held = FileStatus(descriptor: descriptor), let named = FileStatus(link: path),
            held.identity == named.identity, held.owner.user == geteuid()
        else { return nil }
        return lock
    }
}
