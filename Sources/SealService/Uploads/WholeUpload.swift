package import Logging
package import NIOCore
import SealStatements
package import SealStorage
import SealWire

/// Uploads an asset in one request. Its id is taken before the first byte, so that one that a crash cuts short is found
/// again; every chunk is hashed as it comes, so that what was altered on its way is refused before anybody believes
/// that it is there.
package struct WholeUpload: Sendable {
    private let transactions: Transactions
    private let rosters: RosterCache
    private let blobs: any BlobStore
    private let quotas: Quotas
    private let limits: AbuseLimits
    private let logger: Logger
    private let maximumAssetSize: Int64

    package init(
        transactions: Transactions, rosters: RosterCache, blobs: any BlobStore, quotas: Quotas, limits: AbuseLimits,
        logger: Logger, maximumAssetSize: Int64
    ) {
        self.transactions = transactions
        self.rosters = rosters
        self.blobs = blobs
        self.quotas = quotas
        self.limits = limits
        self.logger = logger
        self.maximumAssetSize = maximumAssetSize
    }

    /// - Parameters:
    ///   - length: as announced.
    ///   - now: microseconds since 1970.
    package func run(
        _ place: AssetPlace, by session: Session, length: Int64, now: Int64,
        _ body: some AsyncSequence<ByteBuffer, any Error>
    ) async throws {
        guard length <= maximumAssetSize else { throw AssetPlace.tooLarge(most: maximumAssetSize) }
        let layout = try UploadLayout(blobBytes: length, isSealed: place.path.database != .public)
        var generator = SystemRandomNumberGenerator()
        let stored = BlobID(random: &generator)
        let (caller, home) = try await transactions.write(as: session, in: place.zone, place.path) {
            [rosters, limits, quotas] connection, beginning -> (Caller, UploadHome) in
            let (caller, zone) = try place.writable(by: session, opens: true, rosters, connection)
            try beginning?.check(zone)
            try Blobs.begin(
                place.id, stored: stored, announced: length, content: nil, in: zone, by: caller, limits: limits,
                quotas: quotas, now: now, connection)
            return (caller, try UploadHome(zone, by: session, caller, in: connection))
        }
        do {
            let check = AssetCheck(layout)
            let size = try await blobs.receive(stored, from: body, limit: length) { check.take($0) }
            guard size == length else {
                throw ServerError(
                    .invalidArguments, "The upload is shorter than announced; nothing was kept.",
                    remedy: "Upload it again.")
            }
            let root = try check.root()
            try await transactions.write(as: session, at: home.own, beside: home.beside) { [rosters] connection in
                // A removal during the upload ends it, as the end of the session does.
                let (current, _) = try place.writable(by: session, rosters, connection)
                guard current.id == caller.id,
                    try Blobs.finish(place.id, stored: stored, size: size, root: root, in: home.zone, connection)
                else { throw Zones.notFound }
            }
        } catch {
            await discard(place.id, stored, home)
            throw error
        }
    }

    /// Best effort: a row that stays is swept after a day. The file is garbage from the moment on that no row names it,
    /// whatever comes between.
    private func discard(_ id: String, _ stored: BlobID, _ home: UploadHome) async {
        do {
            try await transactions.write(at: home.own, beside: home.beside) {
                try Blobs.discard(id, stored: stored, in: home.zone, $0)
            }
            try await blobs.delete(stored)
            try await transactions.write(at: home.own, beside: home.beside) { try Blobs.forget(stored, in: $0) }
        } catch {
            logger.warning("a failed upload could not be cleared", metadata: ["error": "\(error)"])
        }
    }
}
