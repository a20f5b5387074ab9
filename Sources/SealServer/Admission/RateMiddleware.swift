import HTTPTypes
import Hummingbird
import SealService
import SealStorage
import SealWire

/// Counts every request against its account, or against its client's address where it has no session, before anything
/// is read of it; tells every client how it stands; and says whose turn it is when the request writes.
///
/// Whose request it is may have to be looked up first. Whoever is not known to be good is counted by address before
/// that, and has that back once it turns out to be good: so neither do made-up tokens reach the database without end,
/// nor do those who are many behind one address use up what is for strangers.
struct RateMiddleware: RouterMiddleware {
    /// The largest message without a session, in bytes: several times what any such request of the SDK has.
    static let strangersMessage = 256 << 10

    let rates: RequestRates

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let standing: RateLimiter.Standing?
        let subject: RateLimiter.Subject
        let payer: WriteTurn.Payer
        // A server-to-server key is a user with an account of its own.
        if let account = context.session?.accountID ?? context.serverKey?.row.account {
            (subject, payer) = (.account(account), .account(account))
            context.pass?.countAsKnown()
            context.note.isOf(account: account, isPerson: context.session != nil)
            standing = try context.standing ?? rates.count(.request, subject)
        } else {
            let client = context.client
            (subject, payer) = (.client(client), .client(client))
            standing = try context.standing ?? rates.count(.anonymousRequest, subject)
            try context.pass?.countAsStranger()
            context.maxUploadSize = min(context.maxUploadSize, Self.strangersMessage)
        }
        context.meter = WorkMeter(rates: rates, subject: subject)
        let turn = WriteTurn(
            payer: payer, route: .init(method: request.method.rawValue, path: context.endpointPath ?? "unknown"))
        let counted = context
        var response = try await WriteTurn.$current.withValue(turn) { try await next(request, counted) }
        if let standing, let names = Self.headers {
            // Appended: no route sets them, and setting looks for each first.
            response.headers.append(HTTPField(name: names.limit, value: String(standing.limit)))
            response.headers.append(HTTPField(name: names.remaining, value: String(standing.remaining)))
            response.headers.append(HTTPField(name: names.reset, value: String((standing.reset + 999_999) / 1_000_000)))
        }
        return response
    }

    /// How many requests may come at once, how many of them are left, and the seconds until all are there again.
    private static let headers: (limit: HTTPField.Name, remaining: HTTPField.Name, reset: HTTPField.Name)? = {
        guard let limit = HTTPField.Name("X-RateLimit-Limit"), let remaining = HTTPField.Name("X-RateLimit-Remaining"),
            let reset = HTTPField.Name("X-RateLimit-Reset")
        else { return nil }
        return (limit, remaining, reset)
    }()
}
