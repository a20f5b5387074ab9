import Foundation

/// A file that gets its name once it is whole.
final class PartFile {
    private let file: URL
    private let temporary: String
    private var descriptor: Int32

    /// - Throws: `internalError` where it cannot be made.
    init(_ file: URL) throws(SealKitError) {
        self.file = file
        temporary = file.path + ".part-\(UUID().uuidString.prefix(8))"
        descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SealKitError(
                .internalError, "\(file.path) cannot be written (\(String(cString: strerror(errno))))",
                remedy: "choose another place")
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SealKitError) {
        var done = 0
        while done < bytes.count {
            let wrote = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            guard wrote > 0 else {
                if errno == EINTR { continue }
                throw errno == ENOSPC
                    ? SealKitError(
                        .storageFull, "this device's disk is full; \(file.path) was not written",
                        remedy: "free some space")
                    : SealKitError(.internalError, "\(file.path) cannot be written")
            }
            done += wrote
        }
    }

    func finish() throws(SealKitError) {
        let closed = close(descriptor)
        descriptor = -1
        guard closed == 0, rename(temporary, file.path) == 0 else {
            throw SealKitError(.internalError, "\(file.path) cannot be written (\(String(cString: strerror(errno))))")
        }
    }

    func abandon() {
        if descriptor >= 0 { close(descriptor) }
        unlink(temporary)
    }
}
