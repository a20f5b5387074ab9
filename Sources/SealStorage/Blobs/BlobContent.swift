package import NIOCore

/// A stretch of a blob, read in chunks when they are asked for: whoever consumes it sets the pace, and no more than two
/// chunks are in memory.
package struct BlobContent: Sendable {
    package let totalSize: Int64
    /// What this content covers; within 0..<totalSize.
    package let range: Range<Int64>
    /// Reads exactly `count` bytes at `offset`.
    let readChunk: @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer

    package init(
        totalSize: Int64,
        range: Range<Int64>,
        readChunk: @escaping @Sendable (_ offset: Int64, _ count: Int) async throws -> ByteBuffer
    ) {
        self.totalSize = totalSize
        self.range = range
        self.readChunk = readChunk
    }

    /// Whoever downloads has two of them of the server's memory for as long as that takes.
    package static let chunkSize: Int64 = 128 * 1024

    package var count: Int { Int(range.upperBound - range.lowerBound) }

    /// As much of so many bytes as is in memory at once: a chunk that is being sent, and the next one.
    package static func mostHeld(of count: Int64) -> Int { Int(Swift.min(count, 2 * chunkSize)) }

    /// The next one from there on; nil at the end.
    package func chunk(at offset: Int64) async throws -> ByteBuffer? {
        guard offset < range.upperBound else { return nil }
        return try await readChunk(offset, Int(Swift.min(Self.chunkSize, range.upperBound - offset)))
    }
}

extension BlobContent: AsyncSequence {
    package struct AsyncIterator: AsyncIteratorProtocol {
        package let content: BlobContent
        package var offset: Int64

        package init(content: BlobContent, offset: Int64) {
            self.content = content
            self.offset = offset
        }

        package mutating func next() async throws -> ByteBuffer? {
            guard let chunk = try await content.chunk(at: offset) else { return nil }
            offset += Int64(chunk.readableBytes)
            return chunk
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: self, offset: range.lowerBound) }
}
