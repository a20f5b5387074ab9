/// Linked addresses and which of them look-ups find, codes that are waited for and how many were sent, and spent
/// tokens. Times are microseconds since 1970.
extension Tables {
    static let verification: [Table] = [
        Table(
            "linked_address", key: "address_hash", whose: .account("account"), erased: .atClosing,
            billed: .rows(.init(values: [], moves: true)),
            history: [
                .baseline: """
                CREATE TABLE linked_address (
                    address_hash BLOB NOT NULL PRIMARY KEY,
                    account BIGINT NOT NULL REFERENCES account (id),
                    kind TEXT NOT NULL,
                    linked BIGINT NOT NULL,
                    discoverable BIGINT NOT NULL
                );
                CREATE INDEX linked_address_account ON linked_address (account);
                """
            ]),
        Table(
            "verification", key: "id", whose: .account("account"), erased: .atClosing,
            billed: .free("ends within minutes"),
            mentions: [.init("user_name", .itsOwn)],
            history: [
                .baseline: """
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
                """
            ]),
        Table(
            "verification_sent", key: "id", whose: .server, erased: .kept("it has hashes of addresses, and no account"),
            billed: .free("bounded by rates"),
            history: [
                .baseline: """
                CREATE TABLE verification_sent (
                    id INTEGER PRIMARY KEY,
                    kind BIGINT NOT NULL,
                    subject BLOB NOT NULL,
                    sent BIGINT NOT NULL
                );
                CREATE INDEX verification_sent_subject ON verification_sent (kind, subject, sent);
                CREATE INDEX verification_sent_time ON verification_sent (sent);
                """
            ]),
        Table(
            "spent_token", key: "token_id", whose: .server, erased: .kept("it ends within minutes"),
            billed: .free("ends within minutes"),
            history: [
                .baseline: """
                CREATE TABLE spent_token (
                    token_id TEXT NOT NULL PRIMARY KEY,
                    expires BIGINT NOT NULL
                );
                CREATE INDEX spent_token_expires ON spent_token (expires);
                """
            ]),
        Table(
            "spent_challenge", key: "challenge", whose: .server, erased: .kept("it ends within minutes"),
            billed: .free("ends within minutes"),
            history: [
                .severalServers: """
                CREATE TABLE spent_challenge (
                    challenge BLOB NOT NULL PRIMARY KEY,
                    expires BIGINT NOT NULL
                );
                CREATE INDEX spent_challenge_expires ON spent_challenge (expires);
                """
            ]),
        Table(
            "shared_limit", key: "kind, subject", whose: .server,
            erased: .kept("it has hashes, and ends within a day"), billed: .free("bounded by rates"),
            history: [
                .severalServers: """
                CREATE TABLE shared_limit (
                    kind TEXT NOT NULL,
                    subject BLOB NOT NULL,
                    level BIGINT NOT NULL,
                    time BIGINT NOT NULL,
                    full_at BIGINT NOT NULL,
                    PRIMARY KEY (kind, subject)
                );
                CREATE INDEX shared_limit_full ON shared_limit (full_at);
                """
            ]),
    ]
}
