import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Assets of the public database: their bytes as they are, checked against the root that their record's author signed.
extension Database {
    func download(
        _ asset: PublicAsset, at path: String, of recordID: Record.ID, to file: URL,
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)?
    ) async throws(SealKitError) {
        let check = PlainAssetCheck(asset, file: try PartFile(file), recordName: recordID.recordName)
        do {
            // Of no bytes there is no range to ask for.
            if asset.size > 0 {
                try await core.account.download(path, range: 0..<asset.size) { part in
                    try check.take(part)
                    progress?(check.received, Int64(asset.size))
                }
            }
            try check.finish()
        } catch {
            check.abandon()
            throw error
        }
    }
}

extension AssetUploads {
    func uploadPlain(
        _ file: AssetFile, for field: (id: Record.ID, key: String), token: String, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(SealKitError) -> Asset.Remote {
        var random = SystemRandom()
        let id = ID16(random: &random)
        let reader = PlainAssetReader(file: file, progress: progress)
        let parts = AsyncThrowingStream<ByteBuffer, any Error>(unfolding: { try reader.next() })
        let response: TransportResponse
        do {
            response = try await database.core.account.client.transport.upload(
                database.assetPath(of: id.hex, in: scope), length: Int64(file.size), parts: parts, token: token)
        } catch {
            throw reader.failure ?? error
        }
        if let failure = reader.failure { throw failure }
        guard response.status < 400 else { throw response.failure }
        let root = try verifying("the asset") { () throws(SealError) in try reader.hash.root() }
        return Asset.Remote(
            content: .plain(PublicAsset(size: file.size, root: root)), blob: id.hex, recordID: field.id, key: field.key)
    }
}

/// The tree over an asset's plain chunks, as its bytes come by.
struct PlainAssetTree {
    private var pending = ByteBuffer()
    private var leaves: [Digest] = []

    mutating func take(_ part: ByteBuffer) {
        var part = part
        pending.writeBuffer(&part)
        while pending.readableBytes >= Limits.assetChunkBytes {
            pending.readWithUnsafeReadableBytes { bytes in
                leaves.append(AssetHash.leaf(UnsafeRawBufferPointer(rebasing: bytes[..<Limits.assetChunkBytes])))
                return Limits.assetChunkBytes
            }
        }
        pending.discardReadBytes()
    }

    /// No bytes at all are one empty chunk.
    func root() throws(SealError) -> Digest {
        guard pending.readableBytes > 0 || leaves.isEmpty else { return try AssetTree.root(leaves) }
        return try AssetTree.root(leaves + [pending.withUnsafeReadableBytes { AssetHash.leaf($0) }])
    }
}

/// Reads and hashes an asset part by part, as the connection takes them.
private final class PlainAssetReader: @unchecked Sendable {
    // Unchecked: one upload pulls its parts one after the other; results are read once it has ended.
    private let file: AssetFile
    private let progress: @Sendable (Int64) -> Void
    private var sent: UInt64 = 0
    private(set) var hash = PlainAssetTree()
    private(set) var failure: SealKitError?

    private static let partBytes: UInt64 = 1 << 20

    init(file: AssetFile, progress: @escaping @Sendable (Int64) -> Void) {
        self.file = file
        self.progress = progress
    }

    func next() throws -> ByteBuffer? {
        do {
            guard sent < file.size else {
                guard file.isUnchanged else { throw file.changed }
                return nil
            }
            let count = Int(min(PlainAssetReader.partBytes, file.size - sent))
            var part = ByteBufferAllocator().buffer(capacity: count)
            var thrown: SealKitError?
            part.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { output in
                do throws(SealKitError) {
                    try file.read(UnsafeMutableRawBufferPointer(rebasing: output[..<count]), at: sent)
                    return count
                } catch {
                    thrown = error
                    return 0
                }
            }
            if let thrown { throw thrown }
            hash.take(part)
            sent += UInt64(count)
            progress(Int64(sent))
            return part
        } catch {
            failure = error as? SealKitError
            throw error
        }
    }
}

/// Writes an asset's bytes beside their place, and gives them their name once all of them are those that were signed.
private final class PlainAssetCheck {
    private let asset: PublicAsset
    private let file: PartFile
    private let recordName: String
    private var hash = PlainAssetTree()
    private(set) var received: Int64 = 0

    init(_ asset: PublicAsset, file: PartFile, recordName: String) {
        self.asset = asset
        self.file = file
        self.recordName = recordName
    }

    func take(_ part: ByteBuffer) throws(SealKitError) {
        received += Int64(part.readableBytes)
        guard UInt64(received) <= asset.size else { throw AssetOpener.mismatch(recordName) }
        hash.take(part)
        var thrown: SealKitError?
        part.withUnsafeReadableBytes { bytes in
            do throws(SealKitError) { try file.write(bytes) } catch { thrown = error }
        }
        if let thrown { throw thrown }
    }

    func finish() throws(SealKitError) {
        guard UInt64(received) == asset.size, (try? hash.root()) == asset.root else { throw AssetOpener.mismatch(recordName) }
        try file.finish()
    }

    func abandon() { file.abandon() }
}
