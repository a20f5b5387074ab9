import struct Crypto.SHA256
import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Seals the new assets of a batch and sends them, before the records that name them.
struct AssetUploads {
    let database: Database
    let zoneID: RecordZone.ID
    let scope: SealStatements.Scope
    let progress: (@Sendable (Int64, Int64) -> Void)?

    func uploadNew(in records: inout [Record]) async throws(SealKitError) {
        var jobs: [(index: Int, key: String, file: AssetFile)] = []
        for (index, record) in records.enumerated() {
            for (key, state) in record.fields {
                guard case .asset(let asset) = state else { continue }
                if let remote = asset.remote, remote.recordID == record.recordID, remote.key == key,
                    (remote.plain != nil) == (database.scope == .public)
                {
                    continue
                }
                guard let url = asset.fileURL else {
                    throw SealKitError(
                        .assetNotAvailable, "the asset \(key) of record \(record.recordID.recordName) belongs to another field",
                        remedy: "download it, and make a new Asset of the file")
                }
                jobs.append((index, key, try AssetFile(url)))
            }
        }
        let total = jobs.reduce(Int64(0)) { $0 + Int64(blobBytes($1.file)) }
        var sent: Int64 = 0
        for job in jobs {
            let before = sent
            let field = (id: records[job.index].recordID, key: job.key)
            // A broken upload starts over with another key and another blob: what the server has of the first is garbage.
            let remote = try await database.core.account.exchange("assets/upload", .none) { token throws(SealKitError) in
                try await upload(job.file, for: field, token: token) { part in progress?(before + part, total) }
            }
            sent += Int64(blobBytes(job.file))
            progress?(sent, total)
            guard case .asset(var asset)? = records[job.index].fields[job.key] else { continue }
            asset.remote = remote
            records[job.index].fields[job.key] = .asset(asset)
        }
    }

    private func blobBytes(_ file: AssetFile) -> UInt64 { database.scope == .public ? file.size : file.layout.blobBytes }

    /// Every upload has a file key, a salt and an id of its own: one that starts over never seals two plaintexts alike.
    private func upload(
        _ file: AssetFile, for field: (id: Record.ID, key: String), token: String, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(SealKitError) -> Asset.Remote {
        guard database.scope != .public else { return try await uploadPlain(file, for: field, token: token, progress: progress) }
        var random = SystemRandom()
        let fileKey = SecretBytes(random: &random)
        let salt = Digest(random: &random)
        let id = ID16(random: &random)
        let sealer = AssetSealer(
            file: file, cipher: AssetCipher(fileKey: fileKey, salt: salt, layout: file.layout), progress: progress)
        let path = database.assetPath(of: id.hex, in: scope)
        let parts = AsyncThrowingStream<ByteBuffer, any Error>(unfolding: { try sealer.next() })
        let response: TransportResponse
        do {
            response = try await database.core.account.client.transport.upload(
                path, length: Int64(file.layout.blobBytes), parts: parts, token: token)
        } catch {
            // A file that changed under way shows as a broken request; its own error says more.
            throw sealer.failure ?? error
        }
        if let failure = sealer.failure { throw failure }
        guard response.status < 400 else { throw response.failure }
        let root = try verifying("the asset") { () throws(SealError) in try AssetTree.root(sealer.leaves) }
        let sealed = SealedAsset(
            fileKey: fileKey, size: file.size, salt: salt, chunkCount: file.layout.chunkCount, root: root)
        return Asset.Remote(content: .sealed(sealed), blob: id.hex, recordID: field.id, key: field.key)
    }
}

extension Database {
    /// Where the sealed bytes of an asset are.
    func assetPath(of blob: String, in zone: SealStatements.Scope) -> String {
        let unescaped = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/;%"))
        let name = zone.zoneName.addingPercentEncoding(withAllowedCharacters: unescaped) ?? ""
        return core.databasePath(scope, "assets/\(zone.owner.recordName)/\(name)/\(blob)")
    }
}

/// A local file that is to become an asset.
struct AssetFile: Sendable {
    let url: URL
    let size: UInt64
    let layout: AssetLayout
    let handle: FileHandle
    /// Size and modification time, to notice a change under way.
    private let signature: [Int]

    /// - Throws: `assetFileNotFound`.
    init(_ url: URL) throws(SealKitError) {
        guard let handle = try? FileHandle(forReadingFrom: url), let signature = AssetFile.signature(handle) else {
            throw SealKitError(.assetFileNotFound, "there is no file to read at \(url.path)", remedy: "check the path")
        }
        self.url = url
        self.handle = handle
        self.signature = signature
        size = UInt64(signature[0])
        layout = AssetLayout(size: size)
    }

    private static func signature(_ handle: FileHandle) -> [Int]? {
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return [Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    var isUnchanged: Bool { AssetFile.signature(handle) == signature }

    var changed: SealKitError {
        SealKitError(.assetFileModified, "\(url.lastPathComponent) changed while it was being uploaded", remedy: "save the record again")
    }

    /// Fills the buffer with the file's bytes from `offset` on.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealKitError) {
        var done = 0
        while done < buffer.count {
            let got = pread(handle.fileDescriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            guard got > 0 else { throw changed }
            done += got
        }
    }
}

/// Reads, pads, seals and hashes an asset part by part, as the connection takes them: memory stays flat.
final class AssetSealer: @unchecked Sendable {
    // Unchecked: one upload pulls its parts one after the other; results are read once it has ended.
    private let file: AssetFile
    private let cipher: AssetCipher
    private let progress: @Sendable (Int64) -> Void
    private var chunk: UInt64 = 0
    private var sentLeaves = false
    private var sent: Int64 = 0
    private(set) var leaves: [Digest] = []
    private(set) var failure: SealKitError?
    private let buffer: UnsafeMutableRawBufferPointer

    /// 1 MiB of plaintext a part: few system calls, and little memory.
    private static let chunksPerPart: UInt64 = 16

    init(file: AssetFile, cipher: AssetCipher, progress: @escaping @Sendable (Int64) -> Void) {
        self.file = file
        self.cipher = cipher
        self.progress = progress
        leaves.reserveCapacity(Int(file.layout.chunkCount))
        buffer = .allocate(byteCount: Int(AssetSealer.chunksPerPart) * Limits.assetChunkBytes, alignment: 64)
    }

    deinit { buffer.deallocate() }

    /// The next part of the blob: sealed chunks, then the leaves; nil at the end.
    func next() throws -> ByteBuffer? {
        do {
            guard chunk < file.layout.chunkCount else { return try lastPart() }
            let end = min(chunk + AssetSealer.chunksPerPart, file.layout.chunkCount)
            var plaintextBytes = 0
            for index in chunk..<end { plaintextBytes += file.layout.plaintextBytes(ofChunk: index) }
            try fill(plaintextBytes)
            let part = try seal(chunk..<end)
            chunk = end
            sent += Int64(part.readableBytes)
            progress(sent)
            return part
        } catch {
            failure = error
            throw error
        }
    }

    private func seal(_ chunks: Range<UInt64>) throws(SealKitError) -> ByteBuffer {
        let last = file.layout.sealedRange(ofChunk: chunks.upperBound - 1)
        let count = Int(last.upperBound - file.layout.sealedRange(ofChunk: chunks.lowerBound).lowerBound)
        var part = ByteBufferAllocator().buffer(capacity: count)
        var thrown: SealError?
        part.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { output in
            var read = 0
            var written = 0
            for index in chunks {
                let size = file.layout.plaintextBytes(ofChunk: index)
                let sealed = UnsafeMutableRawBufferPointer(rebasing: output[written..<written + size + 16])
                do throws(SealError) {
                    try cipher.seal(chunk: index, UnsafeRawBufferPointer(rebasing: buffer[read..<read + size]), into: sealed)
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
        return part
    }

    /// The file's bytes, then the padding's zeros.
    private func fill(_ count: Int) throws(SealKitError) {
        let offset = chunk * UInt64(Limits.assetChunkBytes)
        let wanted = offset < file.size ? Int(min(UInt64(count), file.size - offset)) : 0
        try file.read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
        if wanted < count { UnsafeMutableRawBufferPointer(rebasing: buffer[wanted..<count]).initializeMemory(as: UInt8.self, repeating: 0) }
    }

    private func lastPart() throws(SealKitError) -> ByteBuffer? {
        guard !sentLeaves else { return nil }
        guard file.isUnchanged else { throw file.changed }
        sentLeaves = true
        var part = ByteBufferAllocator().buffer(capacity: leaves.count * Digest.byteCount)
        for leaf in leaves { part.writeBytes(leaf.bytes) }
        return part
    }
}

/// The asset tree's leaves by swift-crypto, which uses the processor's SHA instructions.
enum AssetHash {
    static func leaf(_ sealed: UnsafeRawBufferPointer) -> Digest {
        var hash = SHA256()
        hash.update(data: AssetTree.leafPrefix(chunkBytes: sealed.count))
        hash.update(bufferPointer: sealed)
        // SHA-256 gives 32 bytes, always.
        return (try? Digest(Array(hash.finalize()))) ?? .zero
    }
}
