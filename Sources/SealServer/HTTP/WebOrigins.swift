import HTTPTypes
import SealService
import SealWire

/// The origins whose pages may call this server from a browser, and what of the server they may call: CORS.
///
/// It is no protection of the server, which is called by whoever reaches it: without it a browser lets no page of
/// another origin read an answer. Nothing goes along by itself either way, since there are no cookies.
struct WebOrigins: Sendable {
    /// What browsers may know of a path before they call it.
    struct Path: Sendable, Equatable {
        var methods: [String]
        /// Names of headers, in lower case.
        var headers: [String]
    }

    private let origins: Set<String>
    /// By template.
    private let paths: [String: Path]

    /// - Parameter origins: as browsers write them.
    init(_ origins: some Sequence<String>) {
        self.origins = Set(origins)
        paths = Dictionary(grouping: Endpoints.all.filter(Self.isForPages), by: \.template).mapValues { routes in
            Path(
                methods: Set(routes.map(\.method.rawValue)).sorted(),
                headers: Set(routes.flatMap(Self.headers)).sorted())
        }
    }

    func allows(_ origin: String) -> Bool { origins.contains(origin) }

    /// Nil for what is no page's to call.
    func path(_ template: String) -> Path? { paths[template] }

    /// The web client is a page of its own, and what a management token opens is no matter of pages.
    private static func isForPages(_ route: Route) -> Bool {
        !route.isManaged && !own.contains(route.name)
    }

    private static let own = Set(
        [
            Endpoints.server.sharePage.route, Endpoints.server.sharePageHead.route, Endpoints.server.webFile.route,
            Endpoints.server.health.route,
        ].map(\.name))

    /// Of any request.
    private static let common = [
        WireVersionMiddleware.header, ClientHeader.name, OperationGroupHeader.name, OperationGroupHeader.nameHeader,
    ].compactMap { $0?.canonicalName }

    private static func headers(of route: Route) -> [String] {
        var headers = common
        if !Set(route.callers).isSubset(of: [.anyone, .ticket]) { headers.append("authorization") }
        if route.body != .none { headers.append("content-type") }
        if route == Endpoints.assets.download.route { headers.append("range") }
        if route.answer == .events { headers.append("last-event-id") }
        return headers
    }
}
