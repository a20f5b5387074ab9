import HTTPTypes
import Hummingbird
import SealService
import SealWire

/// Proving that an address is one's own: a code goes out, and comes back signed.
struct VerificationController: Sendable {
    let beginning: BeginVerification
    let completion: CompleteVerification
    let tokenKeys: TokenKeys

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.people.beginVerification) { message, call in
            try await beginning.run(
                message, by: call.session, from: call.context.client,
                acceptLanguage: call.request.headers.value(of: .acceptLanguage))
        }
        router.on(Endpoints.people.completeVerification) { message, call in
            try await completion.run(message, by: call.session)
        }
        router.on(Endpoints.server.tokenKeys) { _ in tokenKeys.published }
    }
}
