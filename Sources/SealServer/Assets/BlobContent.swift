import Hummingbird
import NIOCore

/// A stretch of a blob, read in chunks when they are asked for: whoever consumes it sets the pace, and no more than two
/// chunks are in memory.
struct BlobContent: Sendable {
    let totalSize: Int64
    /// What this content covers; within 0..<totalSize.
    let range: Range<Int64>
    /// Reads exactly `count` bytes at `offset`.
    let readChunk: @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer

    static let chunkSize: Int64 = 512 * 1024

    fileprivate func chunk(at offset: Int64) async throws -> ByteBuffer? {
        guard offset < range.upperBound else { return nil }
        return try await readChunk(offset, Int(Swift.min(Self.chunkSize, range.upperBound - offset)))
    }
}

extension BlobContent: AsyncSequence {
    struct AsyncIterator: AsyncIteratorProtocol {
        let content: BlobContent
        var offset: Int64

        mutating func next() async throws -> ByteBuffer? {
            guard let chunk = try await content.chunk(at: offset) else { return nil }
            offset += Int64(chunk.readableBytes)
            return chunk
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: self, offset: range.lowerBound) }
}

extension ResponseBody {
    /// Streams the content, reading the next chunk while the last one is being sent.
    init(_ content: BlobContent) {
        self.init(contentLength: Int(content.range.upperBound - content.range.lowerBound)) { writer in
            var offset = content.range.lowerBound
            var current = try await content.chunk(at: offset)
            while let chunk = current {
                offset += Int64(chunk.readableBytes)
                let position = offset
                async let next = content.chunk(at: position)
                try await writer.write(chunk)
                current = try await next
            }
            try await writer.finish(nil)
        }
    }
}
