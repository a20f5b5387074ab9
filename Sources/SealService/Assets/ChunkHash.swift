package import NIOCore
package import SealPrimitives
import SealStatements
import SealWire

import struct Crypto.SHA256

/// The hashes of the chunks of an asset, or of a part of one, while their bytes come in (PROTOCOL.md, "Assets"):
/// nothing is copied, and swift-crypto uses the processor's SHA instructions. One task uses it.
package final class ChunkHash {
    private let chunkBytes: Int
    /// Bytes that are still to come: of the chunk under way, and after it.
    private var leftOfChunk = 0
    private var leftAfterwards: Int64
    private var hash = SHA256()
    package private(set) var leaves: [Digest] = []

    /// - Parameter bytes: how many will come.
    package init(bytes: Int64, chunkBytes: Int64) {
        self.chunkBytes = Int(chunkBytes)
        leftAfterwards = bytes
        begin()
        // No bytes at all are one empty chunk.
        if bytes == 0 { end() }
    }

    var isComplete: Bool { leftOfChunk == 0 && leftAfterwards == 0 }

    /// Takes what belongs to the chunks off the front of the buffer.
    package func take(_ buffer: inout ByteBuffer) {
        while !isComplete, buffer.readableBytes > 0 {
            let count = min(buffer.readableBytes, leftOfChunk)
            buffer.readWithUnsafeReadableBytes { bytes in
                hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                return count
            }
            leftOfChunk -= count
            if leftOfChunk == 0 {
                end()
                if leftAfterwards > 0 { begin() }
            }
        }
    }

    private func begin() {
        leftOfChunk = Int(min(Int64(chunkBytes), leftAfterwards))
        leftAfterwards -= Int64(leftOfChunk)
        hash = SHA256()
        hash.update(data: AssetTree.leafPrefix(chunkBytes: leftOfChunk))
    }

    private func end() {
        // SHA-256 gives 32 bytes, always.
        leaves.append((try? Digest(Array(hash.finalize()))) ?? .zero)
    }
}

/// Holds an asset that is sent whole against the hashes that come behind its sealed chunks. One task uses it.
package final class AssetCheck {
    private let hash: ChunkHash
    private let isSealed: Bool
    /// How many leaves have come and were right, and what has come of the next one.
    private var checked = 0
    private var pending: [UInt8] = []
    private var isAltered = false

    package init(_ layout: UploadLayout) {
        hash = ChunkHash(bytes: layout.contentBytes, chunkBytes: layout.chunkBytes)
        isSealed = layout.isSealed
        pending.reserveCapacity(Digest.byteCount)
    }

    package func take(_ buffer: ByteBuffer) {
        var buffer = buffer
        hash.take(&buffer)
        while !isAltered,
            let bytes = buffer.readBytes(length: min(buffer.readableBytes, Digest.byteCount - pending.count)),
            !bytes.isEmpty
        {
            pending += bytes
            guard pending.count == Digest.byteCount else { return }
            guard checked < hash.leaves.count, hash.leaves[checked].bytes == pending else {
                isAltered = true
                return
            }
            checked += 1
            pending.removeAll(keepingCapacity: true)
        }
    }

    /// The root of the tree over the chunks.
    /// - Throws: `assetFileModified` where the bytes are not those that the hashes are of.
    package func root() throws -> Digest {
        guard hash.isComplete, !isAltered, pending.isEmpty, checked == (isSealed ? hash.leaves.count : 0) else {
            throw ServerError.alteredUpload
        }
        return try AssetTree.root(hash.leaves)
    }
}

extension ServerError {
    package static let alteredUpload = ServerError(
        .assetFileModified,
        "The bytes that came are not those that their hashes were made of; nothing of them was kept.",
        remedy: "Send them again.")
}
