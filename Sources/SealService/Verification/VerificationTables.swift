/// Linked addresses and which of them look-ups find, codes that are waited for and how many were sent, and spent
/// tokens. Times are microseconds since 1970.
enum VerificationTables {
    static let tables = """
        CREATE TABLE linked_address (
            address_hash BLOB NOT NULL PRIMARY KEY,
            account BIGINT NOT NULL REFERENCES account (id),
            kind TEXT NOT NULL,
            linked BIGINT NOT NULL,
            discoverable BIGINT NOT NULL
        );
        CREATE INDEX linked_address_account ON linked_address (account);
        CREATE TABLE verification (
            id BLOB NOT NULL PRIMARY KEY,
            account BIGINT NOT NULL REFERENCES account (id),
            container TEXT NOT NULL,
            user_name TEXT NOT NULL,
            routing_id BLOB NOT NULL,
            address_hash BLOB NOT NULL,
            kind TEXT NOT NULL,
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
        """
}
