public import SealPrimitives

/// The SHA-256 tree over an asset's chunks, sealed ones or, in the public database, plain ones: readers who hold the
/// file key cannot forge for others, and any range is checked by itself.
public enum AssetTree {
    /// What precedes a chunk's bytes in `SHA-256(PAE("asset-leaf", chunk))`: hash it, then the chunk.
    public static func leafPrefix(chunkBytes: Int) -> [UInt8] {
        var pae = PAE(.assetLeaf, pieces: 1, capacity: 48)
        pae.announce(chunkBytes)
        return pae.finish()
    }

    public static func leaf(_ chunk: [UInt8]) -> Digest {
        var pae = PAE(.assetLeaf, pieces: 1, capacity: chunk.count + 64)
        pae.add(chunk)
        return Hash.sha256(pae)
    }

    /// The root over the leaves; a node without a sibling rises unchanged.
    /// - Throws: `invalidLength` for no leaf.
    public static func root(_ leaves: [Digest]) throws(SealError) -> Digest {
        guard !leaves.isEmpty else { throw .invalidLength }
        var level = leaves
        while level.count > 1 { level = MerkleLevel.above(level, node) }
        return level[0]
    }

    private static func node(_ left: Digest, _ right: Digest) -> Digest {
        var pae = PAE(.assetNode, pieces: 2, capacity: 128)
        pae.add(left)
        pae.add(right)
        return Hash.sha256(pae)
    }
}
