import Foundation
import SealSystem

/// A folder of a process's own below one that all use. It is locked as long as the process lives, so that the next one
/// sees which of them nobody needs any more.
struct ProcessFolder {
    private static let prefix = "sealkit-assets-"
    private static let unready = "sealkit-starting-"

    let url: URL
    /// The lock, which goes with the process.
    private let descriptor: Int32

    /// - Returns: nil where none can be made.
    init?(in parent: URL) {
        var template = Array((parent.path + "/\(Self.unready)XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        descriptor = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // It gets the name that others look for once it is locked: between the two nobody takes it for one that was
        // left.
        url = parent.appendingPathComponent(Self.prefix + UUID().uuidString, isDirectory: true)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(made, url.path) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            rmdir(made)
            return nil
        }
    }

    /// Removes those of this user whose process has gone.
    static func removeAbandoned(in parent: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] {
            let path = parent.appendingPathComponent(name).path
            // One that was given up before it had its name is empty; one that is on the way to it has been made just
            // now.
            if name.hasPrefix(unready), isOld(path) { rmdir(path) }
            guard name.hasPrefix(prefix) else { continue }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard FileStatus(descriptor: descriptor)?.owner.user == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private static func isOld(_ path: String) -> Bool {
        guard let status = FileStatus(link: path), status.owner.user == geteuid() else { return false }
        return Int64(status.modified.seconds) < systemClock() / 1_000_000 - 3600
    }
}
