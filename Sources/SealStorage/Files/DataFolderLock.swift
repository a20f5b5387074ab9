import Foundation
import SealSystem

/// Holds a data folder for this process. Released by `release()`, by deinit, and by the system when the process dies.
package final class DataFolderLock: Sendable {
    private let descriptor: FileDescriptorBox

    package init(folder: String) throws {
        let path = folder + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        let box = FileDescriptorBox(descriptor)
        guard box.lock(LOCK_EX | LOCK_NB) else {
            guard errno == EWOULDBLOCK else { throw FileError(path: path, action: "lock", code: errno) }
            throw DataFolderInUse(folder: folder, processID: Self.processID(descriptor))
        }
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
            throw FileError(path: path, action: "write", code: errno)
        }
        self.descriptor = box
    }

    package func release() { descriptor.close() }

    /// Who held the folder last, whether that process is still there or not; nil where nobody is noted.
    package static func processID(in folder: String) -> Int32? {
        let descriptor = open(folder + "/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return processID(descriptor)
    }

    private static func processID(_ descriptor: Int32) -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Whether it is this folder's still: whoever restores one renames it, with its lock.
    package func isOf(_ folder: String) -> Bool {
        guard let held = FileStatus(descriptor: descriptor.rawValue) else { return false }
        return FileStatus(path: folder + "/lock")?.identity == held.identity
    }
}

/// Another server is running on the same data folder.
public struct DataFolderInUse: Error, Equatable, CustomStringConvertible {
    public let folder: String
    public let processID: Int32?

    public var description: String {
        let who = processID.map { "process \($0)" } ?? "another process"
        return
            "The data folder \(folder) is in use by \(who). Stop that server first, or give this one another --data folder."
    }
}
