import Foundation

/// Holds a file for this process. Released by `release()`, by deinit, and by the system when the process dies.
package final class FileLock: Sendable {
    package enum Kind: Sendable {
        /// Beside others that share it.
        case shared
        case alone
    }

    private let descriptor: FileDescriptorBox

    /// Nil where somebody holds it otherwise, unless it waits.
    /// - Throws: `FileError`, also where the file cannot be made.
    package init?(_ path: String, _ kind: Kind, waits: Bool = false) throws {
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        descriptor = FileDescriptorBox(opened)
        var flags = kind == .alone ? LOCK_EX : LOCK_SH
        if !waits { flags |= LOCK_NB }
        while !descriptor.lock(flags) {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return nil
            case let code: throw FileError(path: path, action: "lock", code: code)
            }
        }
    }

    package func release() { descriptor.close() }
}
