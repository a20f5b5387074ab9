import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import Synchronization

/// The chunks of a new asset as they are stored: its bytes and their padding, sealed; in the public database its bytes
/// as they are.
final class AssetChunks: @unchecked Sendable {
    // Unchecked: the buffer is used under the lock.
    let file: AssetFile
    private let cipher: AssetCipher?
    let count: UInt64
    /// Of all chunks as they are stored.
    let contentBytes: UInt64
    private let buffer: UnsafeMutableRawBufferPointer
    /// The leaves of the chunks that were read, from the first on. What has left this device under a key is in here.
    private let known = Mutex<[Digest]>([])

    /// How many are read at once: 1 MiB, for few system calls and little memory.
    static let atOnce: UInt64 = 16

    /// - Parameter cipher: nil for the public database.
    init(_ file: AssetFile, cipher: AssetCipher?) {
        self.file = file
        self.cipher = cipher
        count = AssetChunks.count(of: file, isSealed: cipher != nil)
        contentBytes = cipher == nil ? file.size : file.layout.sealedBytes
        buffer = .allocate(byteCount: Int(AssetChunks.atOnce) * Limits.assetChunkBytes, alignment: 64)
    }

    deinit { buffer.deallocate() }

    static func count(of file: AssetFile, isSealed: Bool) -> UInt64 {
        guard !isSealed else { return file.layout.chunkCount }
        let chunk = UInt64(Limits.assetChunkBytes)
        // No bytes at all are one empty chunk.
        return max(1, file.size / chunk + (file.size % chunk > 0 ? 1 : 0))
    }

    var isSealed: Bool { cipher != nil }

    var leaves: [Digest] { known.withLock { $0 } }

    /// All of them were read.
    var areRead: Bool { UInt64(leaves.count) == count }

    /// Of all chunks, which were read before.
    func root() throws(SealKitError) -> Digest {
        let leaves = leaves
        guard UInt64(leaves.count) == count else {
            throw SealKitError(.internalError, "\(leaves.count) of \(count) chunks of the asset were read")
        }
        return try verifying("the asset") { () throws(SealError) in try AssetTree.root(leaves) }
    }

    /// The next chunks, or such as were read before: then they are the same, or nobody gets them. Two plaintexts never
    /// leave this device under one key and nonce.
    /// - Throws: `assetFileModified`.
    func read(_ chunks: Range<UInt64>) throws(SealKitError) -> ByteBuffer {
        // One at a time: a connection may still be pulling for a request that was answered early, while the next one is
        // on its way.
        try known.withLock { leaves throws(SealKitError) in
            let (bytes, new) = if let cipher { try seal(chunks, cipher) } else { try plain(chunks) }
            for (offset, leaf) in new.enumerated() {
                let place = Int(chunks.lowerBound) + offset
                guard place < leaves.count else {
                    leaves.append(leaf)
                    continue
                }
                guard leaves[place] == leaf else { throw file.changed }
            }
            return bytes
        }
    }

    /// Reads all of them, after which no others can be given out.
    /// - Throws: `assetFileModified`, `operationCancelled`.
    func readAll() throws(SealKitError) {
        for start in stride(from: 0, to: count, by: Int(AssetChunks.atOnce)) {
            if Task.isCancelled { throw .cancelled }
            _ = try read(start..<min(start + AssetChunks.atOnce, count))
        }
    }

    private func plain(_ chunks: Range<UInt64>) throws(SealKitError) -> (ByteBuffer, [Digest]) {
        let offset = chunks.lowerBound * UInt64(Limits.assetChunkBytes)
        let count = Int(min(chunks.upperBound * UInt64(Limits.assetChunkBytes), file.size) - offset)
        var part = ByteBufferAllocator().buffer(capacity: count)
        var leaves: [Digest] = []
        var thrown: SealKitError?
        part.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { output in
            let output = UnsafeMutableRawBufferPointer(rebasing: output[..<count])
            do throws(SealKitError) { try file.read(output, at: offset) } catch {
                thrown = error
                return 0
            }
            for start in stride(from: 0, to: max(count, 1), by: Limits.assetChunkBytes) {
                leaves.append(
                    AssetHash.leaf(
                        UnsafeRawBufferPointer(rebasing: output[start..<min(start + Limits.assetChunkBytes, count)])))
            }
            return count
        }
        if let thrown { throw thrown }
        return (part, leaves)
    }

    private func seal(_ chunks: Range<UInt64>, _ cipher: AssetCipher) throws(SealKitError) -> (ByteBuffer, [Digest]) {
        var plaintextBytes = 0
        for index in chunks { plaintextBytes += file.layout.plaintextBytes(ofChunk: index) }
        try fill(plaintextBytes, from: chunks.lowerBound)
        let last = file.layout.sealedRange(ofChunk: chunks.upperBound - 1)
        let count = Int(last.upperBound - file.layout.sealedRange(ofChunk: chunks.lowerBound).lowerBound)
        var part = ByteBufferAllocator().buffer(capacity: count)
        var leaves: [Digest] = []
        var thrown: SealError?
        part.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { output in
            var read = 0
            var written = 0
            for index in chunks {
                let size = file.layout.plaintextBytes(ofChunk: index)
                let sealed = UnsafeMutableRawBufferPointer(rebasing: output[written..<written + size + 16])
                do throws(SealError) {
                    try cipher.seal(
                        chunk: index, UnsafeRawBufferPointer(rebasing: buffer[read..<read + size]), into: sealed)
                } catch {
                    thrown = error
                    return written
                }
                leaves.append(AssetHash.leaf(UnsafeRawBufferPointer(sealed)))
                read += size
                written += sealed.count
            }
            return written
        }
        if let thrown { throw .integrity(thrown, "the asset") }
        return (part, leaves)
    }

    /// The file's bytes, then the padding's zeros.
    private func fill(_ count: Int, from chunk: UInt64) throws(SealKitError) {
        let offset = chunk * UInt64(Limits.assetChunkBytes)
        let wanted = offset < file.size ? Int(min(UInt64(count), file.size - offset)) : 0
        try file.read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
        if wanted < count {
            UnsafeMutableRawBufferPointer(rebasing: buffer[wanted..<count]).initializeMemory(
                as: UInt8.self, repeating: 0)
        }
    }
}

/// What one request sends of an asset, as the connection takes it: chunks, and the hashes behind them. Memory stays
/// flat.
final class AssetStream: @unchecked Sendable {
    /// What follows the chunks.
    enum Tail {
        /// Of a whole sealed asset: its leaves.
        case leaves
        /// Of a part: the root over its chunks.
        case root
        case nothing
    }

    // Unchecked: one request pulls its parts one after the other. Of what it has pulled others see the failure alone.
    private let chunks: AssetChunks
    private let range: Range<UInt64>
    private let tail: Tail
    private let progress: @Sendable (Int64) -> Void
    private let hasRead: @Sendable () -> Void
    private var chunk: UInt64
    private var hasEnded = false
    private var sent: Int64 = 0
    private let failed = Mutex<SealKitError?>(nil)

    var failure: SealKitError? { failed.withLock { $0 } }

    /// - Parameters:
    ///   - progress: bytes of this request's chunks.
    ///   - hasRead: is told when the last chunk was read.
    init(
        _ chunks: AssetChunks, _ range: Range<UInt64>, tail: Tail, progress: @escaping @Sendable (Int64) -> Void,
        hasRead: @escaping @Sendable () -> Void = {}
    ) {
        self.chunks = chunks
        self.range = range
        self.tail = tail
        self.progress = progress
        self.hasRead = hasRead
        chunk = range.lowerBound
    }

    /// Nil at the end.
    func next() throws -> ByteBuffer? {
        do {
            guard chunk < range.upperBound else { return try end() }
            let end = min(chunk + AssetChunks.atOnce, range.upperBound)
            let bytes = try chunks.read(chunk..<end)
            chunk = end
            sent += Int64(bytes.readableBytes)
            progress(sent)
            if chunk == range.upperBound { hasRead() }
            return bytes
        } catch {
            failed.withLock { $0 = error }
            throw error
        }
    }

    private func end() throws(SealKitError) -> ByteBuffer? {
        guard !hasEnded else { return nil }
        hasEnded = true
        guard chunks.file.isUnchanged else { throw chunks.file.changed }
        let own = Array(chunks.leaves[Int(range.lowerBound)..<Int(range.upperBound)])
        switch tail {
        case .nothing: return nil
        case .leaves:
            var bytes = ByteBufferAllocator().buffer(capacity: own.count * Digest.byteCount)
            for leaf in own { bytes.writeBytes(leaf.bytes) }
            return bytes
        case .root:
            return ByteBuffer(
                bytes: try verifying("the asset") { () throws(SealError) in try AssetTree.root(own) }.bytes)
        }
    }
}
