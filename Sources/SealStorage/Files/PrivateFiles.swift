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
            try createFolder(at: path.absolutePath.folderAbove)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw FileError(path: path, action: "create", code: errno)
            }
        case let code:
            throw FileError(path: path, action: "create", code: code)
        }
    }

    /// Creates the file (mode 0600) unless it exists. One that is there is not opened: closing it would let go the
    /// locks that SQLite holds on it for this process (https://sqlite.org/howtocorrupt.html, 2.2).
    package static func createFile(at path: String) throws(FileError) {
        guard access(path, F_OK) != 0 else {
            guard access(path, R_OK | W_OK) == 0 else { throw FileError(path: path, action: "open", code: errno) }
            return
        }
        // Nor is one opened that somebody has under its name already.
        let draft = "\(path).\(UUID().uuidString.prefix(8)).new"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, action: "create", code: errno) }
        close(descriptor)
        guard !SealSystem.rename(draft, toFree: path) else { return }
        let reason = errno
        unlink(draft)
        guard reason == EEXIST else { throw FileError(path: path, action: "create", code: reason) }
    }

    /// Gives a file or folder its final name, durably; nothing has it in between.
    package static func rename(_ path: String, to name: String) throws(FileError) {
        guard Foundation.rename(path, name) == 0 else { throw FileError(path: name, action: "rename to", code: errno) }
        try syncFolder(at: name.absolutePath.folderAbove)
    }

    /// Writes a file, durably, in the place of one that is there; a draft that was left by a process that was killed
    /// goes. It is the folder's owner's, who could not read what root has written there.
    package static func replace(_ path: String, with text: String) throws(FileError) {
        let draft = path + ".new"
        try remove(draft)
        let writer = try FileWriter(draft)
        try writer.handOver(toOwnerOf: path.absolutePath.folderAbove)
        try writer.write(Array(text.utf8))
        _ = try writer.finish()
        try rename(draft, to: path)
    }

    /// What root makes in somebody's folder becomes theirs: the server may run as somebody else.
    /// - Parameters:
    ///   - descriptor: of the file.
    ///   - path: its name, for the error.
    package static func handOver(_ descriptor: CInt, _ path: String, toOwnerOf folder: String) throws(FileError) {
        guard geteuid() == 0 else { return }
        guard let owner = FileStatus(path: folder)?.owner, fchown(descriptor, owner.user, owner.group) == 0 else {
            throw FileError(path: path, action: "hand over", code: errno)
        }
    }

    /// Removes a file, or a folder with all that is in it; what is not there is removed already.
    package static func remove(_ path: String) throws(FileError) {
        guard let status = FileStatus(link: path) else {
            guard errno == ENOENT else { throw FileError(path: path, action: "examine", code: errno) }
            return
        }
        if status.isFolder {
            for name in try names(in: path) { try remove(path + "/" + name) }
        }
        guard (status.isFolder ? rmdir(path) : unlink(path)) == 0 || errno == ENOENT else {
            throw FileError(path: path, action: "remove", code: errno)
        }
    }

    /// What is in a folder, in the order of its bytes.
    package static func names(in folder: String) throws(FileError) -> [String] {
        guard let opened = opendir(folder) else { throw FileError(path: folder, action: "list", code: errno) }
        defer { closedir(opened) }
        var names: [String] = []
        while let entry = readdir(opened) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Makes what a file holds durable.
    package static func syncFile(at path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(path: path, action: "sync", code: errno) }
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
