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

    /// Server-to-server keys, by the account that made them, and the requests that they have signed.
    static let serverKeys = Migration(
        name: "server-keys",
        sql: """
            CREATE TABLE server_key (
                owner BIGINT NOT NULL REFERENCES account (id),
                user_name TEXT NOT NULL UNIQUE,
                account BIGINT NOT NULL REFERENCES account (id),
                container TEXT NOT NULL,
                environment BIGINT NOT NULL,
                name TEXT NOT NULL,
                public_key BLOB NOT NULL,
                created BIGINT NOT NULL,
                PRIMARY KEY (owner, user_name)
            );
            CREATE TABLE server_request (
                account BIGINT NOT NULL,
                nonce BLOB NOT NULL,
                expires BIGINT NOT NULL,
                PRIMARY KEY (account, nonce)
            );
            CREATE INDEX server_request_expires ON server_request (expires);
            """)

    /// Who has made what in public databases, by name. Of zones, whose owners' numbers are positive, it has nothing: saves there do
    /// not pay for it.
    static let publicCreators = Migration(
        name: "public-creators",
        sql: """
            CREATE INDEX record_public_creator ON record (owner, zone, creator, name) WHERE owner < 0 AND deleted = 0;
            """)
}
