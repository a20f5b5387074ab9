public import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

extension Database {
    /// Downloads a fetched asset: each chunk is checked against the signed root before it is opened, and the file
    /// appears whole or not at all.
    ///
    /// - Parameter asset: of the fetched record.
    /// - Parameter recordID: of that record.
    /// - Parameter file: where it will be.
    /// - Parameter replaces: whether a file that is there by the end is replaced.
    /// - Parameter progress: bytes received so far, and of all.
    /// - Throws: `assetNotAvailable`; `integrityFailure` at the first wrong byte; `storageFull`; `constraintViolation`
    ///   for a file that is not to be replaced.
    public func download(
        _ asset: Asset, of recordID: Record.ID, to file: URL, replaces: Bool = true,
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)? = nil
    ) async throws(SealKitError) {
        try core.requireAccess(to: scope)
        try await core.witnessing(zone: recordID.zoneID, record: recordID.recordName) { () async throws(SealKitError) in
            let remote = try Database.stored(asset)
            try await fetch(remote, of: recordID, into: try PartFile(file, replaces: replaces), progress: progress)
        }
    }

    /// - Throws: `assetNotAvailable` for one that was not saved yet.
    static func stored(_ asset: Asset) throws(SealKitError) -> Asset.Remote {
        if let remote = asset.remote { return remote }
        throw SealKitError(
            .assetNotAvailable, "the asset has not been saved yet", remedy: "its bytes are in its own file")
    }

    /// Goes on behind what the file holds already, as far as that is the asset's.
    func fetch(
        _ remote: Asset.Remote, of recordID: Record.ID, into part: PartFile,
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)?
    ) async throws(SealKitError) {
        do throws(SealKitError) {
            let path = assetPath(Endpoints.assets.download.route, of: remote.blob, in: try zoneScope(recordID.zoneID))
            switch remote.content {
            case .plain(let asset): try await download(asset, remote, at: path, into: part, progress: progress)
            case .sealed(let asset): try await download(asset, remote, at: path, into: part, progress: progress)
            }
        } catch {
            // Of plain bytes only the whole shows that one is wrong: with that one in it nothing goes on. Sealed ones
            // are held against their leaves, each chunk before it is written.
            if case .plain = remote.content, error.code == .integrityFailure { part.remove() } else { part.abandon() }
            throw error
        }
    }

    private func download(
        _ sealed: SealedAsset, _ remote: Asset.Remote, at path: String, into part: PartFile,
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)?
    ) async throws(SealKitError) {
        let layout = sealed.layout
        let total = Int64(layout.blobBytes)

        var leafBytes: [UInt8] = []
        leafBytes.reserveCapacity(Int(min(layout.chunkCount, 1 << 16)) * Digest.byteCount)
        let leafEnd = Int(layout.chunkCount) * Digest.byteCount
        try await core.account.download(path, range: layout.sealedBytes..<layout.blobBytes) { part in
            guard leafBytes.count + part.readableBytes <= leafEnd else { throw remote.mismatch() }
            leafBytes.append(contentsOf: part.readableBytesView)
        }
        let opener = try AssetOpener(sealed, remote, leafBytes: leafBytes, file: part)
        let start = try opener.goOn()
        if start < layout.sealedBytes {
            try await core.account.download(path, range: start..<layout.sealedBytes) { part in
                try opener.take(part)
                progress?(Int64(start) + opener.received + Int64(leafEnd), total)
            }
        }
        try opener.finish()
    }
}

extension Asset.Remote {
    /// The bytes that came are not those that were signed for. Who made it so cannot be told from here.
    func mismatch() -> SealKitError {
        let what = "an asset of record \(recordID.recordName)"
        guard let author = author?.recordName else { return .integrity(.invalidProof, what) }
        return SealKitError(
            .integrityFailure,
            "\(what), signed last by \(author), is not what was signed for (\(SealError.invalidProof)); nothing of it was opened",
            remedy:
                "either who uploaded it signed for something else, or the server altered it: ask \(author); where it stays so, delete the record or give it another file"
        )
    }

    /// Those bytes came, and do not open: whoever uploaded them sealed them so.
    fileprivate func unopened(_ error: SealError) -> SealKitError {
        let what = "an asset of record \(recordID.recordName)"
        guard let author = author?.recordName else { return .integrity(error, what) }
        return SealKitError(
            .integrityFailure,
            "\(what) does not open (\(error)): \(author), who signed it last, made it so or took that over; nothing of it was given out",
            remedy: "ask \(author) about it; delete the record, or give it another file"
        ).ofUnopened(.author)
    }
}

/// Checks and opens sealed chunks as they come and writes them to a file that gets its name at the end.
final class AssetOpener {
    private let asset: SealedAsset
    private let cipher: AssetCipher
    private let layout: AssetLayout
    private let leaves: [Digest]
    /// Nil where nothing is kept of what opens.
    private let file: PartFile?
    private let remote: Asset.Remote
    private var pending = ByteBuffer()
    private var chunk: UInt64 = 0
    private var written: UInt64 = 0
    private(set) var received: Int64 = 0
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.assetChunkBytes, alignment: 64)

    /// - Parameters:
    ///   - leafBytes: what follows the chunks: their hashes, which give the signed root.
    ///   - file: nil to check only.
    init(_ asset: SealedAsset, _ remote: Asset.Remote, leafBytes: [UInt8], file: PartFile?) throws(SealKitError) {
        var leaves: [Digest] = []
        leaves.reserveCapacity(leafBytes.count / Digest.byteCount)
        for start in stride(from: 0, to: leafBytes.count - leafBytes.count % 32, by: 32) {
            if let leaf = try? Digest(leafBytes[start..<start + 32]) { leaves.append(leaf) }
        }
        guard leaves.count == Int(asset.layout.chunkCount), let root = try? AssetTree.root(leaves), root == asset.root
        else {
            throw remote.mismatch()
        }
        self.asset = asset
        self.leaves = leaves
        self.file = file
        self.remote = remote
        cipher = AssetCipher(asset)
        layout = asset.layout
    }

    deinit { output.deallocate() }

    /// Keeps of what the file holds already the chunks that give their leaves when they are sealed again.
    /// - Returns: where the sealed bytes go on.
    func goOn() throws(SealKitError) -> UInt64 {
        guard let file else { return 0 }
        let size = UInt64(Limits.assetChunkBytes)
        let sealed = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(size) + 16, alignment: 64)
        defer { sealed.deallocate() }
        // The last one, which may have padding behind it, is fetched again.
        while (chunk + 1) * size <= min(file.present, asset.size), chunk + 1 < layout.chunkCount {
            if Task.isCancelled { throw .cancelled }
            guard file.read(output, at: written) else { break }
            do throws(SealError) { try cipher.seal(chunk: chunk, UnsafeRawBufferPointer(output), into: sealed) } catch {
                break
            }
            guard AssetHash.leaf(UnsafeRawBufferPointer(sealed)) == leaves[Int(chunk)] else { break }
            chunk += 1
            written += size
        }
        try file.cut(to: written)
        return layout.sealedRange(ofChunk: chunk).lowerBound
    }

    func take(_ part: ByteBuffer) throws(SealKitError) {
        received += Int64(part.readableBytes)
        var part = part
        if pending.readableBytes == 0 { swap(&pending, &part) } else { pending.writeBuffer(&part) }
        while chunk < layout.chunkCount {
            let size = layout.plaintextBytes(ofChunk: chunk) + 16
            guard pending.readableBytes >= size else {
                pending.discardReadBytes()
                return
            }
            try open(size)
        }
        guard pending.readableBytes == 0 else { throw remote.mismatch() }
    }

    private func open(_ size: Int) throws(SealKitError) {
        var thrown: SealKitError?
        pending.readWithUnsafeReadableBytes { bytes in
            let sealed = UnsafeRawBufferPointer(rebasing: bytes[0..<size])
            let plaintext = UnsafeMutableRawBufferPointer(rebasing: output[0..<size - 16])
            guard AssetHash.leaf(sealed) == leaves[Int(chunk)] else {
                thrown = remote.mismatch()
                return size
            }
            do throws(SealError) {
                try cipher.open(chunk: chunk, sealed, into: plaintext)
                do throws(SealKitError) { try write(UnsafeRawBufferPointer(plaintext)) } catch { thrown = error }
            } catch {
                thrown = remote.unopened(error)
            }
            return size
        }
        if let thrown { throw thrown }
        chunk += 1
    }

    private func write(_ plaintext: UnsafeRawBufferPointer) throws(SealKitError) {
        // Padding is checked like everything else, and not handed out.
        let count = written < asset.size ? Int(min(UInt64(plaintext.count), asset.size - written)) : 0
        for byte in plaintext[count...] where byte != 0 { throw remote.unopened(.malformed) }
        try file?.write(UnsafeRawBufferPointer(rebasing: plaintext[..<count]))
        written += UInt64(count)
    }

    func finish() throws(SealKitError) {
        guard chunk == layout.chunkCount, pending.readableBytes == 0, written == asset.size else {
            throw remote.mismatch()
        }
        try file?.finish()
    }
}
