import Hummingbird
import Logging
import SealStorage

/// What is noted of each request once its answer is ready: a line of the log, metrics, telemetry. One look at the clock
/// does for all, and no middleware, which would copy request and context.
struct RequestNotes: Sendable {
    let metrics: ServerMetrics
    /// Nil where telemetry is off, and for what is not the apps'.
    let recorder: TelemetryRecorder?

    /// - Parameter start: when the request's head had come.
    @Sendable func take(
        _ request: Request, _ context: SealRequestContext, _ response: Response, _ start: ContinuousClock.Instant
    ) {
        let microseconds = (ContinuousClock.now - start).microseconds
        if metrics.isOn {
            metrics.count(.requests, context.endpointName, String(response.status.code))
            metrics.time(.requestSeconds, context.endpointName, microseconds: microseconds)
            context.note.outcome.news?.count(by: ClientHeader.value(of: request), metrics)
        }
        recorder?.note(request, context, response, microseconds: microseconds)
        if context.logger.logLevel <= .info { log(request, context, response, microseconds) }
    }

    /// What was asked for (the route's template, so that no id from a path is kept), how it ended, how long it took,
    /// and which operation group it belongs to. Never bodies, query strings or headers, but for the digits that name
    /// the group.
    private func log(_ request: Request, _ context: SealRequestContext, _ response: Response, _ microseconds: Int64) {
        var metadata = context.logged(request)
        metadata["status"] = .stringConvertible(response.status.code)
        metadata["milliseconds"] = .stringConvertible(Double(microseconds) / 1_000)
        if let group = OperationGroupHeader(request) { metadata.merge(group.metadata) { $1 } }
        context.logger.info("request", metadata: metadata)
    }
}
