import HTTPTypes
import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire

/// Turns every error into a `Failure` body, so that a client never meets an answer that it cannot read.
struct FailureMiddleware: RouterMiddleware {
    let routes: RouteTable
    let metrics: ServerMetrics

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch {
            let (answer, isInternal) = describing(error, request, context)
            if isInternal {
                context.logger.error(
                    "request failed",
                    metadata: ["error": "\(error)", "code": "\(answer.code.rawValue)"].merging(
                        context.logged(request)
                    ) { $1 })
            }
            context.note.noteRefusal(answer.code.rawValue)
            metrics.count(.failures, answer.code.rawValue)
            return try answer.response(from: request, context: context)
        }
    }

    private func describing(
        _ error: any Error, _ request: Request, _ context: SealRequestContext
    ) -> (error: ServerError, isInternal: Bool) {
        if let error = error as? HTTPError, error.status == .notFound, !context.hasRoute {
            return (unknownRoute(request), false)
        }
        return ServerError.describing(error, requestID: context.id)
    }

    private func unknownRoute(_ request: Request) -> ServerError {
        if let methods = routes.find(request.uri.path)?.methods.keys.map(\.rawValue) {
            return ServerError(
                .invalidArguments, "This path does not take the method \(request.method.rawValue).",
                remedy: "Use \(methods.sorted().joined(separator: " or ")).", status: .methodNotAllowed)
        }
        return ServerError(
            .invalidArguments, "The server has nothing at this path.",
            remedy: "Check the path and the version in it.", status: .notFound)
    }
}
