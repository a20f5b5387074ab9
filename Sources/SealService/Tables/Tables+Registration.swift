/// Registration codes that were used and have not expired: a code works once. Nothing says whose account one made.
/// Times are microseconds since 1970.
extension Tables {
    static let registration: [Table] = [
        Table(
            "registration_code", key: "id", whose: .server, erased: .kept("nothing says whose account it made"),
            billed: .free("the operator's"),
            history: [
                .baseline: """
                CREATE TABLE registration_code (
                    id BLOB NOT NULL PRIMARY KEY,
                    expires BIGINT NOT NULL
                );
                CREATE INDEX registration_code_expires ON registration_code (expires);
                """
            ])
    ]
}
