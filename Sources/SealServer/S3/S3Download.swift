import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import SealStorage

/// A stretch of a blob as one answer of the store's, which is read at the pace of whoever asks for its chunks. Where
/// the connection ends before it, another one goes on from there.
actor S3Download {
    private let id: BlobID
    private let client: S3Client
    private var total: Int64 = 0
    private var end: Int64 = 0
    private var open: Open?

    private struct Open {
        /// Of the next byte.
        var offset: Int64
        var rest = ByteBuffer()
        var body: HTTPClientResponse.Body.AsyncIterator
    }

    init(_ id: BlobID, _ client: S3Client) { (self.id, self.client) = (id, client) }

    /// - Parameter range: not empty; nil for all.
    /// - Returns: the blob's size, and what of it the range covers.
    /// - Throws: `S3Failure`, `BlobStoreError.notFound`.
    func begin(_ range: Range<Int64>?) async throws -> (size: Int64, covered: Range<Int64>) {
        let response: HTTPClientResponse
        do { response = try await client.open(.bytes(of: id, range)) } catch let failure as S3Failure {
            if failure.isNotFound { throw BlobStoreError.notFound(id) }
            // Beyond its end, of which the answer need not say where that is.
            guard case .answered(status: 416, _) = failure.cause else { throw failure }
            let answer = try await client.send(S3Request(.HEAD, S3BlobStore.key(id)))
            guard let range, let size = answer.headers.contentLength, size <= range.lowerBound else {
                throw S3Failure.untrue("that a range is not there, and it is")
            }
            return (size, range.clamped(to: 0..<size))
        }
        let covered = try Self.covered(by: response, asked: range)
        (total, end) = (covered.total, covered.range.upperBound)
        open = Open(offset: covered.range.lowerBound, body: response.body.makeAsyncIterator())
        return (covered.total, covered.range)
    }

    /// Exactly so many bytes from there on.
    func chunk(at offset: Int64, count: Int) async throws -> ByteBuffer {
        // Out of its place while it is used, so that nobody else reads on from it.
        var current = open.take()
        if current?.offset != offset { current = nil }
        var chunk = ByteBufferAllocator().buffer(capacity: count)
        var tries = 0
        while chunk.readableBytes < count {
            do {
                var stream: Open
                if let current {
                    stream = current
                } else {
                    stream = try await again(from: offset + Int64(chunk.readableBytes))
                }
                while chunk.readableBytes < count {
                    if stream.rest.readableBytes == 0 {
                        guard let next = try await stream.body.next(isolation: self) else {
                            throw S3Failure(.unreachable("a blob's bytes ended too early"))
                        }
                        stream.rest = next
                    }
                    let wanted = min(count - chunk.readableBytes, stream.rest.readableBytes)
                    if var piece = stream.rest.readSlice(length: wanted) {
                        stream.offset += Int64(wanted)
                        chunk.writeBuffer(&piece)
                        tries = 0
                    }
                }
                current = stream
            } catch {
                current = nil
                let failure = try S3Client.failure(error)
                guard failure.mayPass, tries < client.repetitions else { throw failure }
                try await client.pause(tries)
                tries += 1
            }
        }
        open = current
        return chunk
    }

    private func again(from offset: Int64) async throws -> Open {
        let range = offset..<end
        let response = try await client.open(.bytes(of: id, range))
        let covered = try Self.covered(by: response, asked: range)
        guard covered.total == total, covered.range == range else {
            throw S3Failure.untrue("another length of a blob than before")
        }
        return Open(offset: offset, body: response.body.makeAsyncIterator())
    }

    /// What an answer says that it is, held against what was asked.
    private static func covered(
        by response: HTTPClientResponse, asked: Range<Int64>?
    ) throws(S3Failure) -> (total: Int64, range: Range<Int64>) {
        guard let length = response.headers.contentLength else { throw .untrue("bytes without a length") }
        guard let asked else {
            guard response.status == .ok else { throw .untrue("status \(response.status.code) for a whole blob") }
            return (length, 0..<length)
        }
        guard response.status == .partialContent else {
            throw .untrue("status \(response.status.code) for a range")
        }
        guard let text = response.headers.first(name: "content-range"),
            let match = text.wholeMatch(of: /bytes (\d{1,18})-(\d{1,18})\/(\d{1,18})/),
            let first = Int64(match.1), let last = Int64(match.2), let total = Int64(match.3)
        else { throw .untrue("a range without saying which") }
        guard first == asked.lowerBound, total > first, last + 1 == min(asked.upperBound, total),
            length == last + 1 - first
        else { throw .untrue("another range than it was asked") }
        return (total, first..<(last + 1))
    }
}
