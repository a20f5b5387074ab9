import NIOCore
import SealStorage

/// A part on its way into an `S3BlobStore`: it goes in one piece, when all of it is there.
actor S3BlobPart: BlobUpload {
    nonisolated let id: BlobID
    private let store: S3BlobStore
    private let offset: Int64
    private var gathered = ByteBuffer()
    private var hasEnded = false

    init(id: BlobID, store: S3BlobStore, at offset: Int64) { (self.id, self.store, self.offset) = (id, store, offset) }

    func append(_ buffer: ByteBuffer) throws {
        guard !hasEnded else { throw BlobStoreError.uploadEnded }
        gathered.writeImmutableBuffer(buffer)
    }

    func finish() async throws -> Int64 {
        guard !hasEnded else { throw BlobStoreError.uploadEnded }
        hasEnded = true
        let part = gathered
        gathered = ByteBuffer()
        try await store.write(part, to: id, at: offset)
        return Int64(part.readableBytes)
    }

    func abort() {
        hasEnded = true
        gathered = ByteBuffer()
    }
}
