import Foundation
import NIOCore
import Testing

@testable import SealServer
@testable import SealStorage

/// What every store of blobs does.
@Suite(.timeLimit(.minutes(60))) struct BlobStoreTests {
    /// Long enough for two parts of S3's and something behind them.
    private static let long = (16 << 20) + 70_001

    @Test(arguments: TestedStore.available, [1, 3_000_001, 8 << 20, BlobStoreTests.long])
    func whatWasStoredIsRead(_ kind: TestedStore, _ count: Int) async throws {
        try await kind.with { store, _ in
            let (id, content) = (BlobID.random(), placedBytes(count))
            let upload = try await store.beginUpload(id)
            try await upload.append(ByteBuffer(bytes: content.prefix(count / 2)))
            await #expect(throws: BlobStoreError.notFound(id)) { try await store.size(of: id) }
            await #expect(throws: BlobStoreError.notFound(id)) { try await store.read(id, range: nil) }
            try await upload.append(ByteBuffer())
            try await upload.append(ByteBuffer(bytes: content.dropFirst(count / 2)))
            #expect(try await upload.finish() == Int64(count))
            await upload.abort()
            #expect(try await store.size(of: id) == Int64(count))
            let end = Int64(count)
            for range in [
                nil, 0..<1, end - 1..<end, end - 1..<end + 9_000_000, end..<end + 1, end / 3..<end / 3 + 600_001,
            ] as [Range<Int64>?] {
                let read = try await store.read(id, range: range)
                let wanted = (range ?? 0..<end).clamped(to: 0..<end)
                #expect(read.totalSize == end && read.range == wanted)
                #expect(
                    try await store.bytes(of: id, range)
                        == Array(content[Int(wanted.lowerBound)..<Int(wanted.upperBound)]))
            }
            await #expect(throws: BlobStoreError.alreadyExists(id)) { try await store.store([1], as: id) }
            await #expect(throws: BlobStoreError.alreadyExists(id)) { try await store.store(content, as: id) }
            #expect(try await store.bytes(of: id, 0..<1) == [content[0]])
            #expect(try await store.staleUploads(olderThan: .seconds(-3_600)) == [])
            try await store.delete(id)
            try await store.delete(id)
            await #expect(throws: BlobStoreError.notFound(id)) { try await store.size(of: id) }
        }
    }

    @Test(arguments: TestedStore.available) func chunksMayBeAskedForInAnyOrder(_ kind: TestedStore) async throws {
        try await kind.with { store, _ in
            let (id, content) = (BlobID.random(), placedBytes(2_000_001))
            _ = try await store.store(content, as: id)
            let read = try await store.read(id, range: 1..<1_900_000)
            for offset in [1, 1_500_000, 600_000, 600_000, 600_000 + BlobContent.chunkSize] as [Int64] {
                let chunk = try #require(try await read.chunk(at: offset))
                let end = min(Int(offset) + Int(BlobContent.chunkSize), 1_900_000)
                #expect(Array(chunk.readableBytesView) == Array(content[Int(offset)..<end]))
            }
            #expect(try await read.chunk(at: 1_900_000) == nil)
        }
    }

    private func hasNoUploads(_ store: any BlobStore) async throws {
        try await waitUntil("a dropped upload is gone") {
            try await store.staleUploads(olderThan: .seconds(-3_600)) == []
        }
    }

    @Test(arguments: TestedStore.available, [2_000_000, BlobStoreTests.long])
    func whatIsGivenUpLeavesNothing(_ kind: TestedStore, _ count: Int) async throws {
        try await kind.with { store, _ in
            let (id, content) = (BlobID.random(), placedBytes(count))
            let upload = try await store.beginUpload(id)
            try await upload.append(ByteBuffer(bytes: content))
            await upload.abort()
            await upload.abort()
            await #expect(throws: BlobStoreError.uploadEnded) { try await upload.append(ByteBuffer(bytes: [1])) }
            await #expect(throws: BlobStoreError.uploadEnded) { try await upload.finish() }
            #expect(try await store.staleUploads(olderThan: .seconds(-3_600)) == [])

            do {
                let dropped = try await store.beginUpload(.random())
                try await dropped.append(ByteBuffer(bytes: content))
            }
            try await hasNoUploads(store)
            let stream = Array(repeating: ByteBuffer(bytes: content), count: 10).asAsyncStream
            await #expect(throws: BlobStoreError.tooLarge(limit: Int64(count * 2))) {
                try await store.receive(.random(), from: stream, limit: Int64(count * 2))
            }
            #expect(try await store.staleUploads(olderThan: .seconds(-3_600)) == [])
        }
    }

    private static func parts(_ lengths: [Int], of content: [UInt8]) -> [(bytes: ByteBuffer, offset: Int64)] {
        lengths.indices.map { number in
            let start = lengths.prefix(number).reduce(0, +)
            return (bytes: ByteBuffer(bytes: content[start..<start + lengths[number]]), offset: Int64(start))
        }
    }

    /// Each part as the server has them, but for the last; a tail behind it; and whoever goes on opens the store anew.
    @Test(
        arguments: TestedStore.available, [[1], [8_390_656, 8_390_656], [8_390_656, 8_389_000], [8_390_656, 20_000]])
    func partsComeInAnyOrder(_ kind: TestedStore, _ lengths: [Int]) async throws {
        try await kind.with { store, again in
            let (id, content) = (BlobID.random(), placedBytes(lengths.reduce(0, +)))
            let parts = Self.parts(lengths, of: content)
            let first = parts[0].bytes
            await #expect(throws: BlobStoreError.notFound(id)) {
                try await store.write(first, to: id, at: 0)
            }
            try await store.beginParts(id)
            try await store.beginParts(id)
            for part in parts.reversed() { try await store.write(part.bytes, to: id, at: part.offset) }
            let other = try await again()
            async let here: Void = other.write(first, to: id, at: 0)
            async let there: Void = store.write(first, to: id, at: 0)
            _ = try await (here, there)
            #expect(try await other.staleUploads(olderThan: .seconds(3_600)) == [])
            #expect(try await other.staleUploads(olderThan: .seconds(-3_600)) == [id])
            let tail = lengths == [1] ? [] : placedBytes(8_000)
            for _ in 0..<2 {
                try await other.finishParts(
                    id, tail: ByteBuffer(bytes: tail), size: Int64(content.count + tail.count))
            }
            #expect(try await store.bytes(of: id) == content + tail)
            #expect(try await other.staleUploads(olderThan: .seconds(-3_600)) == [])
            await #expect(throws: BlobStoreError.notFound(id)) {
                try await other.write(first, to: id, at: 0)
            }
        }
    }

    @Test(arguments: TestedStore.available) func twoMayFinishAtOnce(_ kind: TestedStore) async throws {
        try await kind.with { store, again in
            let (id, content, other) = (BlobID.random(), placedBytes(8_390_656), try await again())
            try await store.beginParts(id)
            try await store.write(ByteBuffer(bytes: content), to: id, at: 0)
            let finish: @Sendable (any BlobStore) async -> Bool = { store in
                do {
                    try await store.finishParts(id, tail: ByteBuffer(bytes: [1]), size: Int64(content.count) + 1)
                    return true
                } catch { return false }
            }
            async let first = finish(store)
            async let second = finish(other)
            let done = await [first, second]
            #expect(done.contains(true))
            #expect(try await store.bytes(of: id) == content + [1])
        }
    }

    @Test(arguments: TestedStore.available, [1, 8_390_656])
    func whatIsDiscardedIsGone(_ kind: TestedStore, _ count: Int) async throws {
        try await kind.with { store, _ in
            let (id, part) = (BlobID.random(), ByteBuffer(bytes: placedBytes(count)))
            try await store.beginParts(id)
            try await store.write(part, to: id, at: 0)
            try await store.discardUpload(id)
            try await store.discardUpload(id)
            #expect(try await store.staleUploads(olderThan: .seconds(-3_600)) == [])
            await #expect(throws: BlobStoreError.notFound(id)) { try await store.write(part, to: id, at: 0) }
            await #expect(throws: BlobStoreError.notFound(id)) {
                try await store.finishParts(id, tail: ByteBuffer(), size: Int64(count))
            }
            await #expect(throws: BlobStoreError.notFound(id)) { try await store.size(of: id) }
        }
    }

    /// A store that is listed: more than a page of names, with a start behind one.
    @Test(arguments: TestedStore.ofS3) func aLongListComesInPages(_ kind: TestedStore) async throws {
        try await kind.with { store, _ in
            let opened = try #require(store as? S3BlobStore)
            let listed = try await S3BlobStore.open(
                try TestedStore.client(opened.client.place) { $0.page = 7 }, owner: "1")
            let ids = (0..<30).map { _ in BlobID.random() }.sorted { $0.description < $1.description }
            for id in ids { _ = try await listed.store([1], as: id) }
            try await listed.beginParts(.random())
            for start in [nil, ids[10], ids[29]] {
                var (found, last) = ([BlobID](), start)
                while true {
                    let page = try await listed.blobs(after: last)
                    found += page.entries.map(\.id)
                    if page.isLast { break }
                    last = page.entries.last?.id
                }
                let wanted = ids.filter { $0.description > start?.description ?? "" }
                #expect(found == wanted)
            }
            await listed.close()
        }
    }
}
