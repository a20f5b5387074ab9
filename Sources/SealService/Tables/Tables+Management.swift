/// Management tokens of containers. The operator's is a file in the secrets folder.
extension Tables {
    static let management: [Table] = [
        Table(
            "management_token", key: "container, id", whose: .container, erased: .kept("the operator's"),
            billed: .free("the operator's"),
            history: [
                .baseline: """
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
            ])
    ]
}
