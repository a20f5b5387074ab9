public import SealPrimitives
import SealStatements

/// An asset whose bytes are sealed: what opens them, and what they are checked against.
public struct SealedAsset: Sendable {
    public let fileKey: SecretBytes
    /// Bytes of the asset itself, before padding.
    public let size: UInt64
    public let salt: Digest
    public let chunkCount: UInt64
    public let root: Digest

    public init(fileKey: SecretBytes, size: UInt64, salt: Digest, chunkCount: UInt64, root: Digest) {
        precondition(fileKey.count == 32, "file keys have 32 bytes")
        self.fileKey = fileKey
        self.size = size
        self.salt = salt
        self.chunkCount = chunkCount
        self.root = root
    }

    /// File key ‖ LE64 size: sealed under the record key, bound to the field.
    func descriptor() -> SecretBytes {
        unsafe SecretBytes(count: SealedAsset.descriptorBytes) { output in
            unsafe fileKey.withPointer { unsafe output.update(from: $0, count: 32) }
            for index in 0..<8 { unsafe output[32 + index] = UInt8(truncatingIfNeeded: size >> UInt64(index * 8)) }
        }
    }

    private static let descriptorBytes = 40

    /// - Throws: `malformed` unless the size gives exactly the committed number of chunks; `invalidLength` above the
    ///   limit.
    init(descriptor: SecretBytes, commitment: AssetCommitment) throws(SealError) {
        guard descriptor.count == SealedAsset.descriptorBytes, let key = descriptor.part(0..<32) else {
            throw .malformed
        }
        fileKey = key
        size = unsafe descriptor.withPointer { bytes in
            (0..<8).reduce(0) { unsafe $0 | UInt64(bytes[32 + $1]) << UInt64($1 * 8) }
        }
        salt = commitment.salt
        chunkCount = commitment.chunkCount
        root = commitment.root
        // Whoever may write chose the size: arithmetic on it comes after the limit.
        guard size <= Limits.assetBytes else { throw .invalidLength }
        guard chunkCount == AssetLayout(size: size).chunkCount else { throw .malformed }
    }

    public var layout: AssetLayout { AssetLayout(size: size) }
}

/// Where the bytes of an asset lie once sealed: chunks of 64 KiB of padded plaintext, each with its tag, then the leaf
/// hashes of the tree over them.
public struct AssetLayout: Sendable, Hashable {
    public let size: UInt64
    /// The size padded to a Padmé length, so that the number of stored bytes tells little.
    public let paddedSize: UInt64

    public init(size: UInt64) {
        self.size = size
        paddedSize = Padding.paddedLength(size)
    }

    static let chunk = UInt64(Limits.assetChunkBytes)
    static let sealedChunk = chunk + UInt64(ChunkAEAD.tagBytes)

    public var chunkCount: UInt64 { (paddedSize + AssetLayout.chunk - 1) / AssetLayout.chunk }
    /// Bytes of all sealed chunks.
    public var sealedBytes: UInt64 { paddedSize + chunkCount * UInt64(ChunkAEAD.tagBytes) }
    /// Bytes of the stored blob: chunks and leaves.
    public var blobBytes: UInt64 { sealedBytes + chunkCount * UInt64(Digest.byteCount) }

    /// Padded plaintext bytes of one chunk.
    public func plaintextBytes(ofChunk index: UInt64) -> Int {
        Int(index + 1 < chunkCount ? AssetLayout.chunk : paddedSize - index * AssetLayout.chunk)
    }

    /// Where one sealed chunk lies in the blob.
    public func sealedRange(ofChunk index: UInt64) -> Range<UInt64> {
        let start = index * AssetLayout.sealedChunk
        return start..<start + UInt64(plaintextBytes(ofChunk: index) + ChunkAEAD.tagBytes)
    }
}

/// Seals and opens the chunks of one asset (STREAM, Hoang et al. 2015): chunk by chunk, in any order, on any core.
/// The nonce is LE64 of the chunk's number, three zero bytes, and 1 for the last chunk.
public struct AssetCipher: Sendable {
    private let key: SecretBytes
    private let layout: AssetLayout

    /// `KDF(file key, "asset-chunks", salt)`.
    public init(fileKey: SecretBytes, salt: Digest, layout: AssetLayout) {
        key = Hash.derive(fileKey, .assetChunks, salt.bytes)
        self.layout = layout
    }

    public init(_ asset: SealedAsset) { self.init(fileKey: asset.fileKey, salt: asset.salt, layout: asset.layout) }

    /// - Parameters:
    ///   - plaintext: exactly `layout.plaintextBytes(ofChunk:)` bytes, padding zeros included.
    ///   - output: 16 bytes more.
    /// - Throws: `invalidLength`.
    public func seal(
        chunk index: UInt64, _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(SealError) {
        guard index < layout.chunkCount, plaintext.count == layout.plaintextBytes(ofChunk: index) else {
            throw .invalidLength
        }
        try unsafe ChunkAEAD.seal(plaintext, into: output, nonce: nonce(index), under: key)
    }

    /// Call it only with chunks that the tree has accepted.
    /// - Throws: `authenticationFailed`.
    public func open(
        chunk index: UInt64, _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(SealError) {
        guard index < layout.chunkCount, output.count == layout.plaintextBytes(ofChunk: index) else {
            throw .authenticationFailed
        }
        try unsafe ChunkAEAD.open(sealed, into: output, nonce: nonce(index), under: key)
    }

    private func nonce(_ index: UInt64) -> [UInt8] {
        var nonce: [UInt8] = []
        nonce.reserveCapacity(ChunkAEAD.nonceBytes)
        nonce.appendLittleEndian(index)
        nonce.append(contentsOf: [0, 0, 0, index + 1 == layout.chunkCount ? 1 : 0])
        return nonce
    }
}
