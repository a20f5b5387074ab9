package import SealSchema
package import SealStatements
package import SealStorage
import SealWire

/// What somebody may do in a public database, by its record types' grants.
///
/// Rights belong to types, never to single records: READ, CREATE, and WRITE, which is changing and deleting. They are
/// granted to `_world` (everybody, without an account), `_icloud` (every account and server-to-server key), `_creator`
/// (whoever made the record) and to custom roles. One right does not imply another.
package struct PublicRights: Sendable {
    package typealias Right = RecordType.Grant.Right

    /// The caller has an account, or is a server-to-server key.
    package let hasAccount: Bool
    /// Nil without an identity in the container: then nothing there was created by the caller.
    package let user: UserID?
    /// Custom roles.
    package let roles: Set<String>
    /// By record type; a type that is not here has the usual grants.
    package let grants: [String: [RecordType.Grant]]

    /// The one rule, as a table: some grant gives the right to a role that the caller has.
    package static func allows(
        _ right: Right, grants: [RecordType.Grant], hasAccount: Bool, isCreator: Bool, roles: Set<String>
    ) -> Bool {
        grants.contains { grant in
            guard grant.rights.contains(right) else { return false }
            return switch grant.role {
            case "_world": true
            case "_icloud": hasAccount
            // Before it is made, a record has no creator.
            case "_creator": isCreator && right != .create
            default: hasAccount && roles.contains(grant.role)
            }
        }
    }

    package func allows(_ right: Right, type: String, creator: UserID?) -> Bool {
        Self.allows(
            right, grants: grants[type] ?? RecordType.Grant.usual, hasAccount: hasAccount,
            isCreator: creator != nil && creator == user, roles: roles)
    }

    // MARK: What is refused

    /// Why the caller may not read a record; nil when it may.
    /// - Parameter statement: the record's newest, also that of its deletion.
    package func refusalToRead(_ statement: Statement) -> ServerError? {
        guard !allows(.read, type: statement.recordType, creator: statement.creator) else { return nil }
        return ServerError(
            .permissionFailure, "The caller's roles do not give it the right to read records of this type.",
            remedy: hasAccount
                ? "Ask the container's developer for a role that may." : "Log in, or ask the container's developer.")
    }

    /// Why the caller may not make, change or delete a record; nil when it may.
    /// - Parameter known: the live record that the server has under the name; nil for none.
    func refusalToSave(_ statement: Statement, over known: (type: String, creator: UserID)?) -> ServerError? {
        if let known {
            guard !allows(.write, type: known.type, creator: known.creator) else { return nil }
            return ServerError(
                .permissionFailure, "The caller's roles do not give it the right to change or delete this record.",
                remedy: "Usually only a record's creator may; ask the container's developer for a role that may.")
        }
        // Or somebody could take the place of another's own record before that person comes.
        guard statement.recordType == Names.usersType || (try? UserID(recordName: statement.recordName)) == nil else {
            return ServerError(
                .invalidArguments, "The name of a user is for that user's own record.",
                remedy: "Choose another record name.")
        }
        // What is not there can be deleted by nobody: that is not a question of rights.
        guard statement.kind == .save, !allows(.create, type: statement.recordType, creator: nil) else { return nil }
        return ServerError(
            .permissionFailure, "The caller's roles do not give it the right to make records of this type.",
            remedy: "Ask the container's developer for a role that may.")
    }
}

extension PublicRights {
    /// The caller's rights as they stand now, in the caller's transaction; nil in other databases, where rosters say.
    /// - Parameter session: nil without an account.
    package static func of(
        _ session: Session?, _ path: DatabasePath, _ schemas: SchemaStore, in connection: any SQLConnection
    ) throws -> PublicRights? {
        guard path.database == .public else { return nil }
        let found = try session.flatMap {
            try Identities.idAndName(account: $0.accountID, container: path.container, in: connection)
        }
        let schema = try schemas.schema(path.container, path.environment, in: connection).schema
        // Most containers have no roles of their own, and nobody has one there.
        let roles =
            try schema.roles.isEmpty
            ? []
            : found.map { try RoleAssignments.roles(of: $0.userID, path.container, path.environment, in: connection) }
        return PublicRights(
            hasAccount: session != nil, user: found?.userID, roles: roles ?? [],
            grants: schema.types.mapValues(\.grants))
    }
}
