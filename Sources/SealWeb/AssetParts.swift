import SealEnvelope
import SealPrimitives
import SealStatements

/// An asset that is opened chunk by chunk, from its first to its last.
final class AssetReading {
    private let layout: AssetLayout
    private let root: Digest
    private let cipher: AssetCipher
    private var leaves: [Digest] = []
    private var next: UInt64 = 0

    init(_ asset: SealedAsset) {
        (layout, root, cipher) = (asset.layout, asset.root, AssetCipher(asset))
    }

    /// - Throws: `invalidProof` unless they are those that the record's author has signed, and as many.
    func take(leaves bytes: [UInt8]) throws(SealError) {
        guard bytes.count == Int(layout.chunkCount) * Digest.byteCount else { throw .invalidProof }
        var leaves: [Digest] = []
        leaves.reserveCapacity(Int(layout.chunkCount))
        for start in stride(from: 0, to: bytes.count, by: Digest.byteCount) {
            leaves.append(try Digest(bytes[start..<start + Digest.byteCount]))
        }
        guard try AssetTree.root(leaves) == root else { throw .invalidProof }
        self.leaves = leaves
    }

    /// Each chunk is held against its leaf before it is opened.
    /// - Parameter sealed: the next ones, whole.
    /// - Returns: the asset's bytes in them, without the padding.
    /// - Throws: `invalidProof` for others than those that were signed, for fewer and for more.
    func open(_ sealed: [UInt8]) throws(SealError) -> [UInt8] {
        guard !leaves.isEmpty else { throw .missingKey }
        let start = next * UInt64(Limits.assetChunkBytes)
        var output: [UInt8] = []
        output.reserveCapacity(sealed.count)
        var offset = 0
        while offset < sealed.count {
            guard next < layout.chunkCount else { throw .invalidProof }
            let count = layout.plaintextBytes(ofChunk: next)
            let end = offset + count + ChunkAEAD.tagBytes
            guard end <= sealed.count else { throw .invalidProof }
            guard AssetTree.leaf([UInt8](sealed[offset..<end])) == leaves[Int(next)] else { throw .invalidProof }
            let before = output.count
            output.append(contentsOf: repeatElement(0, count: count))
            var failure: SealError?
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe output.withUnsafeMutableBytes { opened in
                    do throws(SealError) {
                        try unsafe cipher.open(
                            chunk: next, UnsafeRawBufferPointer(rebasing: sealed[offset..<end]),
                            into: UnsafeMutableRawBufferPointer(rebasing: opened[before..<before + count]))
                    } catch { failure = error }
                }
            }
            if let failure { throw failure }
            (offset, next) = (end, next + 1)
        }
        let left = layout.size > start ? layout.size - start : 0
        if UInt64(output.count) > left { output.removeLast(output.count - Int(left)) }
        return output
    }
}

/// A file that becomes an asset, sealed chunk by chunk, from its first to its last: under a key of its own, and each
/// chunk once.
final class AssetWriting {
    let id: ID16
    let layout: AssetLayout
    private let fileKey: SecretBytes
    private let salt: Digest
    private let cipher: AssetCipher
    private(set) var leaves: [Digest] = []

    /// - Throws: `invalidLength` for more than an asset may have.
    init(size: UInt64, random: inout SystemRandom) throws(SealError) {
        guard size <= Limits.assetBytes else { throw .invalidLength }
        (id, layout) = (ID16(random: &random), AssetLayout(size: size))
        (fileKey, salt) = (SecretBytes(random: &random), Digest(random: &random))
        cipher = AssetCipher(fileKey: fileKey, salt: salt, layout: layout)
    }

    /// - Parameter plaintext: of the next chunks, whole, with the padding's zeros.
    /// - Returns: the sealed chunks.
    func seal(_ plaintext: [UInt8]) throws(SealError) -> [UInt8] {
        var sealed: [UInt8] = []
        sealed.reserveCapacity(plaintext.count + plaintext.count / 1024)
        var offset = 0
        while offset < plaintext.count {
            let index = UInt64(leaves.count)
            guard index < layout.chunkCount else { throw .invalidLength }
            let end = offset + layout.plaintextBytes(ofChunk: index)
            guard end <= plaintext.count else { throw .invalidLength }
            var chunk = [UInt8](repeating: 0, count: end - offset + ChunkAEAD.tagBytes)
            var failure: SealError?
            unsafe plaintext.withUnsafeBytes { plaintext in
                unsafe chunk.withUnsafeMutableBytes { chunk in
                    do throws(SealError) {
                        try unsafe cipher.seal(
                            chunk: index, UnsafeRawBufferPointer(rebasing: plaintext[offset..<end]), into: chunk)
                    } catch { failure = error }
                }
            }
            if let failure { throw failure }
            leaves.append(AssetTree.leaf(chunk))
            sealed += chunk
            offset = end
        }
        return sealed
    }

    /// - Throws: `invalidLength` before all is sealed.
    func asset() throws(SealError) -> SealedAsset {
        guard UInt64(leaves.count) == layout.chunkCount else { throw .invalidLength }
        return SealedAsset(
            fileKey: fileKey, size: layout.size, salt: salt, chunkCount: layout.chunkCount,
            root: try AssetTree.root(leaves))
    }
}
