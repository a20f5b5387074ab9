import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Assets of the public database: their bytes as they are, checked against the root that their record's author signed.
extension Database {
    func download(
        _ asset: PublicAsset, _ remote: Asset.Remote, at path: String, into part: PartFile,
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)?
    ) async throws(SealKitError) {
        let check = PlainAssetCheck(asset, remote, file: part)
        let start = try check.goOn()
        do throws(SealKitError) {
            return try await download(check, at: path, range: start..<asset.size, progress: progress)
        } catch let error where start > 0 && error.code == .integrityFailure {
            // What an earlier attempt has left may be no more what had come: a power cut leaves zeros in its place.
            // Only bytes that have all come now say something about the server.
            try part.cut(to: 0)
        }
        try await download(
            PlainAssetCheck(asset, remote, file: part), at: path, range: 0..<asset.size, progress: progress)
    }

    private func download(
        _ check: PlainAssetCheck, at path: String, range: Range<UInt64>,
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)?
    ) async throws(SealKitError) {
        // Of no bytes there is no range to ask for.
        if !range.isEmpty {
            try await core.account.download(path, range: range) { part in
                try check.take(part)
                progress?(check.received, Int64(range.upperBound))
            }
        }
        try check.finish()
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

/// Writes an asset's bytes beside their place, and gives them their name once all of them are those that were signed.
private final class PlainAssetCheck {
    private let asset: PublicAsset
    private let file: PartFile
    private let remote: Asset.Remote
    private var hash = PlainAssetTree()
    private(set) var received: Int64 = 0

    init(_ asset: PublicAsset, _ remote: Asset.Remote, file: PartFile) {
        self.asset = asset
        self.file = file
        self.remote = remote
    }

    /// What the file holds already counts as received: whether it is the asset's shows at the end.
    /// - Returns: where its bytes go on.
    func goOn() throws(SealKitError) -> UInt64 {
        let present = min(file.present, asset.size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.assetChunkBytes, alignment: 64)
        defer { buffer.deallocate() }
        while UInt64(received) < present {
            if Task.isCancelled { throw .cancelled }
            let count = Int(min(UInt64(buffer.count), present - UInt64(received)))
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            guard file.read(bytes, at: UInt64(received)) else { break }
            hash.take(ByteBuffer(bytes: bytes))
            received += Int64(count)
        }
        try file.cut(to: UInt64(received))
        return UInt64(received)
    }

    func take(_ part: ByteBuffer) throws(SealKitError) {
        received += Int64(part.readableBytes)
        guard UInt64(received) <= asset.size else { throw remote.mismatch() }
        hash.take(part)
        var thrown: SealKitError?
        part.withUnsafeReadableBytes { bytes in
            do throws(SealKitError) { try file.write(bytes) } catch { thrown = error }
        }
        if let thrown { throw thrown }
    }

    func finish() throws(SealKitError) {
        guard UInt64(received) == asset.size, (try? hash.root()) == asset.root else { throw remote.mismatch() }
        try file.finish()
    }
}
