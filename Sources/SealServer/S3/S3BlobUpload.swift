import NIOCore
import SealStorage

/// A streamed upload into an `S3BlobStore`: parts go as they are full, while the next one comes. No more than two of
/// them are in memory. What is shorter than a part goes in one piece.
actor S3BlobUpload: BlobUpload {
    nonisolated let id: BlobID
    private let store: S3BlobStore

    private var gathered = ByteBuffer()
    private var upload: String?
    private var sent: [S3BlobStore.Part] = []
    /// Under way, in order.
    private var sending: [Task<S3BlobStore.Part, any Error>] = []
    private var number = 0
    private var hasEnded = false
    private var hasFailed = false

    init(id: BlobID, store: S3BlobStore) { (self.id, self.store) = (id, store) }

    deinit {
        // Dropped without `finish` or `abort`: nothing may stay behind.
        guard !hasEnded, let upload else { return }
        Task { [id, store, sending] in
            for task in sending {
                task.cancel()
                _ = await task.result
            }
            // What is left all the same is found by `staleUploads`.
            try? await store.abortUpload(upload, id)
        }
    }

    func append(_ buffer: ByteBuffer) async throws {
        guard !hasEnded, !hasFailed else { throw BlobStoreError.uploadEnded }
        var rest = buffer
        while rest.readableBytes > 0 {
            let room = S3BlobStore.partBytes - gathered.readableBytes
            if var piece = rest.readSlice(length: min(room, rest.readableBytes)) { gathered.writeBuffer(&piece) }
            if gathered.readableBytes == S3BlobStore.partBytes { try await failing { try await self.send() } }
        }
    }

    func finish() async throws -> Int64 {
        guard !hasEnded, !hasFailed else { throw BlobStoreError.uploadEnded }
        let size = try await failing { () -> Int64 in
            guard let upload = self.upload else {
                try await self.store.put(self.gathered, as: self.id)
                return Int64(self.gathered.readableBytes)
            }
            if self.gathered.readableBytes > 0 { try await self.send() }
            while !self.sending.isEmpty { try await self.receive() }
            try await self.store.complete(upload, self.sent, as: self.id)
            return self.sent.reduce(0) { $0 + $1.size }
        }
        hasEnded = true
        gathered = ByteBuffer()
        return size
    }

    func abort() async {
        guard !hasEnded else { return }
        hasEnded = true
        gathered = ByteBuffer()
        for task in sending { task.cancel() }
        for task in sending { _ = await task.result }
        // Best effort: what is left behind is found by `staleUploads`.
        if let upload { try? await store.abortUpload(upload, id) }
    }

    /// Begins to send what was gathered, and waits while two are under way.
    private func send() async throws {
        let name: String
        if let upload { name = upload } else { name = try await store.createUpload(id) }
        upload = name
        number += 1
        guard number < S3BlobStore.lastPart else { throw BlobStoreError.tooLarge(limit: S3BlobStore.mostBytes) }
        let (body, number) = (gathered, number)
        gathered = ByteBuffer()
        sending.append(Task { [store, id] in try await store.sendPart(body, number: number, of: name, id) })
        if sending.count > 1 { try await receive() }
    }

    private func receive() async throws {
        sent.append(try await sending[0].value)
        sending.removeFirst()
    }

    private func failing<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch {
            hasFailed = true
            throw (error as? S3Failure).map(BlobStoreError.init) ?? error
        }
    }
}
