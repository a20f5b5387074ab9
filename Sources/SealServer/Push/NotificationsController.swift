import HTTPTypes
import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire

/// `notifications`: the event stream of one user's device in one container and environment.
struct NotificationsController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let streams: EventStreams
    let clock: @Sendable () -> Int64
    let telemetry: TelemetryRecorder?

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.subscriptions.notifications, raw: { try await stream($0) })
    }

    private func stream(_ call: ContainerCall) async throws -> Response {
        let (session, container, environment) = (call.session, call.container, call.environment)
        let lastEventID = try Self.lastEventID(call.request)
        let caller = try await transactions.read { try Caller(session, container: container, in: $0) }
        let opened = try streams.open(
            viewer: caller.id, account: caller.accountID,
            in: TelemetryPlace(container: container, environment: environment.name), channel: call.context.channel,
            client: call.context.client, limit: rates.limits.streamsPerAccount)
        let stream = EventStream(
            transactions: transactions, rates: rates, streams: streams, clock: clock, session: session, caller: caller,
            container: container, environment: environment, opened: opened, lastEventID: lastEventID,
            telemetry: telemetry)
        // Closed once the body has been written or given up; a response that is never written at all gives it up too.
        let lease = StreamLease(streams: streams, id: opened.id)
        let body = ResponseBody { writer in
            defer { lease.end() }
            guard call.context.hasConnection else { return try await stream.run(&writer) }
            try await call.request.body.consumeWithInboundCloseHandler { _ in
                try await stream.run(&writer)
            } onInboundClosed: {
                lease.end()
            }
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
                // Proxies that gather answers would hold events back.
                Self.accelBuffering: "no",
            ], body: body)
    }

    private static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .cacheControl
    private static let lastEventIDName = HTTPField.Name("Last-Event-ID")

    /// - Throws: `invalidArguments` for what was never an id.
    private static func lastEventID(_ request: Request) throws(ServerError) -> NotificationFeed.ID? {
        guard let name = lastEventIDName, let text = request.headers.value(of: name), !text.isEmpty else { return nil }
        guard let id = NotificationFeed.ID(text) else {
            throw ServerError(
                .invalidArguments, "The last event's id is not one of this server's.",
                remedy: "Send the id as it came, or none to begin now.")
        }
        return id
    }
}

/// A stream's place among the open ones, given back when it is let go.
final class StreamLease: Sendable {
    private let streams: EventStreams
    private let id: UInt64

    init(streams: EventStreams, id: UInt64) {
        self.streams = streams
        self.id = id
    }

    func end() { streams.close(id) }
    deinit { end() }
}
