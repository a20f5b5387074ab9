import SealSchema
package import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// Gives a container's custom roles to its users, takes them, and lists who has which.
package struct RoleManagement: Sendable {
    private static let pageSize = 1_000

    private let transactions: Transactions
    private let schemas: SchemaStore
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    package init(transactions: Transactions, schemas: SchemaStore, clock: @escaping @Sendable () -> Int64) {
        (self.transactions, self.schemas, self.clock) = (transactions, schemas, clock)
    }

    /// - Throws: `invalidArguments`; `unknownItem` for a role or a user that the container does not have.
    package func assign(
        _ message: Sealkit_V1_AssignRoleRequest, _ container: String, _ environment: Environment
    ) async throws {
        let user = try Self.user(message.assignment)
        let role = message.assignment.role
        let event = Self.event(.roleAssigned, role, container, environment)
        let now = clock()
        try await transactions.write(at: .everything) { [schemas] connection in
            guard try schemas.schema(container, environment, in: connection).schema.roles.contains(role) else {
                throw ServerError(
                    .unknownItem, "The schema has no such custom role.",
                    remedy: "Make it with CREATE ROLE in development, and deploy the schema for production.")
            }
            guard try Identities.id(of: user, container: container, in: connection) != nil else {
                throw ServerError(
                    .unknownItem, "No user of the container has this record name.",
                    remedy: "sealkit account whoami tells a user's own.")
            }
            try RoleAssignments.assign(role, to: user, container, environment, in: connection)
            try ManagementEvents.note(event, now: now, in: connection)
        }
    }

    /// - Throws: `invalidArguments`; `unknownItem` where the user does not have the role.
    package func revoke(
        _ message: Sealkit_V1_RevokeRoleRequest, _ container: String, _ environment: Environment
    ) async throws {
        let user = try Self.user(message.assignment)
        let event = Self.event(.roleRevoked, message.assignment.role, container, environment)
        let now = clock()
        try await transactions.write(at: .everything) { connection in
            guard
                try RoleAssignments.revoke(message.assignment.role, from: user, container, environment, in: connection)
            else {
                throw ServerError(
                    .unknownItem, "The user does not have this role.", remedy: "List the roles to see who has which.")
            }
            try ManagementEvents.note(event, now: now, in: connection)
        }
    }

    /// The schema's roles, and a page of who has them.
    /// - Throws: `invalidArguments`.
    package func list(
        _ message: Sealkit_V1_ListRolesRequest, _ container: String, _ environment: Environment
    ) async throws -> Sealkit_V1_ListRolesResponse {
        let last = try Self.position(message.after)
        return try await transactions.read { [schemas] connection in
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
    }

    /// Not whose: it stays when the user's account goes.
    private static func event(
        _ kind: ManagementEvent.Kind, _ role: String, _ container: String, _ environment: Environment
    ) -> ManagementEvent {
        ManagementEvent(kind, container: container, environment: environment.rawValue, detail: role)
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
