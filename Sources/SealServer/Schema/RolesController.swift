import Hummingbird
import SealSchema
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `schema/roles/assign`, `revoke`, `list`: which users have a container's custom roles. With a management token.
struct RolesController: Sendable {
    let transactions: Transactions
    let schemas: SchemaStore

    private static let pageSize = 1_000

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.management.assignRole) { try await assign($0, $1) }
        router.on(Endpoints.management.revokeRole) { try await revoke($0, $1) }
        router.on(Endpoints.management.listRoles) { try await list($0, $1) }
    }

    private func assign(
        _ message: Sealkit_V1_AssignRoleRequest, _ call: ManagementCall
    ) async throws -> Sealkit_V1_AssignRoleResponse {
        let (container, environment) = (call.container, call.environment)
        let user = try Self.user(message.assignment)
        let role = message.assignment.role
        let schemas = self.schemas
        try await transactions.write(at: .everything) { connection in
            guard try schemas.schema(container, environment, in: connection).schema.roles.contains(role) else {
                throw ServerError(
                    .unknownItem, "The schema has no such custom role.",
                    remedy: "Make it with CREATE ROLE in development, and deploy the schema for production.")
            }
            let isKnown = try connection.exists(
                "SELECT 1 FROM identity WHERE container = $1 AND user_name = $2",
                [.text(container), .text(user.recordName)])
            guard isKnown else {
                throw ServerError(
                    .unknownItem, "No user of the container has this record name.",
                    remedy: "sealkit account whoami tells a user's own.")
            }
            try RoleAssignments.assign(role, to: user, container, environment, in: connection)
        }
        return Sealkit_V1_AssignRoleResponse()
    }

    private func revoke(
        _ message: Sealkit_V1_RevokeRoleRequest, _ call: ManagementCall
    ) async throws -> Sealkit_V1_RevokeRoleResponse {
        let (container, environment) = (call.container, call.environment)
        let user = try Self.user(message.assignment)
        try await transactions.write(at: .everything) { connection in
            guard
                try RoleAssignments.revoke(message.assignment.role, from: user, container, environment, in: connection)
            else {
                throw ServerError(
                    .unknownItem, "The user does not have this role.", remedy: "List the roles to see who has which.")
            }
        }
        return Sealkit_V1_RevokeRoleResponse()
    }

    private func list(
        _ message: Sealkit_V1_ListRolesRequest, _ call: ManagementCall
    ) async throws -> Sealkit_V1_ListRolesResponse {
        let (container, environment) = (call.container, call.environment)
        let last = try Self.position(message.after)
        let schemas = self.schemas
        let answer = try await transactions.read { connection -> Sealkit_V1_ListRolesResponse in
            let found = try RoleAssignments.page(
                after: last, limit: Self.pageSize + 1, container, environment, in: connection)
            let page = found.prefix(Self.pageSize)
            let roles = try schemas.schema(container, environment, in: connection).schema.roles
            return .with {
                $0.roles = roles.sorted()
                $0.assignments = page.map { assignment in
                    .with { ($0.role, $0.userRecordName) = (assignment.role, assignment.user) }
                }
                if found.count > page.count, let end = page.last { $0.next = "\(end.user) \(end.role)" }
            }
        }
        return answer
    }

    private static func user(_ assignment: Sealkit_V1_RoleAssignment) throws(ServerError) -> UserID {
        guard let user = try? UserID(recordName: assignment.userRecordName) else {
            throw ServerError(
                .invalidArguments, "The request does not name a user.",
                remedy: "Use a user record name: an underscore and 32 hexadecimal digits.")
        }
        return user
    }

    private static func position(_ after: String) throws(ServerError) -> RoleAssignments.Assignment {
        guard !after.isEmpty else { return .init(user: "", role: "") }
        let parts = after.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, (try? UserID(recordName: parts[0])) != nil, Names.isIdentifier(String(parts[1])) else {
            throw ServerError(
                .invalidArguments, "The place to go on from is not one that the server gave.",
                remedy: "Send the last answer's next, or nothing to begin.")
        }
        return .init(user: String(parts[0]), role: String(parts[1]))
    }
}
