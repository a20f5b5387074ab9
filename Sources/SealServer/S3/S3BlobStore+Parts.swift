import Foundation
package import NIOCore
import NIOHTTP1
package import SealStorage

/// Uploads in parts: a multipart upload, which is found by its key whichever server goes on with it.
///
/// S3 takes no short part but as the last one, and what comes last here is the tail. So a short part is an object of
/// its own, `staged/abcd…`, until the tail is there.
extension S3BlobStore {
    private static let stagedPrefix = "staged/"

    private static func staged(_ id: BlobID) -> String { stagedPrefix + id.description }

    package func beginParts(_ id: BlobID) async throws {
        try await told { if try await findUpload(id) == nil { _ = try await createUpload(id) } }
    }

    package func beginPart(_ id: BlobID, at offset: Int64) async throws -> any BlobUpload {
        S3BlobPart(id: id, store: self, at: offset)
    }

    /// - Throws: `BlobStoreError.notFound` for an upload that was not begun or is discarded.
    func write(_ part: ByteBuffer, to id: BlobID, at offset: Int64) async throws {
        try await told {
            guard let upload = try await findUpload(id) else { throw BlobStoreError.notFound(id) }
            guard part.readableBytes >= Self.partBytes else {
                _ = try await client.send(S3Request(.PUT, Self.staged(id), body: part))
                return
            }
            // One number for each part, in their order, since none is shorter than that.
            let number = offset / Int64(Self.partBytes) + 1
            guard number < Self.lastPart else { throw BlobStoreError.tooLarge(limit: Self.mostBytes) }
            do { _ = try await sendPart(part, number: Int(number), of: upload, id) } catch let failure as S3Failure
                where failure.isNotFound
            {
                throw BlobStoreError.notFound(id)
            }
        }
    }

    package func finishParts(_ id: BlobID, tail: ByteBuffer, size: Int64) async throws {
        try await told {
            guard let upload = try await findUpload(id) else {
                // Published before, and the server was stopped before it noted so.
                guard try await sizeIfThere(id) == size else { throw BlobStoreError.notFound(id) }
                return
            }
            do { try await publish(upload, id, tail: tail, size: size) } catch BlobStoreError.alreadyExists,
                BlobStoreError.notFound
            {
                // Whoever publishes the same blob at once may have been faster.
                guard try await sizeIfThere(id) == size else { throw BlobStoreError.notFound(id) }
            }
            try await discardUpload(id)
        }
    }

    private func publish(_ upload: String, _ id: BlobID, tail: ByteBuffer, size: Int64) async throws {
        var parts: [Part]
        do {
            // What an earlier attempt at the end has left is written again.
            parts = try await self.parts(of: upload, id).map(\.part).filter { $0.number < Self.lastPart }
        } catch let failure as S3Failure where failure.isNotFound {
            throw BlobStoreError.notFound(id)
        }
        let missing = size - Int64(tail.readableBytes) - parts.reduce(0) { $0 + $1.size }
        var last = ByteBuffer()
        if missing > 0 { last = try await stagedPart(id) }
        guard Int64(last.readableBytes) == missing else { throw BlobStoreError.incomplete(id) }
        last.writeImmutableBuffer(tail)
        guard !parts.isEmpty else { return try await put(last, as: id) }
        if last.readableBytes > 0 {
            do { parts.append(try await sendPart(last, number: Self.lastPart, of: upload, id)) } catch let failure
                as S3Failure where failure.isNotFound
            {
                throw BlobStoreError.notFound(id)
            }
        }
        try await complete(upload, parts, as: id)
    }

    /// Empty where there is none.
    private func stagedPart(_ id: BlobID) async throws -> ByteBuffer {
        do { return try await client.send(S3Request(.GET, Self.staged(id))).body } catch let failure as S3Failure
            where failure.isNotFound
        {
            return ByteBuffer()
        }
    }

    package func discardUpload(_ id: BlobID) async throws {
        try await told {
            let key = Self.key(id)
            for upload in try await uploads(below: key) where upload.key == key {
                try await abortUpload(upload.name, id)
            }
            try await remove(Self.staged(id))
        }
    }

    package func staleUploads(olderThan age: Duration) async throws -> [BlobID] {
        try await told {
            let limit = Date().addingTimeInterval(-Double(age.components.seconds))
            var stale: Set<BlobID> = []
            for upload in try await uploads(below: "") where upload.begun.map({ $0 < limit }) ?? false {
                guard let id = Self.id(ofKey: upload.key) else { continue }
                // One that somebody went on with is none.
                let written: Date?
                do { written = try await parts(of: upload.name, id).compactMap(\.written).max() } catch let failure
                    as S3Failure where failure.isNotFound
                { continue }
                if written.map({ $0 < limit }) ?? true { stale.insert(id) }
            }
            for object in try await objects(below: Self.stagedPrefix) where object.written < limit {
                guard let id = BlobID(object.key.dropFirst(Self.stagedPrefix.count)) else { continue }
                // Beside a multipart upload it is a part of that one, and as old.
                if try await findUpload(id) == nil { stale.insert(id) }
            }
            return Array(stale)
        }
    }
}
