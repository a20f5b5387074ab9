package import Foundation
package import NIOCore

/// A blob's name: hexadecimal, made by the server, so that no client chooses a path.
package struct BlobID: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// Nil unless the text is 8 to 128 lowercase hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        guard (8...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        description = String(text)
    }

    package init(random generator: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for _ in 0..<2 {
            var word = generator.next() as UInt64
            for _ in 0..<16 {
                text.append(digits[Int(word & 15)])
                word >>= 4
            }
        }
        description = String(decoding: text, as: UTF8.self)
    }
}

/// Where the ciphertext of assets lives: a folder, or an S3 store. It knows nothing of who owns what; the database
/// does.
///
/// A blob is immutable and appears at once: it is staged while it uploads and takes its name when it is finished.
package protocol BlobStore: Sendable {
    /// What an upload that is streamed has in memory at most, in bytes.
    var mostHeld: Int { get }
    /// Other servers may write to the same uploads at once: what was written last at a place stands there.
    var isShared: Bool { get }
    func beginUpload(_ id: BlobID) async throws -> any BlobUpload
    /// Begins, or goes on with, an upload in parts that come one by one, in any order, in different runs of the server.
    func beginParts(_ id: BlobID) async throws
    /// Begins to write a part at its place. Whoever calls it sees to it that nobody else writes there meanwhile. What
    /// is aborted leaves anything there, and may be written again.
    ///
    /// Throws `BlobStoreError.notFound` for an upload that was not begun or is discarded.
    func beginPart(_ id: BlobID, at offset: Int64) async throws -> any BlobUpload
    /// Writes the end of the blob and makes it durable under its name, once. Whoever calls it has written all the rest.
    ///
    /// Throws `BlobStoreError.notFound`; `incomplete` where the store has lost a part.
    func finishParts(_ id: BlobID, tail: ByteBuffer, size: Int64) async throws
    /// Throws `BlobStoreError.notFound`.
    func size(of id: BlobID) async throws -> Int64
    /// A stretch of the blob (clamped to its size), to be streamed; nil for all of it.
    func read(_ id: BlobID, range: Range<Int64>?) async throws -> BlobContent
    /// To be held by whoever deletes what no row names any more, from before the look at the rows on; nil while
    /// somebody copies the blobs that a copy of the database names.
    ///
    /// Throws `BlobStoreError.notOurs` where another database has the place by now.
    func holdForDeleting() async throws -> BlobHold?
    /// Deletes a blob; one that is not there is deleted already.
    func delete(_ id: BlobID) async throws
    /// Uploads that nobody finished and that were last written to before `age` ago.
    func staleUploads(olderThan age: Duration) async throws -> [BlobID]
    func discardUpload(_ id: BlobID) async throws
    func close() async
}

/// A store that says which blobs it has, in the order of their names.
package protocol ListedBlobs: BlobStore {
    /// Some of those behind a name, or the first ones. Not empty, unless they are the last.
    func blobs(after id: BlobID?) async throws -> BlobListing
}

package struct BlobListing: Sendable {
    package struct Entry: Sendable {
        package let id: BlobID
        package let written: Date

        package init(id: BlobID, written: Date) { (self.id, self.written) = (id, written) }
    }

    package let entries: [Entry]
    package let isLast: Bool

    package init(entries: [Entry], isLast: Bool) { (self.entries, self.isLast) = (entries, isLast) }
}

/// An upload under way. One task uses it; what it has taken in is bounded by a few megabytes of memory.
package protocol BlobUpload: Sendable {
    var id: BlobID { get }
    /// Takes the bytes; returns before they are written, but waits when the disk falls behind.
    func append(_ buffer: ByteBuffer) async throws
    /// Makes the blob durable under its name, or the part at its place; returns its size.
    func finish() async throws -> Int64
    /// Removes what was staged; of a part nothing is written any more when it returns. Harmless after `finish`.
    func abort() async
}

package enum BlobStoreError: Error, Equatable {
    case notFound(BlobID)
    /// A blob of this name exists: names are used once.
    case alreadyExists(BlobID)
    /// The disk is full; what was staged is gone.
    case full
    /// The upload is longer than it may be.
    case tooLarge(limit: Int64)
    case uploadEnded
    case failed(FileError)
    /// A part that was written is not there any more: the upload cannot be finished.
    case incomplete(BlobID)
    /// A store elsewhere does not answer, or not now.
    case unavailable(String)
    /// A store elsewhere does not do it, and will not do it later either: somebody has to look.
    case refused(String)
    /// A store elsewhere answers what cannot be.
    case untrue(String)
    /// The place has the blobs of another database, by its name.
    case notOurs(String)
}

extension BlobStoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let id): "there is no blob \(id)"
        case .alreadyExists(let id): "there is a blob \(id) already"
        case .full: "there is no room for blobs"
        case .tooLarge(let limit): "a blob has at most \(limit) bytes"
        case .uploadEnded: "the upload has ended"
        case .failed(let error): "\(error)"
        case .incomplete(let id): "a part of the upload \(id) is not there any more"
        case .unavailable(let what), .refused(let what), .untrue(let what): what
        case .notOurs(let place):
            "\(place) has the blobs of another database, or not those of this one. Name another prefix with --blobs; what is copied "
                + "there beforehand has the names that it had"
        }
    }
}

extension BlobStore {
    /// Streams a request body into a blob and returns its size; whatever goes wrong, nothing stays behind.
    /// - Parameter seeing: gets every part as it comes.
    package func receive<Body: AsyncSequence>(
        _ id: BlobID, from body: Body, limit: Int64, seeing: (ByteBuffer) -> Void = { _ in }
    ) async throws -> Int64 where Body.Element == ByteBuffer {
        let upload = try await beginUpload(id)
        do {
            var received: Int64 = 0
            for try await buffer in body {
                received += Int64(buffer.readableBytes)
                guard received <= limit else { throw BlobStoreError.tooLarge(limit: limit) }
                seeing(buffer)
                try await upload.append(buffer)
            }
            return try await upload.finish()
        } catch {
            await upload.abort()
            throw error
        }
    }
}
