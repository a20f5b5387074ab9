extension Migration {
    /// Accounts, sessions, identities, linked addresses, verifications and spent tokens. Times are microseconds since 1970.
    static let accounts = Migration(
        name: "accounts",
        sql: """
            CREATE TABLE account (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,
                created BIGINT NOT NULL
            );
            CREATE TABLE login_key (
                public_key BLOB NOT NULL PRIMARY KEY,
                account BIGINT NOT NULL REFERENCES account (id)
            );
            CREATE INDEX login_key_account ON login_key (account);
            CREATE TABLE session (
                token_hash BLOB NOT NULL PRIMARY KEY,
                account BIGINT NOT NULL REFERENCES account (id),
                device_name TEXT NOT NULL,
                created BIGINT NOT NULL,
                expires BIGINT NOT NULL
            );
            CREATE INDEX session_account ON session (account, created);
            CREATE INDEX session_expires ON session (expires);
            CREATE TABLE recovery_bundle (
                recovery_id BLOB NOT NULL PRIMARY KEY,
                account BIGINT NOT NULL REFERENCES account (id),
                sealed BLOB NOT NULL
            );
            CREATE INDEX recovery_bundle_account ON recovery_bundle (account);
            CREATE TABLE identity (
                id INTEGER PRIMARY KEY,
                account BIGINT NOT NULL REFERENCES account (id),
                container TEXT NOT NULL,
                user_name TEXT NOT NULL,
                chain BLOB NOT NULL,
                UNIQUE (container, user_name),
                UNIQUE (account, container)
            );
            CREATE TABLE linked_address (
                address_hash BLOB NOT NULL PRIMARY KEY,
                account BIGINT NOT NULL REFERENCES account (id),
                linked BIGINT NOT NULL
            );
            CREATE INDEX linked_address_account ON linked_address (account);
            CREATE TABLE verification (
                id BLOB NOT NULL PRIMARY KEY,
                account BIGINT NOT NULL REFERENCES account (id),
                container TEXT NOT NULL,
                user_name TEXT NOT NULL,
                routing_id BLOB NOT NULL,
                address_hash BLOB NOT NULL,
                code_hash BLOB NOT NULL,
                attempts BIGINT NOT NULL,
                created BIGINT NOT NULL,
                expires BIGINT NOT NULL
            );
            CREATE INDEX verification_expires ON verification (expires);
            CREATE TABLE verification_sent (
                id INTEGER PRIMARY KEY,
                kind BIGINT NOT NULL,
                subject BLOB NOT NULL,
                sent BIGINT NOT NULL
            );
            CREATE INDEX verification_sent_subject ON verification_sent (kind, subject, sent);
            CREATE INDEX verification_sent_time ON verification_sent (sent);
            CREATE TABLE spent_token (
                token_id TEXT NOT NULL PRIMARY KEY,
                expires BIGINT NOT NULL
            );
            CREATE INDEX spent_token_expires ON spent_token (expires);
            """)
}
