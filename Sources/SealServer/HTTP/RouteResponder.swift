import HTTPTypes
import Hummingbird

/// Answers whatever comes: by the route's handler, or as `notFound`, in both cases behind all middleware.
struct RouteResponder: HTTPResponder {
    private let routes: RouteTable
    private let handle: @Sendable (Request, SealRequestContext, RouteTable.Handler) async throws -> Response

    init<Middleware: RouterMiddleware>(
        _ routes: RouteTable,
        @MiddlewareFixedTypeBuilder<Request, Response, SealRequestContext> middleware: () -> Middleware
    ) where Middleware.Context == SealRequestContext {
        self.routes = routes
        let middleware = middleware()
        handle = { try await middleware.handle($0, context: $1, next: $2) }
    }

    func respond(to request: Request, context: SealRequestContext) async throws -> Response {
        guard let match = routes.find(request.uri.path), let served = match.methods[request.method] else {
            return try await handle(request, context) { _, _ in throw HTTPError(.notFound) }
        }
        var context = context
        context.pathParameters = match.parameters
        context.coreContext.endpointPath.value = match.template
        context.endpointName = served.name
        return try await handle(request, context, served.handler)
    }
}
