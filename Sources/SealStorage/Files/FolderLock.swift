import Foundation

/// Keeps everybody else who asks for the same folder waiting, for some milliseconds. Released by deinit, and by the
/// system when the process dies.
package final class FolderLock: Sendable {
    private let descriptor: FileDescriptorBox

    /// - Throws: `FileError`.
    package init(_ folder: String) throws(FileError) {
        let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw FileError(path: folder, action: "open", code: errno) }
        descriptor = FileDescriptorBox(opened)
        while !descriptor.lock(LOCK_EX) {
            guard errno == EINTR else { throw FileError(path: folder, action: "lock", code: errno) }
        }
    }
}
