import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements

extension AssetOpener {
    /// Checks a downloaded blob as a download would, and keeps nothing of what opens.
    /// - Throws: `integrityFailure`; `internalError` where the file cannot be read.
    static func check(_ asset: SealedAsset, _ remote: Asset.Remote, blob: URL) throws(SealKitError) {
        let layout = asset.layout
        let unreadable = SealKitError(.internalError, "\(blob.path) cannot be read again")
        guard let handle = try? FileHandle(forReadingFrom: blob) else { throw unreadable }
        defer { try? handle.close() }
        func read(_ count: Int) throws(SealKitError) -> Data {
            do { return try handle.read(upToCount: count) ?? Data() } catch { throw unreadable }
        }
        do { try handle.seek(toOffset: layout.sealedBytes) } catch { throw unreadable }
        let opener = try AssetOpener(
            asset, remote, leafBytes: [UInt8](try read(Int(layout.blobBytes - layout.sealedBytes))), file: nil)
        do { try handle.seek(toOffset: 0) } catch { throw unreadable }
        var left = layout.sealedBytes
        while left > 0 {
            let part = try read(Int(min(left, 1 << 20)))
            guard !part.isEmpty else { break }
            left -= UInt64(part.count)
            try opener.take(ByteBuffer(bytes: part))
        }
        try opener.finish()
    }
}
