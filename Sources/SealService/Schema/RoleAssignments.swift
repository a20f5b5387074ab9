import SealStatements
import SealStorage

/// Who has which custom roles, in the caller's transaction. The system's roles (`_world`, `_icloud`, `_creator`) follow
/// from who asks and are never assigned.
enum RoleAssignments {
    struct Assignment: Sendable {
        let user: String
        let role: String
    }

    /// The custom roles of one user.
    static func roles(
        of user: UserID, _ container: String, _ environment: Environment, in connection: any SQLConnection
    ) throws -> Set<String> {
        Set(
            try connection.rows(
                "SELECT role FROM role_assignment WHERE container = $1 AND environment = $2 AND user_name = $3",
                SchemaTables.key(container, environment) + [.text(user.recordName)]
            ) { try $0.text("role") })
    }

    /// Twice is once.
    static func assign(
        _ role: String, to user: UserID, _ container: String, _ environment: Environment,
        in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO role_assignment (container, environment, user_name, role) VALUES ($1, $2, $3, $4)
            ON CONFLICT (container, environment, user_name, role) DO NOTHING
            """, SchemaTables.key(container, environment) + [.text(user.recordName), .text(role)])
    }

    /// Returns whether the user had the role.
    static func revoke(
        _ role: String, from user: UserID, _ container: String, _ environment: Environment,
        in connection: any SQLConnection
    ) throws -> Bool {
        try connection.execute(
            "DELETE FROM role_assignment WHERE container = $1 AND environment = $2 AND user_name = $3 AND role = $4",
            SchemaTables.key(container, environment) + [.text(user.recordName), .text(role)]) > 0
    }

    /// Assignments in order, from after a given one on.
    static func page(
        after last: Assignment, limit: Int, _ container: String, _ environment: Environment,
        in connection: any SQLConnection
    ) throws -> [Assignment] {
        try connection.rows(
            """
            SELECT user_name, role FROM role_assignment WHERE container = $1 AND environment = $2
                AND (user_name > $3 OR (user_name = $3 AND role > $4)) ORDER BY user_name, role LIMIT $5
            """,
            SchemaTables.key(container, environment) + [.text(last.user), .text(last.role), .integer(Int64(limit))]
        ) { Assignment(user: try $0.text("user_name"), role: try $0.text("role")) }
    }
}
