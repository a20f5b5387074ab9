import SealStatements

/// Who has which custom roles, in the caller's transaction. The system's roles (`_world`, `_icloud`, `_creator`) follow
/// from who asks and are never assigned.
enum RoleAssignments {
    /// The custom roles of one user.
    static func roles(
        of user: UserID, _ container: String, _ environment: Environment, in connection: any SQLConnection
    ) throws -> Set<String> {
        Set(
            try connection.rows(
                "SELECT role FROM role_assignment WHERE container = $1 AND environment = $2 AND user_name = $3",
                SchemaTables.key(container, environment) + [.text(user.recordName)]
            ) { try $0.text(0) })
    }
}
