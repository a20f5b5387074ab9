package import Logging
package import NIOCore
package import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// Uploads an asset in parts.
///
/// A part is taken as a whole or not at all, in any order; which are there survives whatever becomes of connection,
/// session and server. The same account goes on with it, in the same zone, by the same id.
package struct PartedUpload: Sendable {
    private let transactions: Transactions
    private let rosters: RosterCache
    private let blobs: any BlobStore
    private let quotas: Quotas
    private let limits: AbuseLimits
    private let jobs: Jobs
    /// Microseconds since 1970.
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let maximumAssetSize: Int64
    private let turns = PartTurns()

    package init(
        transactions: Transactions, rosters: RosterCache, blobs: any BlobStore, quotas: Quotas, limits: AbuseLimits,
        jobs: Jobs, clock: @escaping @Sendable () -> Int64, logger: Logger, maximumAssetSize: Int64
    ) {
        self.transactions = transactions
        self.rosters = rosters
        self.blobs = blobs
        self.quotas = quotas
        self.limits = limits
        self.jobs = jobs
        self.clock = clock
        self.logger = logger
        self.maximumAssetSize = maximumAssetSize
    }

    /// The upload's rows, where the caller may still write to the zone.
    private func uploads(
        _ place: AssetPlace, _ session: Session, begins: Bool = false, _ connection: any SQLConnection
    ) throws -> (uploads: Uploads, caller: Caller) {
        let (caller, zone) = try place.writable(by: session, opens: begins, rosters, connection)
        return (Uploads(id: place.id, zone: zone, connection: connection), caller)
    }

    /// - Parameter content: how many bytes the asset has before it is sealed.
    package func begin(
        _ place: AssetPlace, by session: Session, content: UInt64
    ) async throws -> Sealkit_V1_UploadState {
        guard let bytes = Int64(exactly: content), bytes <= maximumAssetSize else {
            throw AssetPlace.tooLarge(most: maximumAssetSize)
        }
        let layout = try UploadLayout(contentBytes: bytes, isSealed: place.path.database != .public)
        guard layout.blobBytes <= maximumAssetSize else { throw AssetPlace.tooLarge(most: maximumAssetSize) }
        var generator = SystemRandomNumberGenerator()
        let (stored, now) = (BlobID(random: &generator), clock())
        let (row, needsFile, answer) = try await transactions.write(as: session, in: place.zone, place.path) {
            connection, home in
            let (uploads, caller) = try uploads(place, session, begins: true, connection)
            try home?.check(uploads.zone)
            let (row, needsFile) = try uploads.begin(
                layout, stored: stored, by: caller, limits: limits, quotas: quotas, now: now)
            return (row, needsFile, try uploads.wire(row))
        }
        // Also where an earlier beginning was cut short between its row and its file.
        if needsFile { try await blobs.beginParts(row.stored) }
        return answer
    }

    package func state(_ place: AssetPlace, by session: Session) async throws -> Sealkit_V1_UploadState {
        try await transactions.read { connection in
            let (uploads, caller) = try uploads(place, session, connection)
            return try uploads.wire(try uploads.open(of: caller))
        }
    }

    // MARK: Parts

    /// A part that the upload waits for.
    package struct Part: Sendable {
        fileprivate let number: Int64
        fileprivate let upload: Uploads.Row
        fileprivate let home: UploadHome
        fileprivate let range: Range<Int64>

        /// What is to come: the part's bytes, and a hash behind them.
        package var length: Int64 { Int64(range.count) + Int64(Digest.byteCount) }
    }

    /// - Throws: `invalidArguments` for a part that there is not.
    package func part(_ number: Int64, of place: AssetPlace, by session: Session) async throws -> Part {
        let (row, home) = try await transactions.read { connection in
            let (uploads, caller) = try uploads(place, session, connection)
            let row = try uploads.open(of: caller)
            return (row, try UploadHome(uploads.zone, by: session, caller, in: connection))
        }
        guard number < row.layout.partCount else { throw Self.noSuchPart }
        return Part(number: number, upload: row, home: home, range: row.layout.range(ofPart: number))
    }

    package static let noSuchPart = ServerError(
        .invalidArguments, "The upload has no such part.", remedy: "Count parts from 0, as many as its state says.")

    /// - Throws: `invalidArguments` for another length than announced.
    package func check(announced length: String?, of part: Part) throws(ServerError) {
        guard length == String(part.length) else {
            throw ServerError(
                .invalidArguments, "This part has \(part.range.count) bytes and a hash of 32 behind them.",
                remedy: "Send a Content-Length of \(part.length), and so many bytes.")
        }
    }

    /// Writes it as it comes. What is there already is held against it, and not written again.
    /// - Throws: `assetFileModified` for other bytes than those that came before; `zoneBusy` where a newer request with
    ///   the same part has not stored it either.
    package func take(
        _ part: Part, of place: AssetPlace, by session: Session,
        _ body: some AsyncSequence<ByteBuffer, any Error>
    ) async throws {
        let turn = await turns.take(part.number, of: part.upload.stored)
        do {
            try await take(part, in: turn, of: place, by: session, body)
            await turns.giveUp(turn)
        } catch {
            await turns.giveUp(turn)
            throw error
        }
    }

    private func take(
        _ part: Part, in turn: PartTurns.Turn, of place: AssetPlace, by session: Session,
        _ body: some AsyncSequence<ByteBuffer, any Error>
    ) async throws {
        if let known = try await leaves(part, place, session) {
            guard try await receive(body, part) == known else { throw Uploads.otherBytes }
            return
        }
        let file: any BlobUpload
        do { file = try await blobs.beginPart(part.upload.stored, at: part.range.lowerBound) } catch BlobStoreError
            .notFound
        {
            throw Uploads.notOpen
        }
        do {
            let isFirst = await turns.begin(file, turn)
            let leaves = try await receive(body, part, into: isFirst ? file : nil)
            if await turns.store(turn) {
                // Turns are taken at this server alone: at another one other bytes may be on their way to the same
                // place, and what is written last would stand there.
                if blobs.isShared { try await reserve(part, leaves, place, session) }
                _ = try await file.finish()
                try await note(part, leaves, place, session)
            } else {
                await file.abort()
                try await waitForNewer(turn)
                guard let known = try await self.leaves(part, place, session) else { throw Self.taken }
                guard leaves == known else { throw Uploads.otherBytes }
            }
        } catch {
            await file.abort()
            throw error
        }
    }

    /// The newer request that has the part may store it soon.
    private func waitForNewer(_ turn: PartTurns.Turn) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while await turns.isTaken(turn), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
    }

    private static let taken = ServerError(
        .zoneBusy, "The same part is being sent by a newer request.", remedy: "Ask for the upload's state, and go on.",
        retryAfter: 1)

    private func leaves(_ part: Part, _ place: AssetPlace, _ session: Session) async throws -> [UInt8]? {
        try await transactions.read { try open(part.upload, place, session, $0).leaves(ofPart: part.number) }
    }

    /// Nobody stores other bytes as this part from now on.
    private func reserve(
        _ part: Part, _ leaves: [UInt8], _ place: AssetPlace, _ session: Session
    ) async throws {
        try await transactions.write(as: session, at: part.home.own, beside: part.home.beside) {
            try open(part.upload, place, session, $0).reserve(part.number, leaves: leaves)
        }
    }

    /// Its bytes are on the disk.
    private func note(_ part: Part, _ leaves: [UInt8], _ place: AssetPlace, _ session: Session) async throws {
        let now = clock()
        try await transactions.write(as: session, at: part.home.own, beside: part.home.beside) {
            try open(part.upload, place, session, $0).stored(part.number, leaves: leaves, now: now)
        }
    }

    /// The upload's rows, as long as it is this one: given up and begun anew it would be another.
    private func open(
        _ upload: Uploads.Row, _ place: AssetPlace, _ session: Session, _ connection: any SQLConnection
    ) throws -> Uploads {
        let (uploads, caller) = try uploads(place, session, connection)
        guard try uploads.open(of: caller).stored == upload.stored else { throw Uploads.notOpen }
        return uploads
    }

    /// Takes in a part, held against the hash behind it.
    /// - Parameter file: what takes the bytes as they come, until it is ended by whoever sends the same part.
    /// - Returns: the part's leaves.
    /// - Throws: `invalidArguments` for another number of bytes; `assetFileModified`.
    private func receive(
        _ body: some AsyncSequence<ByteBuffer, any Error>, _ part: Part, into file: (any BlobUpload)? = nil
    ) async throws -> [UInt8] {
        var file = file
        let count = part.range.count
        let hash = ChunkHash(bytes: Int64(count), chunkBytes: part.upload.layout.chunkBytes)
        var received = 0
        var root = ByteBuffer()
        for try await var buffer in body {
            guard received + buffer.readableBytes <= count + Digest.byteCount else { throw Self.wrongLength }
            if var content = buffer.readSlice(length: min(buffer.readableBytes, max(0, count - received))) {
                received += content.readableBytes
                do { try await file?.append(content) } catch BlobStoreError.uploadEnded { file = nil }
                hash.take(&content)
            }
            received += buffer.readableBytes
            root.writeImmutableBuffer(buffer)
        }
        guard received == count + Digest.byteCount else { throw Self.wrongLength }
        guard try AssetTree.root(hash.leaves).bytes == Array(root.readableBytesView) else {
            throw ServerError.alteredUpload
        }
        return hash.leaves.flatMap(\.bytes)
    }

    private static let wrongLength = ServerError(
        .invalidArguments, "The part is not as long as announced; nothing of it was kept.", remedy: "Send it again.")

    // MARK: The end

    /// - Parameter root: of the tree over all chunks.
    package func finish(_ place: AssetPlace, by session: Session, root: Digest) async throws {
        let found = try await transactions.read {
            connection -> (row: Uploads.Row, leaves: [Digest], home: UploadHome)? in
            let (uploads, caller) = try uploads(place, session, connection)
            guard let row = try uploads.find(of: caller) else {
                // An answer that was lost costs nothing.
                guard try uploads.isFinished(by: caller, root: root) else { throw Uploads.notOpen }
                return nil
            }
            let home = try UploadHome(uploads.zone, by: session, caller, in: connection)
            return (row, try uploads.leaves(row), home)
        }
        guard let (row, leaves, home) = found else { return }
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
        } catch BlobStoreError.incomplete {
            // Nobody sends a part again that is there, by the rows: the client begins anew.
            try await abandon(place, by: session)
            throw Uploads.notOpen
        }
        try await note(row, root, place, session, home)
    }

    /// The whole file has its name: its row says so, or it goes.
    private func note(
        _ row: Uploads.Row, _ root: Digest, _ place: AssetPlace, _ session: Session, _ home: UploadHome
    ) async throws {
        let now = clock()
        do {
            try await transactions.write(as: session, at: home.own, beside: home.beside) { connection in
                let (uploads, caller) = try uploads(place, session, connection)
                if try uploads.isFinished(by: caller, root: root) { return }
                guard try uploads.open(of: caller).stored == row.stored else { throw Uploads.notOpen }
                try uploads.finish(row, root: root, now: now)
            }
        } catch {
            // Given up while it was published: whoever removed it then may have come too early for the name that it has
            // now.
            do {
                let isGone = try await transactions.write(at: home.own, beside: home.beside) {
                    try Blobs.discardUnknown(place.id, stored: row.stored, in: home.zone, $0)
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
    package func abandon(_ place: AssetPlace, by session: Session) async throws {
        let stored = try await transactions.write(as: session, in: place.zone, place.path) {
            connection, home -> BlobID? in
            let (uploads, caller) = try uploads(place, session, connection)
            try home?.check(uploads.zone)
            guard let row = try uploads.find(of: caller) else { return nil }
            // Whatever its file is called by now: somebody may be finishing it.
            try Blobs.discard(place.id, stored: row.stored, in: uploads.zone, connection)
            return row.stored
        }
        if stored != nil { jobs.wake(.garbage) }
    }
}
