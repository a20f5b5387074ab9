import Foundation
import SealKit

/// A descriptor that this process writes to by itself, unbuffered: a line is there when a script waits for it, and what
/// could not be written is known at once.
struct StandardStream {
    let descriptor: Int32

    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    /// What was opened without the three streams that every process has would take their numbers, and be written into.
    static func holdNumbers() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // The wrong way round for the first two: reading from it, or writing to it, fails as with a closed one.
            _ = open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_WRONLY)
        }
        surviveReaders()
    }

    /// A reader that has gone is an error of writing, and not the end of the process in the middle of what it does.
    ///
    /// By a handler: programs that this one starts would inherit that a signal is ignored, and go on writing to nobody.
    /// The network library ignores it with its first connection, so this comes before each such program as well.
    static func surviveReaders() { signal(SIGPIPE) { _ in } }

    /// - Throws: `outputNotWritten`.
    func write(_ text: String) throws(SealKitError) { try write(Array(text.utf8)) }

    /// - Throws: `outputNotWritten`.
    func write(_ bytes: [UInt8]) throws(SealKitError) {
        if let reason = failure(of: bytes) { throw SealKitError.notWritten(reason) }
    }

    /// For what is beside the result: nothing is to be done where it cannot be seen.
    func show(_ text: String) { _ = failure(of: Array(text.utf8)) }

    /// Has what was written on the disk, where that is where it goes.
    /// - Throws: `outputNotWritten`.
    func flush() throws(SealKitError) {
        while fsync(descriptor) != 0 {
            switch errno {
            case EINTR: continue
            // A terminal, a pipe or a device, which keeps nothing back.
            case EINVAL, ENOTSUP, EROFS: return
            default: throw SealKitError.notWritten(errno)
            }
        }
    }

    /// - Returns: nil when all was written; else the system's reason.
    private func failure(of bytes: [UInt8]) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Somebody else, whose pipe this is too, does not want to wait.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            default: return errno
            }
        }
        return nil
    }
}

extension SealKitError.Code {
    /// Standard output could not be written: what the command had to say is lost.
    static let outputNotWritten = SealKitError.Code(rawValue: "outputNotWritten")
}

extension SealKitError {
    fileprivate static func notWritten(_ reason: Int32) -> SealKitError {
        SealKitError(
            .outputNotWritten, "standard output could not be written (\(String(cString: strerror(reason))))",
            remedy: reason == ENOSPC ? "free some space, or let it go elsewhere" : "let it go where it can be written")
    }

    var isOfOutput: Bool { code == .outputNotWritten }

    /// The same, with what is to be done about what was to be shown.
    func adding(remedy more: String) -> SealKitError {
        SealKitError(
            code, reason, remedy: remedy.isEmpty ? more : "\(remedy); \(more)", retryAfter: retryAfter,
            serverRecord: serverRecord,
            clientRecord: clientRecord, ancestorRecord: ancestorRecord, rosterFork: rosterFork, lateRecord: lateRecord,
            userDidResetEncryptedDataKey: userDidResetEncryptedDataKey)
    }
}
