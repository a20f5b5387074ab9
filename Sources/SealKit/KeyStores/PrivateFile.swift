package import Foundation
import SealSystem

/// Files that only their user may read.
package enum PrivateFile {
    /// A file's bytes, and whose they are.
    package struct Content {
        package let bytes: Data
        fileprivate let mode: UInt32
        fileprivate let owner: UInt32
    }

    /// Makes a new file of mode 0600; never over one that is there.
    static func create(at url: URL, content: Data) throws(SealKitError) {
        try locked(url) { () throws(SealKitError) in
            try place(content, at: url) { rename($0, toFree: url.path) }
        }
    }

    /// Makes an empty file of mode 0600 where there is none. One that is there is neither replaced nor opened: closing
    /// it would let go the locks that SQLite holds on it for this process (https://sqlite.org/howtocorrupt.html, 2.2).
    static func makeEmpty(at url: URL) throws(SealKitError) {
        guard access(url.path, F_OK) != 0 else { return }
        try locked(url) { () throws(SealKitError) in
            do throws(SealKitError) { try place(Data(), at: url) { rename($0, toFree: url.path) } } catch {
                // Somebody else was faster.
                guard error.code == .constraintViolation else { throw error }
            }
        }
    }

    /// Replaces the file in one step, or makes it. The caller holds the lock.
    package static func replace(_ url: URL, with content: Data) throws(SealKitError) {
        try place(content, at: url) { rename($0, url.path) == 0 }
    }

    /// - Returns: nil when there is no such file.
    package static func read(_ url: URL) throws(SealKitError) -> Content? {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR].contains(errno) { return nil }
            throw unreadable(url)
        }
        defer { close(descriptor) }
        guard let status = FileStatus(descriptor: descriptor) else { throw unreadable(url) }
        // Nothing that is kept so is larger; a device or a wrong file does not fill the memory.
        var content = Data(count: 1 << 20)
        var size = 0
        while size < content.count {
            let count = content.withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress.map { $0 + size }, $0.count - size)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(url) }
            if count == 0 { break }
            size += count
        }
        return Content(bytes: content.prefix(size), mode: status.mode, owner: status.owner.user)
    }

    /// The file, and what a process that was killed may have left beside it. The caller holds the lock.
    static func remove(_ url: URL) throws(SealKitError) {
        unlink(draft(of: url))
        guard unlink(url.path) == 0 || errno == ENOENT else { throw unwritten(url) }
        try syncFolder(of: url)
    }

    /// - Parameters:
    ///   - content: as it was read: what has the name now may be another file.
    ///   - isSecret: whether the file's bytes are a secret as they are.
    /// - Throws: `permissionFailure` when somebody else can put another account in its place, or read it.
    static func checkAccess(_ content: Content, of url: URL, isSecret: Bool) throws(SealKitError) {
        guard content.mode & 0o022 == 0 else {
            throw SealKitError(
                .permissionFailure,
                "others on this machine can replace \(url.path), and so put you into another account",
                remedy: "run: chmod 600 \(url.path)")
        }
        guard !isSecret || content.mode & 0o044 == 0 else {
            throw SealKitError(
                .permissionFailure, "others on this machine can read \(url.path), which no passphrase seals",
                remedy: "run: chmod 600 \(url.path)")
        }
        let user = geteuid()
        guard user == 0 || [0, user].contains(content.owner) else {
            throw SealKitError(
                .permissionFailure, "\(url.path) is another user's file",
                remedy: "copy it to a file of your own, of mode 600")
        }
    }

    /// Runs `body` while no other process is in here for a file of the same folder.
    package static func locked<T>(_ url: URL, _ body: () throws(SealKitError) -> T) throws(SealKitError) -> T {
        guard let lock = FolderLock(url.deletingLastPathComponent().path) else { throw unwritten(url) }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// A name that nobody would give a file of their own: what has it is taken away.
    private static func draft(of url: URL) -> String {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).new").path
    }

    /// Writes beside the place, makes the bytes durable, then the name. The caller holds the lock.
    private static func place(
        _ content: Data, at url: URL, _ name: (_ temporary: String) -> Bool
    ) throws(SealKitError) {
        let temporary = draft(of: url)
        // What a process that was killed has left.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritten(url) }
        let isWritten = write(content, to: descriptor) && fsync(descriptor) == 0
        let reason = errno
        close(descriptor)
        guard isWritten else {
            unlink(temporary)
            errno = reason
            throw unwritten(url)
        }
        guard name(temporary) else {
            let error = unwritten(url)
            unlink(temporary)
            throw error
        }
        try syncFolder(of: url)
    }

    private static func write(_ content: Data, to descriptor: Int32) -> Bool {
        content.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// A name survives a power cut only after this.
    private static func syncFolder(of url: URL) throws(SealKitError) {
        guard sync(url.deletingLastPathComponent(), unless: []) else { throw unwritten(url) }
    }

    /// The same of a folder's names, for what is whole without: a file system that has no such thing, or a folder that
    /// may only be written to, fails nothing.
    static func syncNames(in folder: URL) throws(SealKitError) {
        guard sync(folder, unless: [EACCES, EINVAL, EBADF, ENOTSUP]) else { throw unwritten(folder) }
    }

    /// - Returns: false with the reason in `errno`, where it is none of the `harmless`.
    private static func sync(_ folder: URL, unless harmless: [Int32]) -> Bool {
        let opened = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return harmless.contains(errno) }
        defer { close(opened) }
        return fsync(opened) == 0 || harmless.contains(errno)
    }

    private static func unreadable(_ url: URL) -> SealKitError {
        SealKitError(
            .permissionFailure, "\(url.path) could not be read (\(String(cString: strerror(errno))))",
            remedy: "check whose file it is")
    }

    private static func unwritten(_ url: URL) -> SealKitError {
        switch errno {
        case EEXIST:
            SealKitError(
                .constraintViolation, "there is a file at \(url.path) already",
                remedy: "name another file, or move it away")
        case let reason: .unwritten(url.path, reason, remedy: "check that the folder exists and is yours")
        }
    }
}
