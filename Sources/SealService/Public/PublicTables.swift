/// Public databases, server-to-server keys by the account that made them, and the requests that they have signed.
enum PublicTables {
    static let tables = """
        CREATE TABLE public_database (
            id INTEGER PRIMARY KEY,
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            UNIQUE (container, environment)
        );
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
        """
}
