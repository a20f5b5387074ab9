import HTTPTypes
import Hummingbird
import SealService
import SealWire

/// Refuses clients that speak another version of the wire format, before anything of what they say is read.
///
/// A client names its version in a header. One that names none speaks what the paths say, version 1: curl, say.
struct WireVersionMiddleware: RouterMiddleware {
    static let header = HTTPField.Name("sealkit-wire-version")
    static let version = "1"

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        if let header = Self.header, let version = request.headers.value(of: header), version != Self.version {
            throw ServerError(
                .incompatibleVersion,
                "This server speaks version \(Self.version) of the wire format, and the client another one.",
                remedy: "Update the older of the two.")
        }
        return try await next(request, context)
    }
}
