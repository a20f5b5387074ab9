import Foundation
import SealSystem

/// One command at a time brings an account to a key file, to another device or away: the next enrolment is its user's
/// next word, not another window's; and what is verified for a key file that comes to nothing is no other command's.
final class KeyFileLock {
    private let path: String
    private let descriptor: Int32

    /// - Throws: while another command holds it; where nothing can be written beside the key file.
    init(beside keyFile: URL) throws(Failure.Local) {
        path = keyFile.deletingLastPathComponent().appendingPathComponent(".\(keyFile.lastPathComponent).lock").path
        while true {
            let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                throw Failure.Local(
                    status: .cannotWrite, reason: "\(path) cannot be written (\(String(cString: strerror(errno))))")
            }
            // A file system without locks has no other command's either.
            guard flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                close(file)
                throw Failure.Local(
                    status: .tryLater,
                    reason: "another command brings an account to the key file \(keyFile.path), or from it",
                    remedy: "one at a time: answer that one, or end it, first")
            }
            // The one that has just ended took its file away: a lock on that keeps nobody out.
            if FileStatus(descriptor: file)?.links == 0 {
                close(file)
                continue
            }
            descriptor = file
            return
        }
    }

    deinit {
        unlink(path)
        close(descriptor)
    }
}
