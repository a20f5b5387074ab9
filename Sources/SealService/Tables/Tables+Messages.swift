/// Messages that wait to be sent. Times are microseconds since 1970.
extension Tables {
    static let messages: [Table] = [
        Table(
            "outgoing_message", key: "id", whose: .server, erased: .kept("it ends within minutes"),
            billed: .free("ends within minutes"),
            history: [
                .baseline: """
                CREATE TABLE outgoing_message (
                    id BLOB NOT NULL PRIMARY KEY,
                    kind TEXT NOT NULL,
                    sealed BLOB NOT NULL,
                    attempts BIGINT NOT NULL,
                    expires BIGINT NOT NULL
                );
                """,
                .severalServers: "ALTER TABLE outgoing_message ADD COLUMN sender BIGINT NOT NULL DEFAULT 0;",
            ])
    ]
}
