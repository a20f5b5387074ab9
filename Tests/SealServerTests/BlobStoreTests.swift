import Foundation
import NIOCore
import SealSystem
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct BlobStoreTests {
    let folder = TemporaryFolder()

    func id() -> BlobID {
        var generator = SystemRandomNumberGenerator()
        return BlobID(random: &generator)
    }

    func files() -> [String] {
        (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []).filter {
            FileStatus(path: folder.path + "/" + $0)?.isFolder == false
        }
    }

    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) } }

    @Test func roundTripAndRanges() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let id = id()
        let content = bytes(3_000_001)
        let upload = try await store.beginUpload(id)
        var offset = 0
        for size in sequence(first: 1, next: { $0 * 3 % 70_001 + 1 }) {
            guard offset < content.count else { break }
            let end = min(offset + size, content.count)
            try await upload.append(ByteBuffer(bytes: content[offset..<end]))
            offset = end
        }
        await #expect(throws: BlobStoreError.notFound(id)) { try await store.size(of: id) }
        #expect(try await upload.finish() == 3_000_001)
        #expect(try await store.size(of: id) == 3_000_001)
        for range in [nil, 0..<1, 524_287..<524_289, 2_999_999..<9_000_000, 3_000_001..<3_000_002] as [Range<Int64>?] {
            let stored = try await store.read(id, range: range)
            #expect(stored.totalSize == 3_000_001)
            var read: [UInt8] = []
            for try await buffer in stored { read += buffer.readableBytesView }
            let wanted = (range ?? 0..<3_000_001).clamped(to: 0..<3_000_001)
            #expect(read == Array(content[Int(wanted.lowerBound)..<Int(wanted.upperBound)]))
        }
        let name = id.description
        #expect(files() == ["\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"])
        #expect(FileStatus(path: store.path(id))?.mode == 0o600)
        await #expect(throws: BlobStoreError.alreadyExists(id)) { try await store.beginUpload(id) }
        try await store.delete(id)
        try await store.delete(id)
        #expect(files() == [])
        await store.close()
    }

    @Test func anAbortedUploadLeavesNothing() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let first = try await store.beginUpload(id())
        try await first.append(ByteBuffer(bytes: bytes(2_000_000)))
        #expect(files().count == 1)
        await first.abort()
        await first.abort()
        #expect(files() == [])
        await #expect(throws: BlobStoreError.uploadEnded) { try await first.append(ByteBuffer(bytes: [1])) }
        await #expect(throws: BlobStoreError.uploadEnded) { try await first.finish() }

        do { _ = try await store.beginUpload(id()) }
        #expect(files() == [])

        let stream = AsyncStream<ByteBuffer> { continuation in
            for _ in 0..<10 { continuation.yield(ByteBuffer(bytes: bytes(1000))) }
            continuation.finish()
        }
        await #expect(throws: BlobStoreError.tooLarge(limit: 5000)) {
            try await store.receive(id(), from: stream, limit: 5000)
        }
        #expect(files() == [])
        await store.close()
    }

    @Test func staleUploadsAreFound() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let id = id()
        try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/staged/" + id.description))
        #expect(try await store.staleUploads(olderThan: .seconds(60)) == [])
        #expect(try await store.staleUploads(olderThan: .seconds(-60)) == [id])
        try await store.discardUpload(id)
        #expect(files() == [])
        await store.close()
    }

    /// What is written of a file stops before the disk is full: the database goes on.
    @Test func blobsLeaveRoomForTheDatabase() async throws {
        let store = try FolderBlobStore(folder: folder.path, keepingFree: 1 << 60)
        let upload = try await store.beginUpload(id())
        try await upload.append(ByteBuffer(bytes: [1, 2, 3]))
        await #expect(throws: BlobStoreError.full) { try await upload.finish() }
        await upload.abort()
        let parts = id()
        try await store.beginParts(parts)
        let part = try await store.beginPart(parts, at: 0)
        try await part.append(ByteBuffer(bytes: [1]))
        await #expect(throws: BlobStoreError.full) { try await part.finish() }
        await part.abort()
        #expect(FileStatus(path: folder.path + "/staged/" + parts.description)?.size == 0)
        await store.close()
    }

    @Test func namesCannotLeaveTheFolder() {
        for bad in [
            "", "../../etc/passwd", "abcdefg", "ABCDEF12", "abcdef1g", "abcdef12/", String(repeating: "a", count: 129),
        ] {
            #expect(BlobID(bad) == nil)
        }
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/full")))
    func aFullDiskIsTold() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let id = id()
        // A staged file on a device that is always full.
        let upload = FolderBlobUpload(
            id: id, store: store, file: FileDescriptorBox(open("/dev/full", O_WRONLY)), path: folder.file("staged/x"))
        try await upload.append(ByteBuffer(bytes: [1, 2, 3]))
        await #expect(throws: BlobStoreError.full) { try await upload.finish() }
        await upload.abort()
        #expect(files() == [])
        await store.close()
    }
}
