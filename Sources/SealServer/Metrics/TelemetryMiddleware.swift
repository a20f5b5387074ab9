import HTTPTypes
import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire

/// Counts each request with its size, its time until the answer was ready, and what it was refused with, and notes it
/// for the log.
struct TelemetryMiddleware: RouterMiddleware {
    let recorder: TelemetryRecorder

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        let note = context.note
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            let status = response.status.code
            note.isAnswered(request, context, start, status >= 400 ? "http-\(status)" : "", response, recorder)
            return response
        } catch {
            let code =
                context.hasRoute || !(error is HTTPError)
                ? ServerError.describing(error, requestID: context.id).error.code : .invalidArguments
            note.isAnswered(request, context, start, code.rawValue, nil, recorder)
            throw error
        }
    }
}

extension RequestNote {
    fileprivate func isAnswered(
        _ request: Request, _ context: SealRequestContext, _ start: ContinuousClock.Instant, _ code: String,
        _ response: Response?, _ recorder: TelemetryRecorder
    ) {
        let microseconds = (ContinuousClock.now - start).microseconds
        let key = TelemetryKey(request, context, isKnown: isKnown, code: code)
        let announced = request.headers.value(of: .contentLength).flatMap { Int64($0) }
        let refused = refusedItems
        recorder.note(
            LoggedRequest(
                key: key, bytesIn: max(0, announced ?? Int64(bytesReceived)),
                bytesOut: Int64(response?.body.contentLength ?? 0), microseconds: microseconds, account: knownAccount,
                isPerson: isPerson, refusedItems: refused.values.reduce(0, +),
                request: code.isEmpty || !recorder.hasLog ? "" : context.id,
                groupID: isKnown && recorder.hasLog ? OperationGroupHeader(request)?.id.bytes ?? [] : []))
        for (code, count) in refused {
            var item = key
            (item.kind, item.code) = (.item, code)
            recorder.note(item, count: count)
        }
    }
}

extension TelemetryKey {
    /// - Parameters:
    ///   - isKnown: somebody's whom the server knows: what others send is told apart by words of the server's alone.
    ///   - code: of what it was refused with; empty for none.
    fileprivate init(_ request: Request, _ context: SealRequestContext, isKnown: Bool, code: String) {
        let parameters = context.pathParameters
        let hasContainer = (isKnown || code.isEmpty) && parameters.part("container") != nil
        let environment = parameters.part("environment").flatMap { SealStatements.Environment(name: String($0)) }
        let database: String
        if let named = parameters.part("database") {
            database = named == "public" ? "public" : "private"
        } else {
            database = context.endpointPath?.contains("/public/") == true ? "public" : ""
        }
        self.init(
            kind: .request, operation: context.endpointName,
            container: hasContainer ? (try? DatabasePath.container(context)) ?? "" : "",
            environment: environment?.name ?? "", database: database, client: ClientHeader.value(of: request), group: isKnown ? OperationGroupHeader.groupName(of: request) : "",
            code: code)
    }
}
