import Foundation
package import NIOCore
import SealSystem

/// Uploads in parts: one staged file, which parts are written into at their places.
extension FolderBlobStore {
    package func beginParts(_ id: BlobID) async throws {
        let path = stagedPath(id)
        try await onThread { [self] in
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw FileError(path: path, action: "create", code: errno) }
            FileDescriptorBox(descriptor).close()
            // A power cut must not take the file from under the row that names it.
            try PrivateFiles.syncFolder(at: folder + "/staged")
        }
    }

    package func beginPart(_ id: BlobID, at offset: Int64) async throws -> any BlobUpload {
        let path = stagedPath(id)
        let file = try await onThread { [self] in try staged(id, path) }
        return FolderBlobUpload(id: id, store: self, file: file, path: path, partAt: offset)
    }

    package func finishParts(_ id: BlobID, tail: ByteBuffer, size: Int64) async throws {
        let path = stagedPath(id)
        try await onThread { [self] in
            let file: FileDescriptorBox
            do { file = try staged(id, path) } catch BlobStoreError.notFound {
                // Published before, and the server was stopped before it noted so.
                guard FileStatus(path: self.path(id))?.size == size else { throw BlobStoreError.notFound(id) }
                return
            }
            try requireRoom(for: tail.readableBytes, at: path)
            if tail.readableBytes > 0 {
                let count = tail.readableBytes
                try FolderBlobUpload.write(
                    [tail], to: file.rawValue, at: size - Int64(count), count: count, path: path)
            }
            guard FileStatus(descriptor: file.rawValue)?.size == size else {
                throw FileError(path: path, action: "complete", code: EIO)
            }
            guard fsync(file.rawValue) == 0 else { throw FileError(path: path, action: "sync", code: errno) }
            do { try publish(id, from: path) } catch BlobStoreError.alreadyExists {
                unlink(path)
            }
        }
    }

    /// - Throws: `notFound`.
    private func staged(_ id: BlobID, _ path: String) throws -> FileDescriptorBox {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT
                ? BlobStoreError.notFound(id) : FileError(path: path, action: "open", code: errno) as any Error
        }
        return FileDescriptorBox(descriptor)
    }
}
