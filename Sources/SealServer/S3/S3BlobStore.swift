import Foundation
import NIOCore
import NIOHTTP1
package import SealStorage

/// Blobs as objects of an S3 store: `<prefix>/ab/cd/abcd…`, by the names that `FolderBlobStore` gives its files, so
/// that a folder of blobs can be copied there with any tool.
///
/// What is longer than a part is a multipart upload, which shows when it is complete. The store verifies each body by
/// its SHA-256, which is signed.
package final class S3BlobStore: BlobStore {
    let client: S3Client
    /// Whether it takes a name once, so that nothing is written over. Told by `claim`; where it is not so, names are
    /// looked for first, and are random.
    let keepsNames: Bool

    /// Of an upload that is streamed, and at least that much of one whose parts come one by one. It is more than S3's
    /// least for all parts but the last.
    static let partBytes = 8 << 20
    /// S3 has 10,000. The last but one of these is for what comes behind the others.
    static let lastPart = 9_999
    /// The longest blob that fits into so many parts.
    package static let mostBytes = Int64(lastPart - 1) * Int64(partBytes)

    package let mostHeld = 2 * partBytes
    package let isShared = true

    private let owner: S3Mark

    private init(_ client: S3Client, _ owner: S3Mark, keepsNames: Bool) {
        (self.client, self.owner, self.keepsNames) = (client, owner, keepsNames)
    }

    package func close() async { await client.close() }

    // MARK: Whose it is

    /// Opens a place for one owner of blobs, and makes it that one's where it is nobody's.
    /// - Parameters:
    ///   - credentials: asked at first, and again when the store lets them in no more.
    ///   - owner: a line of text, which no other owner has.
    ///   - mayBegin: asked before a place becomes the owner's that has no mark: false refuses it.
    /// - Throws: `BlobStoreError`: `notOurs` for a place of another owner, or one that may not begin.
    package static func open(
        _ place: S3Place, credentials: @escaping @Sendable () throws -> S3Credentials, owner: String,
        mayBegin: (S3BlobStore) async throws -> Bool
    ) async throws -> S3BlobStore {
        try await open(
            try S3Client(place, settings: S3Client.Settings(), credentials: credentials), owner: owner,
            mayBegin: mayBegin)
    }

    static func open(
        _ client: S3Client, owner: String,
        mayBegin: (S3BlobStore) async throws -> Bool = { _ in true }
    ) async throws -> S3BlobStore {
        do {
            let mark = S3Mark(owner: owner)
            let keepsNames = try await claim(client, mark) {
                try await mayBegin(S3BlobStore(client, mark, keepsNames: false))
            }
            return S3BlobStore(client, mark, keepsNames: keepsNames)
        } catch {
            await client.close()
            throw (error as? S3Failure).map(BlobStoreError.init) ?? error
        }
    }

    // MARK: Whole blobs

    package func beginUpload(_ id: BlobID) async throws -> any BlobUpload {
        // What keeps names refuses the end.
        if !keepsNames, try await sizeIfThere(id) != nil { throw BlobStoreError.alreadyExists(id) }
        return S3BlobUpload(id: id, store: self)
    }

    package func size(of id: BlobID) async throws -> Int64 {
        guard let size = try await sizeIfThere(id) else { throw BlobStoreError.notFound(id) }
        return size
    }

    package func read(_ id: BlobID, range: Range<Int64>?) async throws -> BlobContent {
        try await told {
            if let range, range.isEmpty {
                let size = try await self.size(of: id)
                return BlobContent(totalSize: size, range: range.clamped(to: 0..<size)) { _, _ in ByteBuffer() }
            }
            let download = S3Download(id, self.client)
            let (size, covered) = try await download.begin(range)
            return BlobContent(totalSize: size, range: covered) { offset, count in
                try await self.told { try await download.chunk(at: offset, count: count) }
            }
        }
    }

    package func delete(_ id: BlobID) async throws { try await remove(Self.key(id)) }

    /// Nobody copies what lies in the store by this program: the store's own versions and copies are for that. But the
    /// place may be another database's by now.
    /// - Throws: `BlobStoreError`: `notOurs`.
    package func holdForDeleting() async throws -> BlobHold? {
        try await told { try await Self.require(owner, client) }
        return .unneeded
    }

    // MARK: For uploads

    static func key(_ id: BlobID) -> String {
        let name = id.description
        return "\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
    }

    /// Nil for one that is not there.
    func sizeIfThere(_ id: BlobID) async throws -> Int64? {
        try await told {
            do {
                let answer = try await self.client.send(S3Request(.HEAD, Self.key(id)))
                guard let size = answer.headers.contentLength else { throw S3Failure.untrue("no length of a blob") }
                return size
            } catch let failure as S3Failure where failure.isNotFound {
                // No error of S3's comes with that, and something between answers so too: an answer with a body says
                // which it was.
                do { _ = try await self.client.send(.bytes(of: id, 0..<1)) } catch let failure as S3Failure
                    where failure.isNotFound
                {
                    return nil
                }
                throw S3Failure.untrue("a blob that is there, and is not")
            }
        }
    }

    /// Puts a blob of one piece under its name.
    /// - Throws: `alreadyExists`.
    func put(_ body: ByteBuffer, as id: BlobID) async throws {
        try await told {
            var request = S3Request(.PUT, Self.key(id), body: body)
            if self.keepsNames { request.headers = [Self.once] }
            do { _ = try await self.client.send(request) } catch let failure as S3Failure where failure.isTaken {
                // It may have been this one, of which the answer was lost.
                guard failure.follows, try await self.sizeIfThere(id) == Int64(body.readableBytes) else {
                    throw BlobStoreError.alreadyExists(id)
                }
            }
        }
    }

    func remove(_ key: String) async throws {
        try await told {
            do { _ = try await self.client.send(S3Request(.DELETE, key)) } catch let failure as S3Failure
                where failure.isNotFound
            {}
        }
    }

    /// A failure of the store's, as those who use blobs know it.
    func told<T>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch let failure as S3Failure { throw BlobStoreError(failure) }
    }
}
