import SealPrimitives
import SealStatements

/// An asset of a public database on its way, down or up, from its first chunk to its last. Its bytes go as they are;
/// what its record's author signs is the root of the tree over them, which shows at the end.
final class PublicAssetBytes {
    /// Of its bytes at the server.
    let blob: String
    let size: UInt64
    /// Nil for one that is sent.
    private let signed: Digest?
    private var passed: UInt64 = 0
    private(set) var leaves: [Digest] = []

    /// One that is read.
    init(_ asset: PublicAsset, blob: String) { (self.blob, size, signed) = (blob, asset.size, asset.root) }

    /// A file that becomes one.
    /// - Throws: `invalidLength` for more than an asset may have.
    init(size: UInt64, random: inout SystemRandom) throws(SealError) {
        guard size <= Limits.assetBytes else { throw .invalidLength }
        (blob, self.size, signed) = (ID16(random: &random).hex, size, nil)
    }

    /// Its size is signed too: what comes in another one is not it. A file may have changed under its reader.
    private var otherLength: SealError { signed == nil ? .invalidLength : .invalidProof }

    var isInParts: Bool { size > UInt64(Limits.assetPartChunks) * UInt64(Limits.assetChunkBytes) }

    /// - Parameter bytes: the next chunks, whole; the asset's last one has what is left.
    /// - Throws: `invalidProof` for others of what is read, `invalidLength` for those of a file.
    func take(_ bytes: [UInt8]) throws(SealError) {
        var offset = 0
        while offset < bytes.count {
            let count = Int(min(UInt64(Limits.assetChunkBytes), size - passed))
            guard count > 0, offset + count <= bytes.count else { throw otherLength }
            leaves.append(AssetTree.leaf([UInt8](bytes[offset..<offset + count])))
            (offset, passed) = (offset + count, passed + UInt64(count))
        }
    }

    /// What it is, once all of it has passed.
    /// - Throws: as `take` before that; `invalidProof` where it is not what was signed.
    func asset() throws(SealError) -> PublicAsset {
        guard passed == size else { throw otherLength }
        // No bytes at all are one empty chunk.
        let root = try AssetTree.root(leaves.isEmpty ? [AssetTree.leaf([])] : leaves)
        guard signed == nil || signed == root else { throw .invalidProof }
        return PublicAsset(size: size, root: root)
    }
}
