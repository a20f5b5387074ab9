public import SealStatements
import SealWire
import SwiftProtobuf

/// Schemas and roles of a container, for those who manage it: what CloudKit's console and `cktool` do.
///
/// <!-- swift: let token: ManagementToken -->
/// ```swift
/// let management = try ContainerManagement("org.example.notes", token: token, transport: transport)
/// let text = try await management.exportSchema(from: .development)
/// let changes = try await management.deploySchema(dryRun: true)
/// ```
///
/// Every call throws `notAuthenticated` for a token that is not good, and `permissionFailure` for another container's.
public struct ContainerManagement: Sendable {
    /// The container that is managed.
    public let containerIdentifier: String
    private let client: Client
    private let token: ManagementToken

    /// - Parameters:
    ///   - containerIdentifier: of the container.
    ///   - token: the operator's, or one that was made for this container.
    ///   - transport: what reaches the server.
    /// - Throws: `badContainer` for what is no container's name.
    public init(_ containerIdentifier: String, token: ManagementToken, transport: any Transport) throws(SealKitError) {
        guard Names.isContainer(containerIdentifier) else {
            throw SealKitError(
                .badContainer, "this is not a container's name",
                remedy: "use letters, digits, dots and hyphens, up to 255")
        }
        self.containerIdentifier = containerIdentifier
        self.token = token
        client = Client(transport: transport)
    }

    /// One difference between two schemas.
    public struct SchemaDifference: Sendable, Hashable {
        /// `+ field Note.title STRING QUERYABLE`.
        public let description: String
        /// Takes something away: development allows that, production never.
        public let isLoss: Bool
    }

    // MARK: Schemas

    /// The schema in CloudKit's language, as the server prints it: the same schema is always the same text.
    /// - Throws: as the type says.
    public func exportSchema(from environment: Environment) async throws(SealKitError) -> String {
        let answer: Sealkit_V1_ExportSchemaResponse = try await call(
            Endpoints.management.exportSchema, environment, Sealkit_V1_ExportSchemaRequest())
        return answer.schema
    }

    /// Replaces development's schema. Records stay as they are.
    /// - Parameter text: in CloudKit's schema language.
    /// - Parameter dryRun: tell what would change, change nothing.
    /// - Throws: `invalidArguments` for a text with errors (with their place), and for a schema that lacks or changes
    ///   what production has.
    @discardableResult
    public func importSchema(_ text: String, dryRun: Bool = false) async throws(SealKitError) -> [SchemaDifference] {
        try await change(
            Endpoints.management.importSchema, .development,
            Sealkit_V1_ImportSchemaRequest.with {
                $0.schema = text
                $0.validateOnly = dryRun
            })
    }

    /// Brings production's schema to development's. It can only grow: types, fields and roles stay for good.
    /// - Throws: `invalidArguments` when production would lose something.
    @discardableResult
    public func deploySchema(dryRun: Bool = false) async throws(SealKitError) -> [SchemaDifference] {
        try await change(
            Endpoints.management.deploySchema, .production, Sealkit_V1_DeploySchemaRequest.with { $0.dryRun = dryRun })
    }

    /// Brings development's schema back to production's. Unlike CloudKit's, this keeps development's records: the logs
    /// of their zones are signed by their owners, and no server can end them. Delete the zones with the accounts that
    /// own them.
    /// - Throws: as the type says.
    @discardableResult
    public func resetSchema(dryRun: Bool = false) async throws(SealKitError) -> [SchemaDifference] {
        try await change(
            Endpoints.management.resetSchema, .development, Sealkit_V1_ResetSchemaRequest.with { $0.dryRun = dryRun })
    }

    // MARK: Roles

    /// A user who has a custom role of the schema.
    public struct RoleAssignment: Sendable, Hashable {
        /// The role's name.
        public let role: String
        /// Who has it.
        public let userRecordName: String
    }

    /// Gives a user a custom role of the schema. Twice is once.
    /// - Throws: `unknownItem` for a role that the schema does not have, or a user that the container does not know.
    public func assignRole(_ role: String, toUser name: String, in environment: Environment) async throws(SealKitError)
    {
        let _: Sealkit_V1_AssignRoleResponse = try await call(
            Endpoints.management.assignRole, environment,
            Sealkit_V1_AssignRoleRequest.with { $0.assignment = Self.wire(role, name) })
    }

    /// - Throws: `unknownItem` when the user does not have the role; `serverResponseLost`: revoke it again, and
    ///   `unknownItem` says that it was done.
    public func revokeRole(_ role: String, fromUser name: String, in environment: Environment)
        async throws(SealKitError)
    {
        let _: Sealkit_V1_RevokeRoleResponse = try await call(
            Endpoints.management.revokeRole, environment,
            Sealkit_V1_RevokeRoleRequest.with { $0.assignment = Self.wire(role, name) })
    }

    /// The schema's custom roles, and everybody who has one.
    /// - Throws: as the type says.
    public func roles(
        in environment: Environment
    ) async throws(SealKitError) -> (roles: [String], assignments: [RoleAssignment]) {
        var assignments: [RoleAssignment] = []
        var request = Sealkit_V1_ListRolesRequest()
        while true {
            let answer: Sealkit_V1_ListRolesResponse = try await call(
                Endpoints.management.listRoles, environment, request)
            assignments += answer.assignments.map { RoleAssignment(role: $0.role, userRecordName: $0.userRecordName) }
            // A server that does not move on would keep us for ever.
            guard !answer.next.isEmpty, answer.next != request.after else { return (answer.roles, assignments) }
            request.after = answer.next
        }
    }

    private static func wire(_ role: String, _ user: String) -> Sealkit_V1_RoleAssignment {
        .with { ($0.role, $0.userRecordName) = (role, user) }
    }

    // MARK: Calls

    private func change<Request: Message>(
        _ endpoint: Endpoint<Managing, Request, Sealkit_V1_ChangeSchemaResponse>, _ environment: Environment,
        _ request: Request
    ) async throws(SealKitError) -> [SchemaDifference] {
        let answer = try await call(endpoint, environment, request)
        return answer.differences.map { SchemaDifference(description: $0.description_p, isLoss: $0.loses) }
    }

    private func call<Request: Message, Response: Message>(
        _ endpoint: Endpoint<Managing, Request, Response>, _ environment: Environment, _ request: Request
    ) async throws(SealKitError) -> Response {
        let path = endpoint.route.path(["container": containerIdentifier, "environment": environment.name])
        return try await client.call(endpoint, at: path, request, token: token.text())
    }
}
