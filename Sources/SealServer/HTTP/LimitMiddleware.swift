import Hummingbird

/// Puts the configured limit of wire messages into each request's context.
struct LimitMiddleware: RouterMiddleware {
    let maximumMessageSize: Int

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.maxUploadSize = maximumMessageSize
        return try await next(request, context)
    }
}
