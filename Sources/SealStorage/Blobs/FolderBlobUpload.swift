import Foundation
import NIOCore

/// An upload into a `FolderBlobStore`: of a whole blob, or of a part of one into a file that others write to as well.
///
/// Network buffers are gathered as they are, without copying, and written with one `pwritev` per megabyte while the
/// next megabyte arrives. The kernel is asked to start on each stretch at once, so that the final fsync finds little
/// left to do.
actor FolderBlobUpload: BlobUpload {
    nonisolated let id: BlobID
    private let store: FolderBlobStore
    private let file: FileDescriptorBox
    private let path: String
    /// Where a part's bytes begin; nil for a whole blob.
    private let start: Int64?

    private var gathered: [ByteBuffer] = []
    private var gatheredBytes = 0
    private var written: Int64 = 0
    private var writing: Task<Void, any Error>?
    private var hasEnded = false
    private var hasFailed = false

    /// One write's worth; and how many buffers may make it up, since a small one can keep a large block of memory
    /// alive.
    private static let writeSize = 1024 * 1024
    private static let mostBuffers = 64

    init(id: BlobID, store: FolderBlobStore, file: FileDescriptorBox, path: String, partAt start: Int64? = nil) {
        self.id = id
        self.store = store
        self.file = file
        self.path = path
        self.start = start
    }

    deinit {
        // Dropped without `finish` or `abort`: nothing may stay behind.
        if !hasEnded, start == nil { unlink(path) }
    }

    func append(_ buffer: ByteBuffer) async throws {
        guard !hasEnded, !hasFailed else { throw BlobStoreError.uploadEnded }
        guard buffer.readableBytes > 0 else { return }
        gathered.append(buffer)
        gatheredBytes += buffer.readableBytes
        if gatheredBytes >= Self.writeSize || gathered.count >= Self.mostBuffers { try await startWriting() }
    }

    func finish() async throws -> Int64 {
        guard !hasEnded, !hasFailed else { throw BlobStoreError.uploadEnded }
        try await startWriting()
        try await waitForWriting()
        try await store.onThread { [file, path, store, id, start] in
            guard fsync(file.rawValue) == 0 else { throw FileError(path: path, action: "sync", code: errno) }
            file.close()
            if start == nil { try store.publish(id, from: path) }
        }
        hasEnded = true
        return written
    }

    func abort() async {
        let isFirst = !hasEnded
        hasEnded = true
        gathered = []
        // Whoever comes second is told no earlier that nothing is written any more.
        _ = await writing?.result
        guard isFirst else { return }
        // Best effort: what is left behind is found by `staleUploads`.
        try? await store.onThread { [file, path, start] in
            file.close()
            if start == nil { unlink(path) }
        }
    }

    private func startWriting() async throws {
        try await waitForWriting()
        guard !gathered.isEmpty else { return }
        let buffers = gathered
        let offset = (start ?? 0) + written
        let count = gatheredBytes
        gathered = []
        gatheredBytes = 0
        written += Int64(count)
        writing = Task { [store, file, path] in
            try await store.onThread {
                try store.requireRoom(for: count, at: path)
                try Self.write(buffers, to: file.rawValue, at: offset, count: count, path: path)
            }
        }
    }

    private func waitForWriting() async throws {
        do {
            try await writing?.value
            writing = nil
        } catch {
            hasFailed = true
            throw error
        }
    }

    /// - Parameter buffers: none of them empty.
    static func write(
        _ buffers: [ByteBuffer], to descriptor: Int32, at offset: Int64, count: Int, path: String
    ) throws {
        var first = 0
        var skip = 0
        var place = offset
        while first < buffers.count {
            let end = min(first + mostBuffers, buffers.count)
            var done = try gather(buffers[first..<end], skip: skip) { vectors in
                var result: Int
                repeat {
                    result = pwritev(descriptor, vectors.baseAddress, Int32(vectors.count), off_t(place))
                } while result < 0 && errno == EINTR
                guard result > 0 else {
                    throw FileError(path: path, action: "write", code: result < 0 ? errno : EIO)
                }
                return result
            }
            place += Int64(done)
            while first < end, done >= buffers[first].readableBytes - skip {
                done -= buffers[first].readableBytes - skip
                skip = 0
                first += 1
            }
            skip += done
        }
        #if os(Linux)
            // Linux takes this as a request to start writing the stretch out. Only a hint: fsync decides.
            posix_fadvise(descriptor, off_t(offset), off_t(count), POSIX_FADV_DONTNEED)
        #endif
    }

    /// Calls `body` with an iovec for each buffer, leaving out the first `skip` bytes.
    private static func gather(
        _ buffers: ArraySlice<ByteBuffer>, skip: Int, _ body: (UnsafeBufferPointer<iovec>) throws -> Int
    ) throws -> Int {
        var vectors: [iovec] = []
        vectors.reserveCapacity(buffers.count)
        func next(_ rest: ArraySlice<ByteBuffer>, skip: Int) throws -> Int {
            guard let buffer = rest.first else { return try vectors.withUnsafeBufferPointer(body) }
            return try buffer.withUnsafeReadableBytes { bytes in
                let part = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skip))
                vectors.append(
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: part.baseAddress), iov_len: part.count))
                return try next(rest.dropFirst(), skip: 0)
            }
        }
        return try next(buffers, skip: skip)
    }
}
