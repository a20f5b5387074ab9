import HTTPTypes
import Hummingbird
import Logging
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Uploads of whole assets, and downloads: `…/assets/{owner}/{zone}/{id}`. The server hashes every chunk as it comes,
/// sealed or, in the public database, not: what was altered on its way is refused before anybody believes that it is
/// there.
struct AssetsController: Sendable {
    /// What an upload holds in memory: it goes to disk as it comes.
    private static let mostHeld = 4 << 20

    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let rosters: RosterCache
    let schemas: SchemaStore
    let blobs: any BlobStore
    let logger: Logger
    let transfers: Transfers
    let maximumAssetSize: Int64

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.assets.upload, raw: { try await upload($0) })
        router.on(Endpoints.assets.download, raw: { try await download($0) })
    }

    private func upload(_ call: DatabaseCall) async throws -> Response {
        let (session, path) = (call.session, call.path)
        let (zoneID, id) = try Self.place(call.context)
        // What is sealed is padded, and never empty.
        let least: Int64 = path.database == .public ? 0 : 1
        guard let length = call.request.headers[.contentLength].flatMap({ Int64($0) }), length >= least else {
            throw ServerError(
                .invalidArguments, "An upload must announce its length.", remedy: "Send a Content-Length header.",
                status: .lengthRequired)
        }
        guard length <= maximumAssetSize else { throw Self.tooLarge(most: maximumAssetSize) }
        let layout = try UploadLayout(blobBytes: length, isSealed: path.database != .public)
        var generator = SystemRandomNumberGenerator()
        let stored = BlobID(random: &generator)
        let now = clock()
        // The id is taken before the first byte, so that an upload that a crash cuts short is found again.
        let (caller, zone) = try await transactions.write(as: session, at: .everything) {
            connection -> (Caller, ZoneRow) in
            let (caller, zone) = try Self.writable(zoneID, session, path, opens: true, rosters, connection)
            try Blobs.begin(
                id, stored: stored, announced: length, content: nil, in: zone, by: caller, limits: rates.limits,
                quotas: quotas,
                now: now, connection)
            return (caller, zone)
        }
        do {
            let check = AssetCheck(layout)
            let body = SessionBody(
                body: call.request.body, session: session, transactions: transactions, transfers: transfers,
                context: call.context, pace: .asset,
                mostHeld: Self.mostHeld)
            let size = try await blobs.receive(stored, from: body, limit: length) { check.take($0) }
            guard size == length else {
                throw ServerError(
                    .invalidArguments, "The upload is shorter than announced; nothing was kept.",
                    remedy: "Upload it again.")
            }
            let root = try check.root()
            try await transactions.write(as: session, at: .everything) { connection in
                // A removal during the upload ends it, as the end of the session does.
                let (current, _) = try Self.writable(zoneID, session, path, rosters, connection)
                guard current.id == caller.id,
                    try Blobs.finish(id, stored: stored, size: size, root: root, in: zone, connection)
                else {
                    throw Zones.notFound
                }
            }
        } catch {
            await discard(id, stored, zone)
            throw error
        }
        return Response(status: .created, headers: [.cacheControl: "no-store", .contentLength: "0"])
    }

    private func download(_ call: VisitorCall) async throws -> Response {
        let (session, path) = (call.session, call.path)
        let (zoneID, id) = try Self.place(call.context)
        let blob = try await transactions.read { connection -> Blobs.Row in
            let (zone, rights) = try Zones.readable(zoneID, by: session, path, schemas, in: connection)
            guard let blob = try Blobs.find(id, in: zone, connection), blob.size != nil else { throw Self.notFound }
            guard let record = blob.record else {
                // Nobody's yet: the uploader's.
                let caller = try session.map { try Caller($0, container: path.container, in: connection) }
                guard blob.uploader == caller?.id else { throw Self.notFound }
                return blob
            }
            if zone.visibleShares != nil {
                guard let record = try StoredRecord.find(record, in: zone, connection), !record.isDeleted else {
                    throw Self.notFound
                }
            }
            if let rights {
                guard let record = try StoredRecord.find(record, in: zone, connection) else { throw Self.notFound }
                if let refusal = rights.refusalToRead(try Statement(canonicalBytes: record.statement)) { throw refusal }
            }
            return blob
        }
        let size = blob.size ?? 0
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .acceptRanges: "bytes", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        switch ByteRange(call.request.headers[.range], size: size) {
        case .all:
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody(try await blobs.read(blob.stored, range: nil)))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Response(
                status: .partialContent, headers: headers,
                body: ResponseBody(try await blobs.read(blob.stored, range: range)))
        case .unsatisfiable:
            throw ServerError(
                .invalidArguments, "The range lies outside the asset.", remedy: "The asset has \(size) bytes.",
                status: .rangeNotSatisfiable)
        }
    }

    private static let notFound = ServerError(
        .assetNotAvailable, "The zone has no such asset.",
        remedy: "Fetch the record again: it may refer to another asset now.")

    /// The zone and blob that the path names; `-` stands for the caller as owner.
    static func place(_ context: SealRequestContext) throws(ServerError) -> (Sealkit_V1_ZoneID, String) {
        guard let owner = PercentEncoding.decode(context.parameters.get("owner") ?? ""),
            let zone = PercentEncoding.decode(context.parameters.get("zone") ?? ""), Names.isPlain(zone),
            Names.isPlain(owner),
            let id = context.parameters.get("id"), id.utf8.count == 32, BlobID(id) != nil
        else {
            throw ServerError(
                .invalidArguments, "The path does not name an asset.",
                remedy: "Use assets/{owner or -}/{zone}/{32 lower-case hexadecimal digits}.")
        }
        let zoneID = Sealkit_V1_ZoneID.with {
            $0.ownerName = owner == "-" ? "" : owner
            $0.zoneName = zone
        }
        return (zoneID, id)
    }

    /// The zone, and who may upload to it.
    /// - Parameter opens: makes a public database's zone where nobody has written yet.
    static func writable(
        _ id: Sealkit_V1_ZoneID, _ session: Session, _ path: DatabasePath, opens: Bool = false, _ rosters: RosterCache,
        _ connection: any SQLConnection
    ) throws -> (Caller, ZoneRow) {
        let caller = try Caller(session, container: path.container, in: connection)
        let zone = try Zones.visible(id, to: caller, path, in: connection)
        // Which record it will be for, and whether the caller may write that one, shows when that is saved.
        if path.database == .public { return (caller, opens ? try PublicZone.open(path, in: connection) : zone) }
        let mayWrite: Bool =
            if case .shares(let shares, _) = zone.sight {
                try shares.contains {
                    try rosters.roster(of: $0, in: connection).permission(of: caller.userID) == .readWrite
                }
            } else {
                try rosters.roster(of: ScopeRow(zone), in: connection).permission(of: caller.userID) == .readWrite
            }
        guard mayWrite else { throw ZoneRosters.mayOnlyRead }
        return (caller, zone)
    }

    /// Best effort: what stays behind is swept after a day.
    private func discard(_ id: String, _ stored: BlobID, _ zone: ZoneRow) async {
        do {
            try await transactions.write(at: .everything) { try Blobs.cancel(id, stored: stored, in: zone, $0) }
            try await blobs.delete(stored)
        } catch {
            logger.warning("a failed upload could not be cleared", metadata: ["error": "\(error)"])
        }
    }

    /// - Parameter most: in bytes.
    static func tooLarge(most: Int64) -> ServerError {
        ServerError(
            .limitExceeded, "An asset has at most \(most) bytes on this server.",
            remedy: "Ask the server's operator to raise the limit, or store a smaller asset.")
    }
}
