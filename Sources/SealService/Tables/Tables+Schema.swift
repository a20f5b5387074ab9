/// Schemas, by container and environment. They belong to no owner: every user of a container reads them.
extension Tables {
    static let schema: [Table] = [
        Table(
            "schema_state", key: "container, environment", whose: .container,
            erased: .kept("every user of the container reads it"),
            billed: .free("the operator's"),
            history: [
                .baseline: """
                CREATE TABLE schema_state (
                    container TEXT NOT NULL,
                    environment BIGINT NOT NULL,
                    version BIGINT NOT NULL,
                    history BIGINT NOT NULL,
                    PRIMARY KEY (container, environment)
                );
                """
            ]),
        Table(
            "schema_field", key: "container, environment, type, name", whose: .container,
            erased: .kept("every user of the container reads it"),
            billed: .free("the operator's"),
            history: [
                .baseline: """
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
                """
            ]),
        Table(
            "schema_field_id", key: "singleton", whose: .server, erased: .kept("it says nothing of accounts"),
            billed: .free("the server's"),
            history: [
                .baseline: """
                CREATE TABLE schema_field_id (
                    singleton BIGINT NOT NULL PRIMARY KEY,
                    last BIGINT NOT NULL
                );
                INSERT INTO schema_field_id (singleton, last) VALUES (1, 0);
                """
            ]),
        Table(
            "schema_grant", key: "container, environment, type, role", whose: .container,
            erased: .kept("every user of the container reads it"),
            billed: .free("the operator's"),
            history: [
                .baseline: """
                CREATE TABLE schema_grant (
                    container TEXT NOT NULL,
                    environment BIGINT NOT NULL,
                    type TEXT NOT NULL,
                    role TEXT NOT NULL,
                    rights BIGINT NOT NULL,
                    PRIMARY KEY (container, environment, type, role)
                );
                """
            ]),
        Table(
            "schema_role", key: "container, environment, name", whose: .container,
            erased: .kept("every user of the container reads it"),
            billed: .free("the operator's"),
            history: [
                .baseline: """
                CREATE TABLE schema_role (
                    container TEXT NOT NULL,
                    environment BIGINT NOT NULL,
                    name TEXT NOT NULL,
                    PRIMARY KEY (container, environment, name)
                );
                """
            ]),
        Table(
            "role_assignment", key: "container, environment, user_name, role", whose: .container,
            erased: .kept("the operator's"),
            billed: .free("the operator's"),
            mentions: [.init("user_name", .atClosing)],
            history: [
                .baseline: """
                CREATE TABLE role_assignment (
                    container TEXT NOT NULL,
                    environment BIGINT NOT NULL,
                    user_name TEXT NOT NULL,
                    role TEXT NOT NULL,
                    PRIMARY KEY (container, environment, user_name, role)
                );
                """
            ]),
    ]
}
