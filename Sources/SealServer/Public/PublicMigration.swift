extension Migration {
    /// Public databases, and what was uploaded to them: an asset that is not sealed is checked against its root.
    static let publicDatabase = Migration(
        name: "public-database",
        sql: """
            CREATE TABLE public_database (
                id INTEGER PRIMARY KEY,
                container TEXT NOT NULL,
                environment BIGINT NOT NULL,
                UNIQUE (container, environment)
            );
            ALTER TABLE blob ADD COLUMN root BLOB;
            """)
}
