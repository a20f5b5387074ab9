/// Public databases, server-to-server keys by the account that made them, and the requests that they have signed.
extension Tables {
    static let publicDatabases: [Table] = [
        Table(
            "public_database", key: "id", whose: .container, erased: .kept("the container's"),
            billed: .free("one a container"),
            history: [
                .baseline: """
                CREATE TABLE public_database (
                    id INTEGER PRIMARY KEY,
                    container TEXT NOT NULL,
                    environment BIGINT NOT NULL,
                    UNIQUE (container, environment)
                );
                """
            ]),
        Table(
            "server_key", key: "owner, user_name", whose: .account("owner"),
            erased: .apart("the account that it stands for is closed with it"),
            billed: .rows(.init(values: [])),
            mentions: [.init("account", .itsOwn), .init("user_name", .itsOwn)],
            history: [
                .baseline: """
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
                """
            ]),
        Table(
            "server_request", key: "account, nonce", whose: .account("account"), erased: .withAccount,
            billed: .free("ends within minutes"),
            history: [
                .baseline: """
                CREATE TABLE server_request (
                    account BIGINT NOT NULL,
                    nonce BLOB NOT NULL,
                    expires BIGINT NOT NULL,
                    PRIMARY KEY (account, nonce)
                );
                CREATE INDEX server_request_expires ON server_request (expires);
                """
            ]),
    ]
}
