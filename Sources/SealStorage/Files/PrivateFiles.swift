import Foundation
import SealSystem

/// Makes files and folders that their owner alone can read.
package enum PrivateFiles {
    /// Creates the folder (mode 0700) and those above it; an existing folder is left as it is.
    package static func createFolder(at path: String) throws(FileError) {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST:
            guard FileStatus(path: path)?.isFolder == true else {
                throw FileError(path: path, action: "use as a folder", code: ENOTDIR)
            }
        case ENOENT:
            let parent = parent(of: path)
            guard !parent.isEmpty, parent != path else { throw FileError(path: path, action: "create", code: ENOENT) }
            try createFolder(at: parent)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw FileError(path: path, action: "create", code: errno)
            }
        case let code:
            throw FileError(path: path, action: "create", code: code)
        }
    }

    /// The folder that a path is in; empty for a bare name. Foundation's own ends the process for a name of one letter.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates the file (mode 0600) unless it exists.
    static func createFile(at path: String) throws(FileError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, action: "create", code: errno) }
        close(descriptor)
    }

    /// Makes the names in a folder durable: a file that was renamed into it survives a power cut only after this.
    package static func syncFolder(at path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(path: path, action: "sync", code: errno) }
    }
}

/// A system call on a file failed.
public struct FileError: Error, Equatable, CustomStringConvertible {
    public let path: String
    public let action: String
    /// The system's error number.
    public let code: Int32

    package init(path: String, action: String, code: Int32) {
        self.path = path
        self.action = action
        self.code = code
    }

    public var description: String { "cannot \(action) \(path): \(String(cString: strerror(code)))" }
    var isFull: Bool { code == ENOSPC || code == EDQUOT }
}
