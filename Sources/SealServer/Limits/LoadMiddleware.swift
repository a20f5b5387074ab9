import HTTPTypes
import Hummingbird

/// Lets requests in as far as there is room for them, and puts the limit of wire messages into each one's context.
struct LoadMiddleware: RouterMiddleware {
    /// What an upload holds in memory: it goes to disk as it comes.
    private static let uploadBytes = 4 << 20
    /// What a part of one does: it is held against its hash before anything is written.
    private static let partBytes = 9 << 20

    let services: Services

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.maxUploadSize = services.configuration.maximumMessageSize
        // Load balancers ask whether the server is alive, not whether it is busy.
        guard context.endpointPath != "/health" else { return try await next(request, context) }
        var response: Response
        do {
            let pass = try services.gate.enter(bytes: bytes(of: request, at: context.endpointPath))
            defer { withExtendedLifetime(pass) {} }
            response = try await next(request, context)
        }
        // Downloads of assets are read as they are taken.
        if let count = response.body.contentLength, count > LoadGate.countedAnswer, context.endpointPath?.contains("/assets/") != true {
            let pass = try services.gate.hold(answer: count)
            let body = response.body
            response.body = ResponseBody(contentLength: count) { writer in
                try await body.write(writer)
                withExtendedLifetime(pass) {}
            }
        }
        return response
    }

    /// How much of the request will be in memory at once.
    private func bytes(of request: Request, at path: String?) -> Int {
        if request.method == .get || request.method == .head { return 0 }
        let upload = path?.contains("/parts/") == true ? Self.partBytes : Self.uploadBytes
        let most = request.method == .put ? upload : services.configuration.maximumMessageSize
        // A longer body is refused before it is read.
        return min(request.headers[.contentLength].flatMap { Int($0) }.map { max(0, $0) } ?? most, most)
    }
}
