import Hummingbird
import SealService

/// What the operator's listener knows of a request before its route: the address that refusals are counted by, and how
/// large a message may be.
struct OperatorMiddleware: RouterMiddleware {
    /// Bytes: several times what any request of the operator's has.
    static let largestMessage = 64 << 10

    let transfers: Transfers

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.transfers = transfers
        // No proxy is in front of this listener: what a header says of an address is anybody's word.
        context.client = ClientAddress.subject(of: request, context, isBehindProxy: false)
        context.maxUploadSize = Self.largestMessage
        return try await next(request, context)
    }
}
