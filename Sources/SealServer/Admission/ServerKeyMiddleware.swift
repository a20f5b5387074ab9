import HTTPTypes
import Hummingbird
import NIOCore
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire

/// Checks requests that a server-to-server key has signed, and puts the key into the context.
///
/// A signature that does not hold ends the request here: unlike an old session token, nobody has one lying about.
struct ServerKeyMiddleware: RouterMiddleware {
    let transactions: Transactions
    let sessions: Sessions
    let rates: RequestRates
    let origin: ServerOrigin
    let clock: @Sendable () -> Int64

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let signed = try SignedRequest(request) else { return try await next(request, context) }
        let (user, now) = (signed.user, clock())
        try signed.checkWindow(now: now)
        let client = RateLimiter.Subject.client(context.client)
        _ = try rates.count(.anonymousRequest, client)
        let generation = sessions.generation
        guard let row = try await transactions.read({ try ServerKeys.find(user, in: $0) }) else {
            throw ServerKeys.unknown
        }
        // Whatever a route asks for: outside its database the key is not even looked at.
        let reach = "/database/1/\(row.container)/\(row.environment.name)/public/"
        guard request.uri.path.hasPrefix(reach) else { throw ServerKeys.outOfReach }

        var request = request
        var context = context
        var body = ByteBuffer()
        if request.method == .post {
            // Anybody can name a key.
            try context.pass?.countAsStranger()
            body = try await request.collectBody(context)
            request.body = RequestBody(buffer: body)
            context.isBodyCounted = true
        }
        try signed.verify(
            request, body: [UInt8](body.readableBytesView), origin: origin.value, key: row.publicKey)
        try row.requireInForce()
        // It is the key's: from here on its account is counted.
        rates.giveBack(.anonymousRequest, client)
        context.standing = try rates.count(.request, .account(row.account))
        let turn = WriteTurn(
            payer: .account(row.account), route: .init(method: request.method.rawValue, path: "a signed request"))
        let isNew = try await WriteTurn.$current.withValue(turn) {
            try await transactions.write(at: .entry(signed.nonce.bytes), beside: [.account(row.account)]) {
                connection in
                try ServerKeys.remember(
                    nonce: signed.nonce, until: signed.time + ServerRequests.window, of: user, in: connection)
            }
        }
        guard isNew else {
            throw ServerError(
                .notAuthenticated, "The request was sent before, or its key was revoked.",
                remedy: "Make a new nonce and signature for each request, also when it is repeated.")
        }
        context.serverKey = ServerKeys.Signed(row: row, user: user, generation: generation)
        return try await next(request, context)
    }
}
