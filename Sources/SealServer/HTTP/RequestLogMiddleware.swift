import Hummingbird
import Logging

/// One log line a request: what was asked for (the route's template, so that no id from a path is kept), how it ended,
/// how long it took, and which operation group it belongs to. Never bodies, query strings or headers, but for the
/// digits that name the group.
struct RequestLogMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard context.logger.logLevel <= .info else { return try await next(request, context) }
        let start = ContinuousClock.now
        let response = try await next(request, context)
        var metadata = context.logged(request)
        metadata["status"] = .stringConvertible(response.status.code)
        metadata["milliseconds"] = .stringConvertible(Self.milliseconds(ContinuousClock.now - start))
        if let group = OperationGroupHeader(request) { metadata.merge(group.metadata) { $1 } }
        context.logger.info("request", metadata: metadata)
        return response
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return (Double(seconds) * 1000 + Double(attoseconds) / 1e15 * 1000).rounded() / 1000
    }
}
