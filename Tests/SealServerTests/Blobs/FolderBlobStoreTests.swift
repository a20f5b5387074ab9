import Foundation
import NIOCore
import SealSystem
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct FolderBlobStoreTests {
    let folder = TemporaryFolder()

    func files() -> [String] {
        (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []).filter {
            FileStatus(path: folder.path + "/" + $0)?.isFolder == false
        }
    }

    @Test func blobsHaveFilesOfTheirNames() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let id = BlobID.random()
        _ = try await store.store([1, 2, 3], as: id)
        let name = id.description
        #expect(files() == ["\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"])
        #expect(FileStatus(path: store.path(id))?.mode == 0o600)
        await #expect(throws: BlobStoreError.alreadyExists(id)) { try await store.beginUpload(id) }
        try await store.delete(id)
        #expect(files() == [])
        await store.close()
    }

    @Test func anAbortedUploadLeavesNothing() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let first = try await store.beginUpload(BlobID.random())
        try await first.append(ByteBuffer(bytes: placedBytes(2_000_000)))
        #expect(files().count == 1)
        await first.abort()
        await first.abort()
        #expect(files() == [])
        await #expect(throws: BlobStoreError.uploadEnded) { try await first.append(ByteBuffer(bytes: [1])) }
        await #expect(throws: BlobStoreError.uploadEnded) { try await first.finish() }

        do { _ = try await store.beginUpload(BlobID.random()) }
        #expect(files() == [])

        let stream = AsyncStream<ByteBuffer> { continuation in
            for _ in 0..<10 { continuation.yield(ByteBuffer(bytes: placedBytes(1000))) }
            continuation.finish()
        }
        await #expect(throws: BlobStoreError.tooLarge(limit: 5000)) {
            try await store.receive(BlobID.random(), from: stream, limit: 5000)
        }
        #expect(files() == [])
        await store.close()
    }

    @Test func staleUploadsAreFound() async throws {
        let store = try FolderBlobStore(folder: folder.path)
        let id = BlobID.random()
        try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/staged/" + id.description))
        #expect(try await store.staleUploads(olderThan: .seconds(60)) == [])
        #expect(try await store.staleUploads(olderThan: .seconds(-60)) == [id])
        try await store.discardUpload(id)
        #expect(files() == [])
        await store.close()
    }

    private final class Ended: Sendable {
        let count = Mutex(0)
    }

    /// Whoever takes a part's place begins when nothing is written there any more, also where its own request ends it
    /// at the same time.
    @Test func aPartThatIsEndedTwiceHasWrittenWhenBothReturn() async throws {
        let store = try FolderBlobStore(folder: folder.path, threadCount: 1)
        let (id, isHeld, mayGoOn) = (BlobID.random(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try await store.beginParts(id)
        let part = try await store.beginPart(id, at: 0)
        async let blocked: Void = store.onThread {
            isHeld.signal()
            mayGoOn.wait()
        }
        await Task.detached { isHeld.wait() }.value
        try await part.append(ByteBuffer(repeating: 1, count: 1 << 20))
        let ended = Ended()
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    await part.abort()
                    ended.count.withLock { $0 += 1 }
                }
            }
            try? await Task.sleep(for: .milliseconds(100))
            let endedSoFar = ended.count.withLock { $0 }
            #expect(endedSoFar == 0)
            mayGoOn.signal()
        }
        try await blocked
        #expect(FileStatus(path: folder.path + "/staged/" + id.description)?.size == 1 << 20)
        await store.close()
    }

    /// What is written of a file stops before the disk is full: the database goes on.
    @Test func blobsLeaveRoomForTheDatabase() async throws {
        let store = try FolderBlobStore(folder: folder.path, keepingFree: 1 << 60)
        let upload = try await store.beginUpload(BlobID.random())
        try await upload.append(ByteBuffer(bytes: [1, 2, 3]))
        await #expect(throws: BlobStoreError.full) { try await upload.finish() }
        await upload.abort()
        let parts = BlobID.random()
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
        let id = BlobID.random()
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
