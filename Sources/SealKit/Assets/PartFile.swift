import Foundation
import SealSystem

/// A file that gets its name once it is whole.
final class PartFile {
    private let file: URL
    private let temporary: String
    private var descriptor: Int32
    /// It is there for whoever goes on with it.
    private let outlives: Bool
    /// Whether it takes the place of a file that has the name by the end.
    private let replaces: Bool
    /// Bytes that were in it when it was opened.
    let present: UInt64

    /// - Parameter replaces: whether it takes the place of a file that has the name by the end.
    /// - Throws: `storageFull`, `internalError` where it cannot be made.
    convenience init(_ file: URL, replaces: Bool) throws(SealKitError) {
        try self.init(
            file, file.path + ".part-\(UUID().uuidString.prefix(8))", O_CREAT | O_EXCL, outlives: false,
            replaces: replaces)
    }

    /// One that stays when it is abandoned, or its process is ended, and is gone on with under the same name.
    /// - Parameter temporary: beside the file.
    /// - Throws: `storageFull`, `internalError` where it cannot be opened or made.
    convenience init(_ file: URL, goingOnWith temporary: URL) throws(SealKitError) {
        try self.init(file, temporary.path, O_CREAT | O_NOFOLLOW, outlives: true, replaces: true)
    }

    private init(
        _ file: URL, _ temporary: String, _ flags: Int32, outlives: Bool, replaces: Bool
    ) throws(SealKitError) {
        self.file = file
        self.temporary = temporary
        self.outlives = outlives
        self.replaces = replaces
        descriptor = Foundation.open(temporary, O_RDWR | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0, let status = FileStatus(descriptor: descriptor), status.isRegular else {
            let reason = errno
            if descriptor >= 0 { close(descriptor) }
            throw PartFile.unwritten(file, reason)
        }
        present = UInt64(status.size)
    }

    /// Fills the buffer with what was present.
    /// - Returns: whether it could be.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Bool {
        var done = 0
        while done < buffer.count {
            let got = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            done += got
        }
        return true
    }

    /// Drops what is behind it, and goes on writing there.
    func cut(to size: UInt64) throws(SealKitError) {
        guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) == off_t(size) else {
            throw PartFile.unwritten(file, errno)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SealKitError) {
        var done = 0
        while done < bytes.count {
            let wrote = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            guard wrote > 0 else {
                if errno == EINTR { continue }
                throw PartFile.unwritten(file, errno)
            }
            done += wrote
        }
    }

    /// - Throws: `constraintViolation` where a file has the name that is not to be replaced; `storageFull`,
    ///   `internalError`.
    func finish() throws(SealKitError) {
        // Whoever finds one that outlives its process under its name takes it for whole; and what is replaced goes only
        // for bytes that are on the disk.
        let hasToLast = outlives || access(file.path, F_OK) == 0
        // The first failure says why: a disk may turn out to be full only now.
        var reason: Int32 = 0
        if hasToLast, fsync(descriptor) != 0 { reason = errno }
        if close(descriptor) != 0, reason == 0 { reason = errno }
        descriptor = -1
        guard reason == 0 else { throw PartFile.unwritten(file, reason) }
        guard replaces ? rename(temporary, file.path) == 0 : rename(temporary, toFree: file.path) else {
            guard errno == EEXIST else { throw PartFile.unwritten(file, errno) }
            throw SealKitError(
                .constraintViolation, "there is a file at \(file.path) by now",
                remedy: "name another file, or replace it")
        }
    }

    private static func unwritten(_ file: URL, _ reason: Int32) -> SealKitError {
        .unwritten(file.path, reason, remedy: "choose another place")
    }

    func abandon() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        if !outlives { unlink(temporary) }
    }

    func remove() {
        abandon()
        unlink(temporary)
    }
}
