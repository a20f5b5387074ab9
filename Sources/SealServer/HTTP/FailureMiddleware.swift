import HTTPTypes
import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire

/// Turns every error into a `Failure` body, so that a client never meets an answer that it cannot read. One that comes
/// only once the answer is on its way is noted as well; the connection ends by it.
struct FailureMiddleware: RouterMiddleware {
    let routes: RouteTable
    let metrics: ServerMetrics

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            var response = try await next(request, context)
            // What is small was there as a whole before it was answered.
            if response.body.contentLength.map({ $0 > LoadGate.countedAnswer }) ?? true {
                response.body = watched(response.body, request, context)
            }
            return response
        } catch {
            let answer = note(error, request, context)
            context.note.noteRefusal(answer.code.rawValue)
            return try answer.response(from: request, context: context)
        }
    }

    /// The body of an answer that is made while it is sent. Its client learns nothing of why it ends too early, and
    /// what is noted of requests is noted by then.
    private func watched(_ body: ResponseBody, _ request: Request, _ context: SealRequestContext) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { writer in
            let watch = WatchedWriter.Watch()
            do { try await body.write(WatchedWriter(writer, watch)) } catch {
                if !watch.hasConnectionFailed, !Task.isCancelled, !(error is CancellationError) {
                    _ = note(error, request, context)
                }
                throw error
            }
        }
    }

    /// Logs what is the server's own, and counts it.
    /// - Returns: what the client is told.
    private func note(_ error: any Error, _ request: Request, _ context: SealRequestContext) -> ServerError {
        let (answer, isInternal) = describing(error, request, context)
        if isInternal {
            context.logger.error(
                "request failed",
                metadata: ["error": "\(error)", "code": "\(answer.code.rawValue)"].merging(context.logged(request)) {
                    $1
                })
        }
        metrics.count(.failures, answer.code.rawValue)
        return answer
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
