import Hummingbird
import SealService
import SealWire

/// `1/management-tokens/create`, `list`, `revoke`: with the operator's token.
struct ManagementTokensController: Sendable {
    let tokens: ContainerTokens

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.management.createToken) { message, _ in try await tokens.create(message) }
        router.on(Endpoints.management.listTokens) { message, _ in try await tokens.list(message) }
        router.on(Endpoints.management.revokeToken) { message, _ in
            try await tokens.revoke(message)
            return Sealkit_V1_RevokeManagementTokenResponse()
        }
    }
}
