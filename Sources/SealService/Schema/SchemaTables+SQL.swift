extension SchemaTables {
    /// Schemas, by container and environment. They belong to no owner: every user of a container reads them.
    static let tables = """
        CREATE TABLE schema_state (
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            version BIGINT NOT NULL,
            history BIGINT NOT NULL,
            PRIMARY KEY (container, environment)
        );
        CREATE TABLE schema_field (
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            type TEXT NOT NULL,
            name TEXT NOT NULL,
            id BIGINT NOT NULL UNIQUE,
            kind BIGINT NOT NULL,
            encrypted BIGINT NOT NULL,
            indexes BIGINT NOT NULL,
            PRIMARY KEY (container, environment, type, name)
        );
        CREATE TABLE schema_field_id (
            singleton BIGINT NOT NULL PRIMARY KEY,
            last BIGINT NOT NULL
        );
        INSERT INTO schema_field_id (singleton, last) VALUES (1, 0);
        CREATE TABLE schema_grant (
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            type TEXT NOT NULL,
            role TEXT NOT NULL,
            rights BIGINT NOT NULL,
            PRIMARY KEY (container, environment, type, role)
        );
        CREATE TABLE schema_role (
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (container, environment, name)
        );
        CREATE TABLE role_assignment (
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            user_name TEXT NOT NULL,
            role TEXT NOT NULL,
            PRIMARY KEY (container, environment, user_name, role)
        );
        """
}
