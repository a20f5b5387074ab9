import Crypto
import Foundation
import SealPrimitives

/// A file of an archive under way: written from the beginning to the end, and summed on the way.
final class ArchiveFile {
    private let handle: FileHandle
    private let failed: () -> SealKitError
    private var hash = SHA256()

    init(_ handle: FileHandle, failed: @escaping () -> SealKitError) {
        (self.handle, self.failed) = (handle, failed)
    }

    func write(_ data: Data) throws(SealKitError) {
        do { try handle.write(contentsOf: data) } catch { throw failed() }
        hash.update(data: data)
    }

    /// Makes it durable: whoever deletes an account after an export relies on it.
    /// - Returns: the SHA-256 of what was written, in hexadecimal.
    func finish() throws(SealKitError) -> String {
        do {
            try handle.synchronize()
            try handle.close()
        } catch { throw failed() }
        return ArchiveFile.text(hash.finalize())
    }

    static func text(_ digest: SHA256Digest) -> String { Hex.encode([UInt8](digest)) }

    /// The sum of a file's bytes from the descriptor's place on, read in pieces.
    static func sum(of handle: FileHandle) throws -> (sha256: String, bytes: UInt64) {
        var hash = SHA256()
        var count: UInt64 = 0
        while let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
            hash.update(data: part)
            count += UInt64(part.count)
        }
        return (text(hash.finalize()), count)
    }
}
