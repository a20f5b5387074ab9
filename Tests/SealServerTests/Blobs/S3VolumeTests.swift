import Foundation
import NIOCore
import SealLab
import Synchronization
import Testing

@testable import SealServer
@testable import SealStorage

/// A store of several servers, one of which is killed while blobs go up and come down.
@Suite(
    .enabled("Tests/Support/s3 runs one beside a command") { TestedStore.url != nil }, .timeLimit(.minutes(60)))
struct S3VolumeTests {
    private static let contents = [1_000, 200_000, (8 << 20) + 5_000].map { placedBytes($0) }

    private final class Notes: Sendable {
        let stored = Mutex<[BlobID: [UInt8]]>([:])
        let failed = Mutex<[String]>([])
        let isOver = Mutex(false)

        func note(_ error: any Error, _ id: BlobID) {
            // Nothing but that it cannot be done now.
            if case BlobStoreError.unavailable = error { return }
            failed.withLock { $0.append("\(id): \(error)") }
        }
    }

    @Test func nothingIsLostWhereAServerOfVolumesDies() async throws {
        let process = try await S3Process(volumes: 3)
        let text = try String(contentsOfFile: process.credentialsFile, encoding: .utf8)
        let credentials = try S3Credentials(file: text)
        let store = try await S3BlobStore.open(
            try S3Client(S3Place(process.url), settings: S3Client.Settings()) { credentials }, owner: "1")
        try await whatever(becomesOf: { try await killing(process, store) }) {
            await store.close()
            await process.stop()
        }
    }

    private func killing(_ process: S3Process, _ store: S3BlobStore) async throws {
        let notes = Notes()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var count = worker
                    while !notes.isOver.withLock({ $0 }) {
                        let (id, content) = (BlobID.random(), Self.contents[count % Self.contents.count])
                        count += 1
                        try await Task.sleep(for: .milliseconds(50))
                        do {
                            _ = try await store.store(content, as: id)
                            notes.stored.withLock { $0[id] = content }
                        } catch { notes.note(error, id) }
                        guard let some = notes.stored.withLock({ $0.randomElement() }) else { continue }
                        do {
                            let read = try await store.bytes(of: some.key)
                            if read != some.value { notes.failed.withLock { $0.append("\(some.key): other bytes") } }
                        } catch { notes.note(error, some.key) }
                    }
                }
            }
            for volume in 1...3 {
                try await Task.sleep(for: .seconds(1))
                try await process.kill(volume: volume)
                try await Task.sleep(for: .seconds(2))
                try await process.start(volume: volume)
                let before = notes.stored.withLock(\.count)
                try await waitUntil("uploads go on") { notes.stored.withLock(\.count) > before + 4 }
            }
            notes.isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        let all = notes.stored.withLock { $0 }
        #expect(notes.failed.withLock { $0 } == [])
        #expect(all.count >= 15)
        var lost: [BlobID] = []
        for (id, content) in all {
            do { if try await store.bytes(of: id) != content { lost.append(id) } } catch { lost.append(id) }
        }
        #expect(lost == [])
    }
}
