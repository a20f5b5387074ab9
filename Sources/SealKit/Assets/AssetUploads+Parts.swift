import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

/// One asset on its way up: its key, its id on the server, and what of it has left this device. What is sent in parts
/// is kept when it breaks off, so that the next attempt sends only what is missing, under the same key and only the
/// same bytes.
final class AssetUpload: Sendable {
    let fileKey: SecretBytes
    let salt: Digest
    let id: ID16
    let chunks: AssetChunks

    /// Every upload has a file key, a salt and an id of its own.
    convenience init(_ file: AssetFile, isSealed: Bool) {
        var random = SystemRandom()
        self.init(
            file, isSealed: isSealed, fileKey: SecretBytes(random: &random), salt: Digest(random: &random),
            id: ID16(random: &random))
    }

    /// One that was begun before: what it may send has to be compared with what it may have sent.
    init(_ file: AssetFile, isSealed: Bool, fileKey: SecretBytes, salt: Digest, id: ID16) {
        (self.fileKey, self.salt, self.id) = (fileKey, salt, id)
        chunks = AssetChunks(
            file, cipher: isSealed ? AssetCipher(fileKey: fileKey, salt: salt, layout: file.layout) : nil)
    }

    static func isInParts(_ file: AssetFile, isSealed: Bool) -> Bool {
        AssetChunks.count(of: file, isSealed: isSealed) > UInt64(Limits.assetPartChunks)
    }

    var partCount: UInt64 { (chunks.count - 1) / UInt64(Limits.assetPartChunks) + 1 }

    func chunks(ofPart part: UInt64) -> Range<UInt64> {
        let size = UInt64(Limits.assetPartChunks)
        return part * size..<min((part + 1) * size, chunks.count)
    }

    func bytes(ofPart part: UInt64) -> UInt64 {
        let chunk = UInt64(Limits.assetChunkBytes + (chunks.isSealed ? ChunkAEAD.tagBytes : 0))
        let range = chunks(ofPart: part)
        return min(range.upperBound * chunk, chunks.contentBytes) - range.lowerBound * chunk
    }

    func content() throws(SealKitError) -> Asset.Remote.Content {
        let (file, root) = (chunks.file, try chunks.root())
        guard chunks.isSealed else { return .plain(PublicAsset(size: file.size, root: root)) }
        return .sealed(SealedAsset(fileKey: fileKey, size: file.size, salt: salt, chunkCount: chunks.count, root: root))
    }
}

extension AssetUploads {
    /// - Parameter progress: bytes of chunks that the server has.
    func uploadInParts(
        _ file: AssetFile, for field: (id: Record.ID, key: String), progress: @escaping @Sendable (Int64) -> Void
    ) async throws(SealKitError) -> AssetUpload {
        let (key, unsaved) = (self.key(of: file, for: field), database.core.unsavedUploads)
        let upload: AssetUpload
        /// The answer to its end was lost, or the process was ended before it was noted.
        var mayBeFinished = false
        /// The file was held against what may have been sent.
        var isCompared = false
        if let kept = unsaved.take(key) {
            (upload, mayBeFinished) = (kept, kept.chunks.areRead)
        } else if let kept = try await keptUpload(of: file, for: field, isSealed: database.scope != .public) {
            (upload, mayBeFinished, isCompared) = (kept, true, true)
        } else {
            upload = AssetUpload(file, isSealed: database.scope != .public)
            try await note(upload, for: field)
        }
        do {
            if mayBeFinished, try await isFinished(upload) {
                if !isCompared { try upload.chunks.readAll() }
            } else {
                try await send(upload, progress: progress)
            }
            return upload
        } catch {
            if error.mayGoOn {
                var abandon: (@Sendable () async -> Void)?
                if journal == nil { abandon = { await self.abandon(upload) } }
                unsaved.keep(upload, key, abandon: abandon)
            } else {
                await abandon(upload)
            }
            throw error
        }
    }

    /// Notes an upload before its first byte leaves this device: all of it is sealed once for that.
    private func note(_ upload: AssetUpload, for field: (id: Record.ID, key: String)) async throws(SealKitError) {
        guard let journal else { return }
        try upload.chunks.readAll()
        try await journal.note(
            .begun(
                fileKey: upload.fileKey, salt: upload.salt, id: upload.id, size: upload.chunks.file.size,
                root: try upload.chunks.root()), of: .init(recordID: field.id, key: field.key))
    }

    /// What another process has begun, if the file has the very bytes that it had then; otherwise that is given up.
    private func keptUpload(
        of file: AssetFile, for field: (id: Record.ID, key: String), isSealed: Bool
    ) async throws(SealKitError) -> AssetUpload? {
        guard
            case .begun(let fileKey, let salt, let id, let size, let root)? =
                journal?.begun(.init(recordID: field.id, key: field.key))
        else { return nil }
        let upload = AssetUpload(file, isSealed: isSealed, fileKey: fileKey, salt: salt, id: id)
        if file.size == size {
            try upload.chunks.readAll()
            if try upload.chunks.root() == root { return upload }
        }
        await abandon(upload)
        return nil
    }

    /// Beside why the upload ended, which a failure of this must not hide: what gets no part any more the server gives
    /// up within a day by itself.
    private func abandon(_ upload: AssetUpload) async {
        _ = try? await call(Endpoints.assets.abandon, upload, Sealkit_V1_AbandonUploadRequest())
    }

    /// Whether the server has all of it, and takes that for the whole. To begin it once more would be refused then.
    private func isFinished(_ upload: AssetUpload) async throws(SealKitError) -> Bool {
        do throws(SealKitError) {
            try await finish(upload)
            return true
        } catch let error where !error.mayGoOn {
            return false
        }
    }

    private func finish(_ upload: AssetUpload) async throws(SealKitError) {
        let root = try upload.chunks.root()
        let finish = Sealkit_V1_FinishUploadRequest.with { $0.root = Data(root.bytes) }
        _ = try await call(Endpoints.assets.finish, upload, finish)
    }

    /// More often than once only where the server has given the upload up meanwhile.
    private static let rounds = 3

    private func send(
        _ upload: AssetUpload, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(SealKitError) {
        for round in 1... {
            do {
                let present = try await begin(upload)
                try await sendParts(of: upload, but: present, progress: progress).get()
                try await finish(upload)
                return
            } catch let error where error.code == .assetNotAvailable && round < Self.rounds {
                continue
            }
        }
    }

    /// How many parts are under way. While one is sealed and sent the server makes those before it durable.
    private static let partsUnderWay = 3

    /// The parts in their order, each sealed and sent after the one before it.
    private func sendParts(
        of upload: AssetUpload, but present: Set<UInt64>, progress: @escaping @Sendable (Int64) -> Void
    ) async -> Result<Void, SealKitError> {
        await withTaskGroup(of: (part: UInt64, result: Result<Void, SealKitError>).self) { group in
            var underWay: Set<UInt64> = []
            /// Waits until so few are under way. Where one fails those before it may still arrive; one after it is of
            /// no use.
            func wait(for count: Int) async -> Result<Void, SealKitError> {
                var outcome = Result<Void, SealKitError>.success(())
                while underWay.count > (outcome.isFailure ? 0 : count), let (part, result) = await group.next() {
                    underWay.remove(part)
                    guard result.isFailure, !outcome.isFailure else { continue }
                    outcome = result
                    if underWay.contains(where: { $0 > part }) { group.cancelAll() }
                }
                return outcome
            }
            for part in 0..<upload.partCount {
                let before = Int64(
                    part * UInt64(Limits.assetPartChunks)
                        * (upload.bytes(ofPart: 0) / UInt64(Limits.assetPartChunks)))
                var isRead = false
                if !present.contains(part) {
                    let (reading, note) = AsyncStream<Void>.makeStream()
                    underWay.insert(part)
                    group.addTask {
                        defer { note.finish() }
                        do throws(SealKitError) {
                            try await send(part, of: upload, progress: { progress(before + $0) }) {
                                note.yield()
                                note.finish()
                            }
                            return (part, .success(()))
                        } catch {
                            return (part, .failure(error))
                        }
                    }
                    for await _ in reading { isRead = true }
                    // One that was not read to its end has failed, or had its answer before.
                    let outcome = await wait(for: isRead ? Self.partsUnderWay - 1 : 0)
                    guard !outcome.isFailure else { return outcome }
                }
                // The next one's chunks come after all of this one's.
                if !isRead {
                    do throws(SealKitError) { try check(upload, part) } catch {
                        group.cancelAll()
                        _ = await wait(for: 0)
                        return .failure(error)
                    }
                    progress(before + Int64(upload.bytes(ofPart: part)))
                }
            }
            return await wait(for: 0)
        }
    }

    private func call<Request: Message, Response: Message>(
        _ endpoint: Endpoint<InAnyDatabase, Request, Response>, _ upload: AssetUpload, _ request: Request
    ) async throws(SealKitError) -> Response {
        try await database.core.account.call(
            endpoint, at: database.assetPath(endpoint.route, of: upload.id.hex, in: scope), request)
    }

    /// Begins, or learns what of it the server has.
    private func begin(_ upload: AssetUpload) async throws(SealKitError) -> Set<UInt64> {
        let request = Sealkit_V1_BeginUploadRequest.with { $0.contentBytes = upload.chunks.contentBytes }
        let state = try await call(Endpoints.assets.begin, upload, request)
        guard state.contentBytes == upload.chunks.contentBytes, Int(state.partChunks) == Limits.assetPartChunks,
            UInt64(state.partCount) == upload.partCount
        else {
            throw SealKitError(.incompatibleVersion, "the server takes parts of another size", remedy: "update SealKit")
        }
        var present: Set<UInt64> = []
        var next: UInt64 = 0
        for range in state.parts {
            let (first, count) = (UInt64(range.first), UInt64(range.count))
            // In their order, so that nobody is told of the same part again and again.
            guard first >= next, count > 0, first + count <= upload.partCount else {
                throw SealKitError(
                    .serverRejectedRequest, "the server says that it has parts which there are not, or twice")
            }
            next = first + count
            present.formUnion(first..<next)
        }
        return present
    }

    /// The file has still the bytes that were sent as this part.
    private func check(_ upload: AssetUpload, _ part: UInt64) throws(SealKitError) {
        let range = upload.chunks(ofPart: part)
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Int(AssetChunks.atOnce)) {
            _ = try upload.chunks.read(start..<min(start + AssetChunks.atOnce, range.upperBound))
        }
    }

    private func send(
        _ part: UInt64, of upload: AssetUpload, progress: @escaping @Sendable (Int64) -> Void,
        hasRead: @escaping @Sendable () -> Void
    ) async throws(SealKitError) {
        let length = Int64(upload.bytes(ofPart: part)) + Int64(Digest.byteCount)
        let path = database.partPath(part, of: upload.id.hex, in: scope)
        try await database.core.account.exchange(Endpoints.assets.part.route, .read) { token throws(SealKitError) in
            let stream = AssetStream(
                upload.chunks, upload.chunks(ofPart: part), tail: .root, progress: progress, hasRead: hasRead)
            try await send(stream, length: length, to: path, token: token)
        }
    }
}

extension SealKitError {
    /// What was sent of an upload is good still.
    fileprivate var mayGoOn: Bool {
        switch code {
        case .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable, .requestRateLimited,
            .zoneBusy,
            .operationCancelled, .storageFull, .sessionExpired, .accountTemporarilyUnavailable:
            true
        default: false
        }
    }
}
