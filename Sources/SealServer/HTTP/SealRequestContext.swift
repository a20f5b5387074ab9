import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SealService
import SealWire

/// What belongs to one request.
struct SealRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Set once the route is known.
    var pathParameters = PathParameters()
    /// What the table of endpoints calls the route, so that nothing of the request is in it; one name for whatever is
    /// not in the table.
    var endpointName = "unknown"
    /// The route changes nothing, so that the request may be refused even once it is answered.
    var isRead = false
    /// Set by the middleware that checks session tokens.
    var session: Session?
    /// Set before anything else is done: they see to it that the body comes at a pace.
    var transfers: Transfers?
    /// Whom limits count: `ClientAddress.bytes`. Set before anything else is done.
    var client: [UInt8] = []
    /// The room that the request has; nil for those that need none.
    var pass: LoadGate.Pass?
    /// The request had a session token that is not, or no longer, good.
    var hasEndedSession = false
    /// The server-to-server key that signed the request, and where it is good. Never together with a session.
    var serverKey: ServerKeys.Signed?
    /// Set where the request was counted before its sender was looked up.
    var standing: RateLimiter.Standing?
    /// What telemetry learns of the request.
    let note = RequestNote()
    /// Counts the request's work against its account or address.
    var meter: WorkMeter?
    /// The largest body of a wire message, in bytes. Uploads have their own limit.
    var maxUploadSize: Int
    /// The request's body was collected before its route, and counted.
    var isBodyCounted = false
    /// The client's address as the socket shows it; a proxy's when there is one.
    let remoteAddress: SocketAddress?
    /// False for a request of this process's own, whose sender cancels what it no longer waits for.
    var hasConnection = true
    /// The connection, with HTTP/2 the stream in it: to cut an answer that nobody reads any more.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
        channel = source.channel
        maxUploadSize = ServerConfiguration.defaultMaximumMessageSize
    }

    /// Hummingbird's own router would have filled it.
    @available(*, unavailable, renamed: "pathParameters")
    var parameters: Parameters { coreContext.parameters }

    /// For a log line about a request: method, and the route's template, so that no id from a path is kept.
    func logged(_ request: Request) -> Logger.Metadata {
        ["method": "\(request.method.rawValue)", "route": "\(endpointPath ?? "unknown")"]
    }

    /// False when no route took the request.
    var hasRoute: Bool { endpointPath != nil }
}
