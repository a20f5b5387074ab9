import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

import struct Crypto.SHA256

/// Seals the new assets of a batch and sends them, before the records that name them.
struct AssetUploads {
    let database: Database
    let zoneID: RecordZone.ID
    let scope: SealStatements.Scope
    /// Where uploads are noted that outlive the process.
    let journal: UploadJournal?
    let progress: UploadProgress

    /// One asset that is to be sent. Its file is opened when its turn comes.
    private struct Job {
        let index: Int
        let key: String
        let url: URL
        let version: AssetFile.Version
    }

    /// - Parameter stopsAtFailure: without all of them none is of use.
    /// - Returns: the blobs that were sent by this, and why records have assets that cannot be sent.
    func uploadNew(
        in records: inout [Record], stopsAtFailure: Bool
    ) async throws(SealKitError) -> (sent: Set<String>, failures: [Record.ID: SealKitError]) {
        var jobs: [Job] = []
        var sentBlobs: Set<String> = []
        var failures: [Record.ID: SealKitError] = [:]
        for (index, record) in records.enumerated() {
            do throws(SealKitError) {
                jobs += try self.jobs(of: record, at: index)
            } catch {
                failures[record.recordID] = error
            }
        }
        guard failures.isEmpty || !stopsAtFailure else { return ([], failures) }
        let total = jobs.reduce(Int64(0)) { $0 + blobBytes($1) }
        var sent: Int64 = 0
        let totals = Dictionary(jobs.map { ($0.index, blobBytes($0)) }, uniquingKeysWith: +)
        var sentOf: [Int: Int64] = [:]
        for job in jobs {
            let before = sent
            let beforeOf = sentOf[job.index, default: 0]
            let field = (id: records[job.index].recordID, key: job.key)
            sent += blobBytes(job)
            sentOf[job.index] = beforeOf + blobBytes(job)
            let totalOf = totals[job.index, default: 0]
            let tell = { @Sendable (part: Int64) in
                progress.all?(before + part, total)
                progress.perRecord?.tell(field.id, totalOf > 0 ? Double(beforeOf + part) / Double(totalOf) : 1)
            }
            // One asset is missing already: the record is not saved.
            guard failures[field.id] == nil else { continue }
            do throws(SealKitError) {
                let (remote, isSent) = try await self.remote(of: job, for: field, progress: tell)
                if isSent { sentBlobs.insert(remote.blob) }
                tell(blobBytes(job))
                try await journal?.note(
                    .finished(remote, noted: currentTime()), of: .init(recordID: field.id, key: job.key))
                records[job.index].setRemote(remote, job.key)
            } catch {
                guard error.concernsOneAsset else { throw error }
                failures[field.id] = error
                if stopsAtFailure { return (sentBlobs, failures) }
            }
        }
        return (sentBlobs, failures)
    }

    /// What this process has sent as a whole, and no record was saved with, is not sent again, where the file has the
    /// very bytes still.
    private func remote(
        of job: Job, for field: (id: Record.ID, key: String), progress: @escaping @Sendable (Int64) -> Void
    ) async throws(SealKitError) -> (remote: Asset.Remote, isSent: Bool) {
        let file = try AssetFile(job.url)
        guard file.version == job.version else { throw file.changed }
        let key = self.key(of: file, for: field)
        let unsaved = database.core.unsavedUploads
        if let whole = unsaved.whole(key, at: currentTime()), try whole.content.isMade(of: file) {
            return (whole, false)
        }
        let remote = try await upload(file, for: field, progress: progress)
        unsaved.keep(remote, key, at: currentTime())
        return (remote, true)
    }

    func key(of file: AssetFile, for field: (id: Record.ID, key: String)) -> UnsavedUploads.Key {
        UnsavedUploads.Key(
            place: UnsavedUploads.Place(recordID: field.id, isPublic: database.scope == .public), field: field.key,
            file: file.version)
    }

    /// What an earlier process has sent as a whole is not sent again.
    func takeFinished(_ records: inout [Record]) {
        guard let journal else { return }
        let now = currentTime()
        for index in records.indices {
            for key in records[index].fields.keys {
                let field = UploadJournal.Field(recordID: records[index].recordID, key: key)
                if let remote = journal.finished(field, at: now) { records[index].setRemote(remote, key) }
            }
        }
    }

    /// What of a record is still to be sent.
    /// - Throws: `assetNotAvailable`, `assetFileNotFound`.
    private func jobs(of record: Record, at index: Int) throws(SealKitError) -> [Job] {
        var jobs: [Job] = []
        for (key, state) in record.fields {
            guard case .asset(let asset) = state else { continue }
            if asset.isStored(as: key, of: record.recordID, in: database.scope) { continue }
            guard let url = asset.fileURL else {
                throw SealKitError(
                    .assetNotAvailable,
                    "the asset \(key) of record \(record.recordID.recordName) belongs to another field",
                    remedy: "download it, and make a new Asset of the file")
            }
            jobs.append(Job(index: index, key: key, url: url, version: try AssetFile.Version(of: url)))
        }
        return jobs
    }

    private func blobBytes(_ job: Job) -> Int64 {
        database.scope == .public ? job.version.size : Int64(AssetLayout(size: UInt64(job.version.size)).blobBytes)
    }

    /// A small asset goes in one request, which starts over with another key and another blob where it breaks: what the
    /// server has of the first is garbage. A larger one goes in parts.
    private func upload(
        _ file: AssetFile, for field: (id: Record.ID, key: String), progress: @escaping @Sendable (Int64) -> Void
    ) async throws(SealKitError) -> Asset.Remote {
        let isSealed = database.scope != .public
        let upload: AssetUpload
        if AssetUpload.isInParts(file, isSealed: isSealed) {
            upload = try await uploadInParts(file, for: field, progress: progress)
        } else {
            // Every attempt takes an id of its own, and so repeats none.
            upload = try await database.core.account.exchange(Endpoints.assets.upload.route, .read) {
                token throws(SealKitError) in
                let upload = AssetUpload(file, isSealed: isSealed)
                let stream = AssetStream(
                    upload.chunks, 0..<upload.chunks.count, tail: isSealed ? .leaves : .nothing, progress: progress)
                try await send(
                    stream, length: Int64(isSealed ? file.layout.blobBytes : file.size),
                    to: database.assetPath(Endpoints.assets.upload.route, of: upload.id.hex, in: scope), token: token)
                // A server may answer before it has all of it: what is signed for is all of the file, as it was read.
                guard upload.chunks.areRead else { throw Self.answeredEarly }
                guard file.isUnchanged else { throw file.changed }
                return upload
            }
        }
        return Asset.Remote(content: try upload.content(), blob: upload.id.hex, recordID: field.id, key: field.key)
    }

    private static let answeredEarly = SealKitError(
        .serverRejectedRequest, "the server says that it has the asset before all of it was sent",
        remedy: "distrust a server that keeps doing so")

    /// - Throws: `networkFailure` where the body came too slowly as well: like a connection that broke, that says
    ///   nothing against the upload.
    func send(_ stream: AssetStream, length: Int64, to path: String, token: String) async throws(SealKitError) {
        let parts = AsyncThrowingStream<ByteBuffer, any Error>(unfolding: { try stream.next() })
        let response: TransportResponse
        do {
            response = try await database.core.account.client.transport.upload(
                path, length: length, parts: parts, token: token)
        } catch {
            // A file that changed under way shows as a broken request; its own error says more.
            throw stream.failure ?? error
        }
        // Of a body without bytes nothing is asked for; its one empty chunk has a hash all the same.
        if length == 0 { while (try? stream.next()) != nil {} }
        if let failure = stream.failure { throw failure }
        guard response.status != 408 else {
            throw SealKitError(
                .networkFailure, "the upload came too slowly for the server",
                remedy: "try again over a better connection", retryAfter: 5)
        }
        try response.require(.stored)
    }
}

extension Record {
    /// An asset of it is stored.
    fileprivate mutating func setRemote(_ remote: Asset.Remote, _ key: String) {
        guard case .asset(var asset)? = fields[key] else { return }
        asset.remote = remote
        fields[key] = .asset(asset)
    }
}

extension Database {
    /// Where the sealed bytes of an asset are, or something is done about them.
    func assetPath(_ route: Route, of blob: String, in zone: SealStatements.Scope) -> String {
        core.path(route, in: scope, assetPlace(of: blob, in: zone))
    }

    /// Where a part of an upload goes.
    func partPath(_ part: UInt64, of blob: String, in zone: SealStatements.Scope) -> String {
        core.path(
            Endpoints.assets.part.route, in: scope,
            assetPlace(of: blob, in: zone).merging(["part": String(part)]) { $1 })
    }

    private func assetPlace(of blob: String, in zone: SealStatements.Scope) -> [String: String] {
        let unescaped = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/;%"))
        let name = zone.zoneName.addingPercentEncoding(withAllowedCharacters: unescaped) ?? ""
        return ["owner": zone.owner.recordName, "zone": name, "id": blob]
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
