import HTTPTypes
import Hummingbird

/// Answers whatever comes: by the route's handler, or as `notFound`, in both cases behind all middleware.
struct RouteResponder: HTTPResponder {
    /// Hears of each request once its answer is ready.
    typealias Listener = @Sendable (Request, SealRequestContext, Response, _ start: ContinuousClock.Instant) -> Void

    private let routes: RouteTable
    private let listener: Listener
    private let handle: @Sendable (Request, SealRequestContext, RouteTable.Handler) async throws -> Response

    init<Middleware: RouterMiddleware>(
        _ routes: RouteTable, whenAnswered listener: @escaping Listener,
        @MiddlewareFixedTypeBuilder<Request, Response, SealRequestContext> middleware: () -> Middleware
    ) where Middleware.Context == SealRequestContext {
        self.routes = routes
        self.listener = listener
        let middleware = middleware()
        handle = { try await middleware.handle($0, context: $1, next: $2) }
    }

    func respond(to request: Request, context: SealRequestContext) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        var handler: RouteTable.Handler = { _, _ in throw HTTPError(.notFound) }
        if let match = routes.find(request.uri.path), let served = match.methods[request.method] {
            context.pathParameters = match.parameters
            context.coreContext.endpointPath.value = match.template
            context.endpointName = served.name
            context.isRead = served.isRead
            handler = served.handler
        }
        let response = try await handle(request, context, handler)
        listener(request, context, response, start)
        return response
    }
}
