import HTTPTypes
import Hummingbird
import SealPrimitives
import SealService
import SealStorage
import SealWire

/// Uploads in parts: `…/assets/{owner}/{zone}/{id}/begin`, `…/parts` with `…/parts/{number}`, `…/finish` and
/// `…/abandon`.
struct UploadsController: Sendable {
    let transactions: Transactions
    let uploading: PartedUpload
    let blobs: any BlobStore
    let transfers: Transfers

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.assets.begin) { message, call in
            try await uploading.begin(
                try AssetPlace(call.path, call.context), by: call.session, content: message.contentBytes)
        }
        router.on(Endpoints.assets.parts) { call in
            try await uploading.state(try AssetPlace(call.path, call.context), by: call.session)
        }
        router.on(Endpoints.assets.part, raw: { try await part($0) })
        router.on(Endpoints.assets.finish) { try await finish($0, $1) }
        router.on(Endpoints.assets.abandon) { _, call in
            try await uploading.abandon(try AssetPlace(call.path, call.context), by: call.session)
            return Sealkit_V1_AbandonUploadResponse()
        }
    }

    private func part(_ call: DatabaseCall) async throws -> Response {
        let place = try AssetPlace(call.path, call.context)
        guard let text = call.context.pathParameters["part"], let number = Int64(text), number >= 0,
            String(number) == text
        else { throw PartedUpload.noSuchPart }
        let part = try await uploading.part(number, of: place, by: call.session)
        try uploading.check(announced: call.request.headers.value(of: .contentLength), of: part)
        let body = SessionBody(
            body: call.request.body, session: call.session, transactions: transactions, transfers: transfers,
            context: call.context, pace: .part,
            mostHeld: blobs.mostHeld)
        try await uploading.take(part, of: place, by: call.session, body)
        return Response(status: .created, headers: [.cacheControl: "no-store", .contentLength: "0"])
    }

    private func finish(
        _ message: Sealkit_V1_FinishUploadRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_FinishUploadResponse {
        let place = try AssetPlace(call.path, call.context)
        guard let root = try? Digest(message.root) else {
            throw ServerError(
                .invalidArguments, "A root has 32 bytes.", remedy: "Send that of the tree over all chunks.")
        }
        try await uploading.finish(place, by: call.session, root: root)
        return Sealkit_V1_FinishUploadResponse()
    }
}
