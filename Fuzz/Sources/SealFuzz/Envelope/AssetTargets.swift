import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// Padding and layout of every size up to the limit.
enum AssetLayoutTarget: FuzzTarget {
    static let name = "asset-layout"
    static let maximumLength = 32
    static let seeds = [0, 1, 9, 65_536, 65_537, 140_000, 1 << 32, 1 << 48].map { (size: UInt64) in
        Seed.made((0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) })
    }

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let size = choices.number(UInt64.self) % (1 << 48 + 1)
        let padded = Padding.paddedLength(size)
        require(padded >= max(size, 32), "padded to less")
        require(Padding.paddedLength(padded) == padded, "padded twice is padded more")
        require(size < 32 || padded - size <= size / 8, "padded by more than an eighth")
        require(size == 0 || Padding.paddedLength(size - 1) <= padded, "a shorter one is padded to more")

        let layout = AssetLayout(size: size)
        require(
            layout.paddedSize == padded && layout.chunkCount >= 1 && layout.chunkCount <= 1 << 32,
            "chunks out of bounds")
        require(layout.blobBytes == padded + layout.chunkCount * 48, "a blob of another length")
        let index = choices.number(UInt64.self) % layout.chunkCount
        let range = layout.sealedRange(ofChunk: index)
        require(range.count == layout.plaintextBytes(ofChunk: index) + 16, "a chunk of another length")
        let end =
            index + 1 == layout.chunkCount ? layout.sealedBytes : layout.sealedRange(ofChunk: index + 1).lowerBound
        require(range.upperBound == end, "a gap between chunks")
    }
}

/// Chunks: each opens in its place and nowhere else.
enum AssetChunkTarget: FuzzTarget {
    static let name = "asset-chunk"
    static let maximumLength = 4_096
    /// Chunks of 64 KiB.
    static let allowance = 262_144
    static let seeds = [
        Seed.hex("assets", "sealed", prefix: [0, 0, 0, 0, 9]),
        .hex("assets", "plaintext", prefix: [1, 0, 2, 0x22, 0xE0]),
        .made([2, 1, 4]),
    ]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let index = UInt64(choices.byte() % 4)
        let size = UInt64(choices.number(UInt32.self) % 262_144)
        let layout = AssetLayout(size: size)
        let cipher = AssetCipher(fileKey: secret(0xD4), salt: sampleDigest(3), layout: layout)
        let bytes = choices.rest()
        refuses("hostile bytes as a chunk", with: .authenticationFailed) { try open(cipher, index, bytes, layout) }
        guard index < layout.chunkCount else {
            return refuses("a chunk past the end", with: .invalidLength) { try seal(cipher, index, bytes) }
        }
        let count = layout.plaintextBytes(ofChunk: index)
        if bytes.count != count {
            refuses("a chunk of another length", with: .invalidLength) { try seal(cipher, index, bytes) }
        }
        let plaintext = [UInt8](bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
        var sealed = certain("a chunk is sealed") { try seal(cipher, index, plaintext) }
        require((try? open(cipher, index, sealed, layout)) == plaintext, "a chunk does not come back")
        for other in 0...layout.chunkCount where other != index {
            refuses("a chunk in another place", with: .authenticationFailed) { try open(cipher, other, sealed, layout) }
        }
        // The last chunk of a shorter file is none of a longer one, nor the other way round.
        let longer = AssetLayout(size: size + 65_536)
        if index + 1 == layout.chunkCount {
            let other = AssetCipher(fileKey: secret(0xD4), salt: sampleDigest(3), layout: longer)
            refuses("a file cut short", with: .authenticationFailed) { try open(other, index, sealed, longer) }
        }
        sealed[Int(choices.byte()) % sealed.count] ^= 1
        refuses("an altered chunk", with: .authenticationFailed) { try open(cipher, index, sealed, layout) }
    }

    private static func seal(_ cipher: AssetCipher, _ index: UInt64, _ plaintext: [UInt8]) throws -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + 16)
        try plaintext.withStorage { source in
            try sealed.withUnsafeMutableBytes { try cipher.seal(chunk: index, source, into: $0) }
        }
        return sealed
    }

    private static func open(_ cipher: AssetCipher, _ index: UInt64, _ sealed: [UInt8], _ layout: AssetLayout) throws
        -> [UInt8]
    {
        let count = index < layout.chunkCount ? layout.plaintextBytes(ofChunk: index) : max(0, sealed.count - 16)
        var plaintext = [UInt8](repeating: 0, count: count)
        try sealed.withStorage { source in
            try plaintext.withMutableStorage { try cipher.open(chunk: index, source, into: $0) }
        }
        return plaintext
    }
}

/// The tree over an asset's chunks, against one that is written down the plain way.
enum AssetTreeTarget: FuzzTarget {
    static let name = "asset-tree"
    static let maximumLength = 2_048
    static let seeds = [Seed.made([]), .made([1]), .made([5, 1, 2, 3]), .made([200])] + [.hex("assets", "sealed")]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let count = choices.number(below: 256)
        let leaves = (0..<count).map { _ in choices.digest() }
        let root = try? AssetTree.root(leaves)
        require((root == nil) == leaves.isEmpty, "leaves are refused")
        if let root { require(root == plain(leaves), "another root") }
        // A chunk that is hashed as it comes gives the leaf of the whole.
        let chunk = choices.rest()
        var pae = PAE(.assetLeaf, pieces: 1)
        pae.add(chunk)
        require(AssetTree.leafPrefix(chunkBytes: chunk.count) + chunk == pae.finish(), "another prefix")
        require(AssetTree.leaf(chunk) == Hash.sha256(pae), "another leaf")
    }

    private static func plain(_ leaves: [Digest]) -> Digest {
        guard leaves.count > 1 else { return leaves[0] }
        var left = 1
        while left * 2 < leaves.count { left *= 2 }
        var pae = PAE(.assetNode, pieces: 2)
        pae.add(plain([Digest](leaves[..<left])).bytes)
        pae.add(plain([Digest](leaves[left...])).bytes)
        return Hash.sha256(pae)
    }
}
