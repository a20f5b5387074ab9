import HTTPTypes
import Hummingbird
import SealService

/// Reads the bearer token, if there is one, and puts its session into the context.
///
/// A token that is no good is no error yet: logging in with an old token at hand must work. Routes that need a session
/// call `requireSession()`, which tells the cases apart.
struct SessionMiddleware: RouterMiddleware {
    let services: Services

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let token = Self.bearerToken(request) else { return try await next(request, context) }
        var context = context
        var counted: RateLimiter.Subject?
        context.session = try await services.sessions.find(token, now: services.clock(), in: services.database) {
            () throws(ServerError) in
            let client = RateLimiter.Subject.client(context.client)
            context.standing = try services.count(.anonymousRequest, client)
            counted = client
        }
        if let counted, context.session != nil {
            services.giveBack(.anonymousRequest, counted)
            context.standing = nil
        }
        context.hasEndedSession = context.session == nil
        var response = try await next(request, context)
        if let session = context.session, let name = Self.devices {
            response.headers[name] = String(session.deviceRevision)
        }
        return response
    }

    /// Names the revision of the account's list of devices: what costs no statement can be said in every answer.
    private static let devices = HTTPField.Name("SealKit-Devices")

    static func bearerToken(_ request: Request) -> Substring? {
        guard let header = request.headers[.authorization] else { return nil }
        // As most clients write it; a token is checked as a whole in any case.
        if header.hasPrefix("Bearer "), !header.utf8.dropFirst(7).contains(0x20) { return header.dropFirst(7) }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1]
    }
}
