import NIOCore
import SealPrimitives
import SealStatements

/// The root of the tree over a plain asset's chunks (PROTOCOL.md, section 9), while the bytes come in. One task uses it.
final class PlainAssetHash {
    private var pending = ByteBuffer()
    private var leaves: [Digest] = []

    func take(_ part: ByteBuffer) {
        var part = part
        pending.writeBuffer(&part)
        while let chunk = pending.readBytes(length: Limits.assetChunkBytes) { leaves.append(AssetTree.leaf(chunk)) }
        pending.discardReadBytes()
    }

    func finish() throws -> Digest {
        // The last chunk, shorter; no bytes at all are one empty chunk.
        if pending.readableBytes > 0 || leaves.isEmpty { leaves.append(AssetTree.leaf([UInt8](pending.readableBytesView))) }
        return try AssetTree.root(leaves)
    }
}
