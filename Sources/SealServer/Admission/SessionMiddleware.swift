import HTTPTypes
import Hummingbird
import SealService

/// Reads the bearer token, if there is one, and puts its session into the context.
///
/// A token that is no good is no error yet: logging in with an old token at hand must work. Routes that need a session
/// call `requireSession()`, which tells the cases apart.
struct SessionMiddleware: RouterMiddleware {
    let transactions: Transactions
    let sessions: Sessions
    let rates: RequestRates
    let clock: @Sendable () -> Int64

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let token = request.bearerToken else { return try await next(request, context) }
        var context = context
        var counted: RateLimiter.Subject?
        context.session = try await sessions.find(token, now: clock(), in: transactions.database) {
            () throws(ServerError) in
            let client = RateLimiter.Subject.client(context.client)
            context.standing = try rates.count(.anonymousRequest, client)
            counted = client
        }
        if let counted, context.session != nil {
            rates.giveBack(.anonymousRequest, counted)
            context.standing = nil
        }
        context.hasEndedSession = context.session == nil
        var response = try await next(request, context)
        if let session = context.session, let name = Self.devices {
            // Appended: no route sets it, and setting looks for it first.
            response.headers.append(HTTPField(name: name, value: String(session.deviceRevision)))
        }
        return response
    }

    /// Names the revision of the account's list of devices: what costs no statement can be said in every answer.
    private static let devices = HTTPField.Name("SealKit-Devices")
}
