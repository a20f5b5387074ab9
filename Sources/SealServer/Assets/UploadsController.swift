import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Uploads in parts: `…/assets/{owner}/{zone}/{id}/begin`, `…/parts` with `…/parts/{number}`, `…/finish` and
/// `…/abandon`.
///
/// A part is taken as a whole or not at all, in any order; which are there survives whatever becomes of connection,
/// session and server. The same account goes on with it, in the same zone, by the same id.
struct UploadsController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let jobs: Jobs
    let quotas: Quotas
    let rosters: RosterCache
    let blobs: any BlobStore
    let logger: Logger
    let transfers: Transfers
    let maximumAssetSize: Int64

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.assets.begin) { try await begin($0, $1) }
        router.on(Endpoints.assets.parts) { try await state($0) }
        router.on(Endpoints.assets.part, raw: { try await part($0) })
        router.on(Endpoints.assets.finish) { try await finish($0, $1) }
        router.on(Endpoints.assets.abandon) { try await abandon($0, $1) }
    }

    /// Whose upload a request is about.
    private struct Place: Sendable {
        let path: DatabasePath
        let session: Session
        let zoneID: Sealkit_V1_ZoneID
        let id: String

        init(_ call: DatabaseCall) throws {
            (path, session) = (call.path, call.session)
            (zoneID, id) = try AssetsController.place(call.context)
        }
    }

    /// The upload's rows, where the caller may still write to the zone.
    private func uploads(
        _ place: Place, begins: Bool = false, _ connection: any SQLConnection
    ) throws -> (uploads: Uploads, caller: Caller) {
        let (caller, zone) = try AssetsController.writable(
            place.zoneID, place.session, place.path, opens: begins, rosters, connection)
        return (Uploads(id: place.id, zone: zone, connection: connection), caller)
    }

    private func begin(_ message: Sealkit_V1_BeginUploadRequest, _ call: DatabaseCall) async throws
        -> Sealkit_V1_UploadState
    {
        let place = try Place(call)
        guard let bytes = Int64(exactly: message.contentBytes), bytes <= maximumAssetSize else {
            throw AssetsController.tooLarge(most: maximumAssetSize)
        }
        let layout = try UploadLayout(contentBytes: bytes, isSealed: place.path.database != .public)
        guard layout.blobBytes <= maximumAssetSize else { throw AssetsController.tooLarge(most: maximumAssetSize) }
        var generator = SystemRandomNumberGenerator()
        let (stored, now) = (BlobID(random: &generator), clock())
        let (row, needsFile, answer) = try await transactions.write(as: place.session, at: .everything) { connection in
            let (uploads, caller) = try uploads(place, begins: true, connection)
            let (row, needsFile) = try uploads.begin(
                layout, stored: stored, by: caller, limits: rates.limits, quotas: quotas, now: now)
            return (row, needsFile, try uploads.wire(row))
        }
        // Also where an earlier beginning was cut short between its row and its file.
        if needsFile { try await blobs.beginParts(row.stored) }
        return answer
    }

    private func state(_ call: DatabaseCall) async throws -> Sealkit_V1_UploadState {
        let place = try Place(call)
        let answer = try await transactions.read { connection in
            let (uploads, caller) = try uploads(place, connection)
            return try uploads.wire(try uploads.open(of: caller))
        }
        return answer
    }

    private func part(_ call: DatabaseCall) async throws -> Response {
        let place = try Place(call)
        guard let text = call.context.parameters.get("part"), let part = Int64(text), part >= 0, String(part) == text
        else {
            throw Self.noSuchPart
        }
        let row = try await transactions.read { connection in
            let (uploads, caller) = try uploads(place, connection)
            return try uploads.open(of: caller)
        }
        guard part < row.layout.partCount else { throw Self.noSuchPart }
        let range = row.layout.range(ofPart: part)
        let length = Int64(range.count) + Int64(Digest.byteCount)
        guard call.request.headers[.contentLength] == String(length) else {
            throw ServerError(
                .invalidArguments, "This part has \(range.count) bytes and a hash of 32 behind them.",
                remedy: "Send a Content-Length of \(length), and so many bytes.")
        }
        let (content, leaves) = try await receive(
            SessionBody(
                body: call.request.body, session: place.session, transactions: transactions, transfers: transfers,
                context: call.context, pace: .part,
                mostHeld: .max),
            range.count, row.layout)
        let isStored = try await transactions.write(as: place.session, at: .everything) { connection in
            let (uploads, caller) = try uploads(place, connection)
            // Given up and begun anew meanwhile, it would be another one.
            guard try uploads.open(of: caller).stored == row.stored else { throw Uploads.notOpen }
            return try uploads.claim(part, leaves: leaves)
        }
        if !isStored {
            do { try await blobs.write(content, to: row.stored, at: range.lowerBound) } catch BlobStoreError
                .notFound
            {
                throw Uploads.notOpen
            }
            let now = clock()
            try await transactions.write(as: place.session, at: .everything) { connection in
                let (uploads, caller) = try uploads(place, connection)
                guard try uploads.open(of: caller).stored == row.stored else { throw Uploads.notOpen }
                try uploads.stored(part, now: now)
            }
        }
        return Response(status: .created, headers: [.cacheControl: "no-store", .contentLength: "0"])
    }

    private static let noSuchPart = ServerError(
        .invalidArguments, "The upload has no such part.", remedy: "Count parts from 0, as many as its state says.")

    /// A part's bytes as they came, held against the hash behind them, and its leaves.
    /// - Throws: `invalidArguments` for another number of bytes; `assetFileModified`.
    private func receive(
        _ body: some AsyncSequence<ByteBuffer, any Error>, _ count: Int, _ layout: UploadLayout
    ) async throws -> (content: ByteBuffer, leaves: [UInt8]) {
        let hash = ChunkHash(bytes: Int64(count), chunkBytes: layout.chunkBytes)
        var content = ByteBufferAllocator().buffer(capacity: count + Digest.byteCount)
        for try await var buffer in body {
            guard content.readableBytes + buffer.readableBytes <= count + Digest.byteCount else {
                throw Self.wrongLength
            }
            content.writeImmutableBuffer(buffer)
            hash.take(&buffer)
        }
        guard content.readableBytes == count + Digest.byteCount,
            let root = content.getBytes(at: count, length: Digest.byteCount),
            let bytes = content.getSlice(at: 0, length: count)
        else { throw Self.wrongLength }
        guard try AssetTree.root(hash.leaves).bytes == root else { throw ServerError.alteredUpload }
        return (bytes, hash.leaves.flatMap(\.bytes))
    }

    private static let wrongLength = ServerError(
        .invalidArguments, "The part is not as long as announced; nothing of it was kept.", remedy: "Send it again.")

    private func finish(
        _ message: Sealkit_V1_FinishUploadRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_FinishUploadResponse {
        let place = try Place(call)
        guard let root = try? Digest(message.root) else {
            throw ServerError(
                .invalidArguments, "A root has 32 bytes.", remedy: "Send that of the tree over all chunks.")
        }
        let found = try await transactions.read {
            connection -> (row: Uploads.Row, leaves: [Digest], zone: ZoneRow)? in
            let (uploads, caller) = try uploads(place, connection)
            guard let row = try uploads.find(of: caller) else {
                // An answer that was lost costs nothing.
                guard try uploads.isFinished(by: caller, root: root) else { throw Uploads.notOpen }
                return nil
            }
            return (row, try uploads.leaves(row), uploads.zone)
        }
        if let (row, leaves, zone) = found {
            guard try AssetTree.root(leaves) == root else {
                throw ServerError(
                    .assetFileModified, "The parts are not those of the asset with this root.",
                    remedy: "Begin the upload anew, with another id and another key.")
            }
            var tail = ByteBuffer()
            if row.layout.isSealed { for leaf in leaves { tail.writeBytes(leaf.bytes) } }
            do {
                try await blobs.finishParts(row.stored, tail: tail, size: row.layout.blobBytes)
            } catch BlobStoreError.notFound {
                throw Uploads.notOpen
            }
            try await note(row, root, place, zone)
        }
        return Sealkit_V1_FinishUploadResponse()
    }

    /// The whole file has its name: its row says so, or it goes.
    private func note(_ row: Uploads.Row, _ root: Digest, _ place: Place, _ zone: ZoneRow) async throws {
        let now = clock()
        do {
            try await transactions.write(as: place.session, at: .everything) { connection in
                let (uploads, caller) = try uploads(place, connection)
                if try uploads.isFinished(by: caller, root: root) { return }
                guard try uploads.open(of: caller).stored == row.stored else { throw Uploads.notOpen }
                try uploads.finish(row, root: root, now: now)
            }
        } catch {
            // Given up while it was published: whoever removed it then may have come too early for the name that it has
            // now.
            do {
                let isGone = try await transactions.write(at: .everything) {
                    try Blobs.discardUnknown(place.id, stored: row.stored, in: zone, $0)
                }
                if isGone { jobs.wake(.garbage) }
            } catch {
                logger.error(
                    "a published upload could not be discarded; its file stays", metadata: ["error": "\(error)"])
            }
            throw error
        }
    }

    /// Whatever was abandoned before, or never began, is as good as abandoned.
    private func abandon(
        _ message: Sealkit_V1_AbandonUploadRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_AbandonUploadResponse {
        let place = try Place(call)
        let stored = try await transactions.write(as: place.session, at: .everything) { connection -> BlobID? in
            let (uploads, caller) = try uploads(place, connection)
            guard let row = try uploads.find(of: caller) else { return nil }
            // Whatever its file is called by now: somebody may be finishing it.
            try Blobs.discard(place.id, stored: row.stored, in: uploads.zone, connection)
            return row.stored
        }
        if stored != nil { jobs.wake(.garbage) }
        return Sealkit_V1_AbandonUploadResponse()
    }
}
