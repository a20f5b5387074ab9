import Foundation
import SealEnvelope
import SealSystem

/// A local file that is to become an asset, open.
struct AssetFile: Sendable {
    let url: URL
    let size: UInt64
    let layout: AssetLayout
    let handle: FileHandle
    /// To notice a change under way.
    let version: Version

    /// Which file it is, its size, and when it was modified.
    struct Version: Hashable, Sendable {
        let file: FileStatus.Identity
        let size: Int64
        let modified: FileStatus.Moment

        /// Of a file that is not opened: a batch may have more of them than a process may have open.
        /// - Throws: `assetFileNotFound`.
        init(of url: URL) throws(SealKitError) {
            guard url.isFileURL else { throw .unreadable(url, ENOENT) }
            guard let status = FileStatus(path: url.path), let version = Version(status) else {
                throw .unreadable(url, errno)
            }
            self = version
        }

        fileprivate init?(_ status: FileStatus) {
            guard status.isRegular else {
                errno = EINVAL
                return nil
            }
            (file, size, modified) = (status.identity, status.size, status.modified)
        }
    }

    /// - Throws: `assetFileNotFound`; `internalError` where too many files are open.
    init(_ url: URL) throws(SealKitError) {
        // One that is no regular file could keep whoever opens it waiting.
        _ = try Version(of: url)
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(url, errno) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let version = AssetFile.version(handle) else { throw .unreadable(url, errno) }
        self.url = url
        self.version = version
        size = UInt64(version.size)
        layout = AssetLayout(size: size)
    }

    private static func version(_ handle: FileHandle) -> Version? {
        FileStatus(descriptor: handle.fileDescriptor).flatMap { Version($0) }
    }

    var isUnchanged: Bool { AssetFile.version(handle) == version }

    var changed: SealKitError { .changedWhileUploading(url) }

    /// Fills the buffer with the file's bytes from `offset` on.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealKitError) {
        var done = 0
        while done < buffer.count {
            let got = pread(
                handle.fileDescriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                off_t(offset) + off_t(done))
            guard got > 0 else { throw changed }
            done += got
        }
    }
}

extension SealKitError {
    static func changedWhileUploading(_ url: URL) -> SealKitError {
        SealKitError(
            .assetFileModified, "\(url.lastPathComponent) changed while it was being uploaded",
            remedy: "save the record again")
    }

    /// - Parameter reason: the system's, as in `errno`.
    static func unreadable(_ url: URL, _ reason: Int32) -> SealKitError {
        switch reason {
        case EMFILE, ENFILE:
            SealKitError(
                .internalError, "\(url.path) cannot be opened: too many files are open",
                remedy: "close some, or let this process have more open, and save the record again")
        case EACCES, EPERM:
            SealKitError(
                .assetFileNotFound, "the file at \(url.path) may not be read by this process",
                remedy: "check whose file it is")
        default:
            SealKitError(.assetFileNotFound, "there is no file to read at \(url.path)", remedy: "check the path")
        }
    }
}
