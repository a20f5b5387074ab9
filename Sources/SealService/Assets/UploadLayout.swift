import SealPrimitives
import SealStatements
import SealWire

/// Where the chunks of an uploaded asset lie, and the parts that it may come in. What is sealed has a tag in each
/// chunk, and the chunks' hashes behind them; what is public is chunks alone.
///
/// A part is 128 chunks, 8 MiB: a connection that breaks costs that much at most. The number is a power of two, so that
/// the hash over a part's chunks is a node of the tree over all of them.
package struct UploadLayout: Sendable, Equatable {
    package let contentBytes: Int64
    package let isSealed: Bool
    package let chunkBytes: Int64

    private static let tagBytes: Int64 = 16
    private static let leafBytes = Int64(Digest.byteCount)

    /// - Throws: `invalidArguments` for a length that no asset has.
    package init(contentBytes: Int64, isSealed: Bool) throws(ServerError) {
        chunkBytes = Int64(Limits.assetChunkBytes) + (isSealed ? Self.tagBytes : 0)
        self.contentBytes = contentBytes
        self.isSealed = isSealed
        guard contentBytes >= 0, contentBytes <= chunkBytes * Int64(Limits.assetChunks) else { throw Self.impossible }
        // What is sealed is padded: a last chunk holds more than its tag, and there is always one.
        guard !isSealed || contentBytes - (chunkCount - 1) * chunkBytes > Self.tagBytes else { throw Self.impossible }
    }

    /// Of an asset that is sent whole.
    /// - Throws: `invalidArguments` for a length that no asset has.
    package init(blobBytes: Int64, isSealed: Bool) throws(ServerError) {
        let stored = Int64(Limits.assetChunkBytes) + Self.tagBytes + Self.leafBytes
        let chunks = isSealed ? blobBytes / stored + (blobBytes % stored > 0 ? 1 : 0) : 0
        try self.init(contentBytes: blobBytes - chunks * Self.leafBytes, isSealed: isSealed)
    }

    private static let impossible = ServerError(
        .invalidArguments,
        "No asset has that length: sealed chunks have 65552 bytes, the last 17 or more, and a hash each.",
        remedy: "Send the asset's chunks as PROTOCOL.md lays them out.")

    /// No bytes at all are one empty chunk.
    package var chunkCount: Int64 { max(1, (contentBytes - 1) / chunkBytes + 1) }
    /// What is stored in the end, and counted from the beginning.
    package var blobBytes: Int64 { contentBytes + (isSealed ? chunkCount * Self.leafBytes : 0) }

    package var partCount: Int64 { (chunkCount - 1) / Int64(Limits.assetPartChunks) + 1 }

    /// The content's bytes that a part holds.
    package func range(ofPart part: Int64) -> Range<Int64> {
        let bytes = chunkBytes * Int64(Limits.assetPartChunks)
        return part * bytes..<min((part + 1) * bytes, contentBytes)
    }
}
