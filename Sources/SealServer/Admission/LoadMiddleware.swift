import HTTPTypes
import Hummingbird
import SealWire

/// Lets requests in as far as there is room for them, and puts the limit of wire messages into each one's context. What
/// comes of a request is counted where it is read.
struct LoadMiddleware: RouterMiddleware {
    let gate: LoadGate
    let transfers: Transfers
    let isBehindProxy: Bool
    /// In bytes.
    let maximumMessageSize: Int

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.transfers = transfers
        context.client = ClientAddress.subject(
            of: request, context, isBehindProxy: isBehindProxy)
        context.maxUploadSize = maximumMessageSize
        // Load balancers ask whether the server is alive, not whether it is busy.
        guard context.endpointPath != Endpoints.server.health.route.template else {
            return try await next(request, context)
        }
        let pass = try gate.enter(context.client)
        defer { pass.end() }
        context.pass = pass
        if !context.isRead { try pass.requireRoomForAnswer() }
        var response = try await next(request, context)
        // Downloads of assets are read as they are taken: those that are not small have asked for their room.
        if let count = response.body.contentLength, count > LoadGate.countedAnswer,
            context.endpointPath != Endpoints.assets.download.route.template
        {
            let hold = try pass.hold(answer: count, isDone: !context.isRead)
            let body = response.body
            response.body = ResponseBody(contentLength: count) {
                [transfers, channel = context.channel] writer in
                let transfer = transfers.begin(.answer(bytes: count), on: channel)
                defer { transfer.end() }
                try await body.write(writer)
                withExtendedLifetime(hold) {}
            }
        }
        return response
    }
}
