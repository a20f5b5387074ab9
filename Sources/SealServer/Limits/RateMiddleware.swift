import HTTPTypes
import Hummingbird
import SealWire

/// Counts every request against its account, or against its client's address where it has no session, before anything is
/// read of it; and tells every client how it stands.
struct RateMiddleware: RouterMiddleware {
    let services: Services

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let standing: RateLimiter.Standing?
        // A server-to-server key is a user with an account of its own.
        if let account = context.session?.accountID ?? context.serverKey?.row.account {
            context.meter = WorkMeter(services: services, subject: .account(account))
            standing = try count(.request, .account(account))
        } else {
            let client = ClientAddress.subject(of: request, context, isBehindProxy: services.configuration.isBehindProxy)
            context.meter = WorkMeter(services: services, subject: .client(client))
            standing = try count(.anonymousRequest, .client(client))
        }
        var response = try await next(request, context)
        if let standing, let names = Self.headers {
            // Appended: no route sets them, and setting looks for each first.
            response.headers.append(HTTPField(name: names.limit, value: String(standing.limit)))
            response.headers.append(HTTPField(name: names.remaining, value: String(standing.remaining)))
            response.headers.append(HTTPField(name: names.reset, value: String((standing.reset + 999_999) / 1_000_000)))
        }
        return response
    }

    private func count(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) throws(ServerError) -> RateLimiter.Standing? {
        guard let rule = services.limits.rule(of: kind) else { return nil }
        return try services.limiter.count(kind, subject, rule: rule, now: services.clock())
    }

    /// How many requests may come at once, how many of them are left, and the seconds until all are there again.
    private static let headers: (limit: HTTPField.Name, remaining: HTTPField.Name, reset: HTTPField.Name)? = {
        guard let limit = HTTPField.Name("X-RateLimit-Limit"), let remaining = HTTPField.Name("X-RateLimit-Remaining"),
            let reset = HTTPField.Name("X-RateLimit-Reset")
        else { return nil }
        return (limit, remaining, reset)
    }()
}
