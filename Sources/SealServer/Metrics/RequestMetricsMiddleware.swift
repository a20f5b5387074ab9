import HTTPTypes
import Hummingbird
import SealStorage

/// Counts each request by its endpoint and its status, and the time until its answer was ready.
struct RequestMetricsMiddleware: RouterMiddleware {
    let metrics: ServerMetrics

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard metrics.isOn else { return try await next(request, context) }
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let name = context.endpointName
        metrics.count(.requests, name, String(response.status.code))
        metrics.time(.requestSeconds, name, microseconds: (ContinuousClock.now - start).microseconds)
        return response
    }
}
