/// Management tokens of containers. The operator's is a file in the secrets folder.
enum ManagementTables {
    static let tables = """
        CREATE TABLE management_token (
            container TEXT NOT NULL,
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            token_hash BLOB NOT NULL UNIQUE,
            created BIGINT NOT NULL,
            expires BIGINT,
            PRIMARY KEY (container, id)
        );
        """
}
