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
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound && !context.hasRoute {
            let answer = unknownRoute(request)
            context.note.noteRefusal(answer.code.rawValue)
            metrics.count(.failures, answer.code.rawValue)
            return try answer.response(from: request, context: context)
        } catch {
            let (answer, isInternal) = ServerError.describing(error, requestID: context.id)
            context.note.noteRefusal(answer.code.rawValue)
            if isInternal {
                context.logger.error(
                    "request failed",
                    metadata: ["error": "\(error)", "code": "\(answer.code.rawValue)"].merging(
                        context.logged(request)
                    ) { $1 })
            }
            metrics.count(.failures, answer.code.rawValue)
            return try answer.response(from: request, context: context)
        }
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
