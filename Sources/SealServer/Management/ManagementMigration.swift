extension Migration {
    /// Management tokens of containers. The operator's is a file in the secrets folder.
    static let management = Migration(
        name: "management",
        sql: """
            CREATE TABLE management_token (
                container TEXT NOT NULL,
                id TEXT NOT NULL,
                name TEXT NOT NULL,
                token_hash BLOB NOT NULL UNIQUE,
                created BIGINT NOT NULL,
                expires BIGINT,
                PRIMARY KEY (container, id)
            );
            """)
}
