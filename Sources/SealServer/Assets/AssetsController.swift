import HTTPTypes
import Hummingbird
import NIOCore
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Uploads of whole assets, and downloads: `…/assets/{owner}/{zone}/{id}`.
struct AssetsController: Sendable {
    let transactions: Transactions
    let uploading: WholeUpload
    let clock: @Sendable () -> Int64
    let schemas: SchemaStore
    let blobs: any BlobStore
    let transfers: Transfers

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.assets.upload, raw: { try await upload($0) })
        router.on(Endpoints.assets.download, raw: { try await download($0) })
    }

    private func upload(_ call: DatabaseCall) async throws -> Response {
        let place = try AssetPlace(call.path, call.context)
        // What is sealed is padded, and never empty.
        let least: Int64 = call.path.database == .public ? 0 : 1
        guard let length = call.request.headers.value(of: .contentLength).flatMap({ Int64($0) }), length >= least else {
            throw ServerError(
                .invalidArguments, "An upload must announce its length.", remedy: "Send a Content-Length header.",
                status: .lengthRequired)
        }
        let body = SessionBody(
            body: call.request.body, session: call.session, transactions: transactions, transfers: transfers,
            context: call.context, pace: .asset,
            mostHeld: blobs.mostHeld)
        try await uploading.run(place, by: call.session, length: length, now: clock(), body)
        return Response(status: .created, headers: [.cacheControl: "no-store", .contentLength: "0"])
    }

    private func download(_ call: VisitorCall) async throws -> Response {
        let place = try AssetPlace(call.path, call.context)
        let (stored, size) = try await transactions.read { [schemas] connection in
            try place.readable(by: call.session, schemas, in: connection)
        }
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .acceptRanges: "bytes", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        /// The blob as its row says that it is; bytes of another one would be taken for those of the range.
        func content(_ range: Range<Int64>?) async throws -> ResponseBody {
            let count = range.map { Int64($0.count) } ?? size
            // What is small is read at once, as any other answer is.
            let isSmall = count <= LoadGate.countedAnswer
            let held = BlobContent.mostHeld(of: count)
            let hold = isSmall ? nil : try call.context.pass?.hold(answer: held, isDone: false)
            let content = try await blobs.read(stored, range: range)
            guard content.totalSize == size else {
                throw BlobStoreError.untrue("a blob of \(content.totalSize) bytes, of which \(size) were stored")
            }
            guard isSmall else { return ResponseBody(content, within: hold, transfers, on: call.context.channel) }
            return ResponseBody(byteBuffer: try await content.chunk(at: content.range.lowerBound) ?? ByteBuffer())
        }
        switch ByteRange(call.request.headers.value(of: .range), size: size) {
        case .all:
            return Response(status: .ok, headers: headers, body: try await content(nil))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Response(status: .partialContent, headers: headers, body: try await content(range))
        case .unsatisfiable:
            throw ServerError(
                .invalidArguments, "The range lies outside the asset.", remedy: "The asset has \(size) bytes.",
                status: .rangeNotSatisfiable)
        }
    }
}
