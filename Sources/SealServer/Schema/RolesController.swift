import Hummingbird
import SealService
import SealWire

/// `schema/roles/assign`, `revoke`, `list`: which users have a container's custom roles. With a management token.
struct RolesController: Sendable {
    let management: RoleManagement

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.management.assignRole) { message, call in
            try await management.assign(message, call.container, call.environment)
            return Sealkit_V1_AssignRoleResponse()
        }
        router.on(Endpoints.management.revokeRole) { message, call in
            try await management.revoke(message, call.container, call.environment)
            return Sealkit_V1_RevokeRoleResponse()
        }
        router.on(Endpoints.management.listRoles) { message, call in
            try await management.list(message, call.container, call.environment)
        }
    }
}
