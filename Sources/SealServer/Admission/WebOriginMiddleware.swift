import HTTPTypes
import Hummingbird
import SealService
import SealWire

/// Lets browsers hand a page of another origin what the server answers, where the operator has named that origin.
///
/// It stands before whatever refuses a request, so that such a page can read a refusal too. What a browser asks before
/// a call it answers itself, and counts as a request without a session.
struct WebOriginMiddleware: RouterMiddleware {
    let origins: WebOrigins
    let routes: RouteTable
    let rates: RequestRates
    let isBehindProxy: Bool

    /// Two hours: as long as any browser keeps it.
    private static let maximumAge = "7200"

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let template = routes.find(request.uri.path)?.template, let path = origins.path(template) else {
            return try await next(request, context)
        }
        let origin = request.headers[values: .origin]
        let allowed = origin.count == 1 && origins.allows(origin[0]) ? origin[0] : nil
        var response: Response
        if request.method == .options, !origin.isEmpty, request.headers.contains(.accessControlRequestMethod) {
            context.note.notePreflight()
            do throws(ServerError) {
                let client = ClientAddress.subject(of: request, context, isBehindProxy: isBehindProxy)
                try rates.count(.anonymousRequest, .client(client))
                guard allowed != nil else { throw Self.refusal }
                response = Self.preflight(path)
            } catch {
                response = try error.response(from: request, context: context)
            }
        } else {
            response = try await next(request, context)
            if allowed != nil { response.headers.append(Self.exposed) }
        }
        // Whoever keeps an answer keeps it for the origin that it was given to.
        response.headers.append(HTTPField(name: .vary, value: "origin"))
        if let allowed { response.headers.append(HTTPField(name: .accessControlAllowOrigin, value: allowed)) }
        return response
    }

    private static func preflight(_ path: WebOrigins.Path) -> Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: path.methods.joined(separator: ", "),
                .accessControlAllowHeaders: path.headers.joined(separator: ", "),
                .accessControlMaxAge: maximumAge, .cacheControl: "no-store",
            ])
    }

    /// What a page can read of an answer's headers, beside what every page can.
    private static let exposed = HTTPField(
        name: .accessControlExposeHeaders,
        value: [
            "content-range", "retry-after", "sealkit-devices", "x-ratelimit-limit", "x-ratelimit-remaining",
            "x-ratelimit-reset",
        ].joined(separator: ", "))

    private static let refusal = ServerError(
        .permissionFailure, "Pages of this origin may not call this server.",
        remedy: "Ask the server's operator to name the origin with --web-origin.")
}
