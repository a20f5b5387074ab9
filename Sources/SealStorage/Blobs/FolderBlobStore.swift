import Foundation
import NIOCore
import NIOPosix
import SealSystem
import Synchronization

/// Blobs as files: `<folder>/ab/cd/abcd…`, and `<folder>/staged/abcd…` while they upload.
///
/// Every system call runs on the store's own threads, never on Swift's cooperative pool or an event loop.
package final class FolderBlobStore: BlobStore {
    package let folder: String
    package let mostHeld = 4 << 20
    /// Its folder is one server's.
    package let isShared = false
    private let keepingFree: UInt64
    private let threads: NIOThreadPool
    /// One thread at a time makes folders: another that finds one relies on its name being durable.
    private let making = Mutex(())

    /// - Parameter keepingFree: bytes of the disk that it does not take.
    package init(folder: String, keepingFree: UInt64 = FreeSpace.keptFromBlobs, threadCount: Int = 4) throws {
        self.folder = folder
        self.keepingFree = keepingFree
        do {
            try PrivateFiles.createFolder(at: folder)
            try PrivateFiles.createFolder(at: folder + "/staged")
        } catch {
            throw BlobStoreError(error)
        }
        threads = NIOThreadPool(numberOfThreads: threadCount)
        threads.start()
    }

    package func beginUpload(_ id: BlobID) async throws -> any BlobUpload {
        let path = stagedPath(id)
        let file = try await onThread { [self] in
            guard access(self.path(id), F_OK) != 0 else { throw BlobStoreError.alreadyExists(id) }
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                if errno == EEXIST { throw BlobStoreError.alreadyExists(id) }
                throw FileError(path: path, action: "create", code: errno)
            }
            return FileDescriptorBox(descriptor)
        }
        return FolderBlobUpload(id: id, store: self, file: file, path: path)
    }

    package func size(of id: BlobID) async throws -> Int64 {
        try await onThread { [self] in
            guard let status = FileStatus(path: path(id)) else { throw openError(id, code: errno) }
            return status.size
        }
    }

    package func read(_ id: BlobID, range: Range<Int64>?) async throws -> BlobContent {
        let path = self.path(id)
        let (file, size) = try await onThread { [self] () -> (FileDescriptorBox, Int64) in
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw openError(id, code: errno) }
            let file = FileDescriptorBox(descriptor)
            guard let status = FileStatus(descriptor: descriptor) else { throw openError(id, code: errno) }
            return (file, status.size)
        }
        return BlobContent(totalSize: size, range: (range ?? 0..<size).clamped(to: 0..<size)) { offset, count in
            try await self.onThread {
                var buffer = ByteBufferAllocator().buffer(capacity: count)
                try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
                    var done = 0
                    while done < count {
                        let rest = UnsafeMutableRawBufferPointer(rebasing: target[done..<count])
                        let got = pread(file.rawValue, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                        if got < 0 && errno == EINTR { continue }
                        // A blob never changes, so a short file means that the disk lost something.
                        guard got > 0 else { throw FileError(path: path, action: "read", code: got < 0 ? errno : EIO) }
                        done += got
                    }
                    return done
                }
                return buffer
            }
        }
    }

    package func delete(_ id: BlobID) async throws {
        try await remove(path(id))
    }

    package func discardUpload(_ id: BlobID) async throws {
        try await remove(stagedPath(id))
    }

    package func holdForDeleting() async throws -> BlobHold? {
        try await onThread { [folder] in try BlobHold.forDeleting(in: folder) }
    }

    package func staleUploads(olderThan age: Duration) async throws -> [BlobID] {
        try await onThread { [self] in
            let limit = Date().addingTimeInterval(-Double(age.components.seconds))
            let staged = folder + "/staged"
            return try FileManager.default.contentsOfDirectory(atPath: staged).compactMap { name in
                guard let id = BlobID(name), let status = FileStatus(path: staged + "/" + name) else { return nil }
                return status.modified.date < limit ? id : nil
            }
        }
    }

    package func close() async {
        try? await threads.shutdownGracefully()
    }

    // MARK: For uploads

    package func path(_ id: BlobID) -> String { Self.path(of: id, in: folder) }

    /// Where a folder of blobs has one.
    package static func path(of id: BlobID, in folder: String) -> String {
        fanOut(id, in: folder).joined(separator: "/") + "/" + id.description
    }

    func stagedPath(_ id: BlobID) -> String { folder + "/staged/" + id.description }

    private static func fanOut(_ id: BlobID, in folder: String) -> [String] {
        [folder, String(id.description.prefix(2)), String(id.description.dropFirst(2).prefix(2))]
    }

    /// - Throws: `FileError` where so many bytes more would take what is kept free.
    func requireRoom(for count: Int, at path: String) throws {
        guard let free = freeBytes(at: folder), free < keepingFree + UInt64(count) else { return }
        throw FileError(path: path, action: "write", code: ENOSPC)
    }

    /// Gives a staged, synced file its name, durably.
    func publish(_ id: BlobID, from staged: String) throws {
        let parts = Self.fanOut(id, in: folder)
        let first = parts[0] + "/" + parts[1]
        let second = first + "/" + parts[2]
        try making.withLock { _ in
            guard access(second, F_OK) != 0 else { return }
            try PrivateFiles.createFolder(at: second)
            try PrivateFiles.syncFolder(at: first)
            try PrivateFiles.syncFolder(at: folder)
        }
        // link, not rename: it never replaces a blob that is there.
        guard link(staged, path(id)) == 0 else {
            let code = errno
            // Whoever publishes the same blob at once may have been faster, and have taken the staged name away.
            if code == EEXIST || (code == ENOENT && access(path(id), F_OK) == 0) {
                throw BlobStoreError.alreadyExists(id)
            }
            throw FileError(path: path(id), action: "create", code: code)
        }
        unlink(staged)
        try PrivateFiles.syncFolder(at: second)
    }

    func onThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        do {
            return try await threads.runIfActive(work)
        } catch let error as FileError {
            throw BlobStoreError(error)
        }
    }

    private func remove(_ path: String) async throws {
        try await onThread {
            guard unlink(path) == 0 || errno == ENOENT else {
                throw FileError(path: path, action: "delete", code: errno)
            }
        }
    }

    private func openError(_ id: BlobID, code: Int32) -> any Error {
        code == ENOENT ? BlobStoreError.notFound(id) : FileError(path: path(id), action: "open", code: code)
    }
}

extension BlobStoreError {
    package init(_ error: FileError) { self = error.isFull ? .full : .failed(error) }
}
