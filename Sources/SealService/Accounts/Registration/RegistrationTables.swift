/// Registration codes that were used and have not expired: a code works once. Nothing says whose account one made.
/// Times are microseconds since 1970.
enum RegistrationTables {
    static let tables = """
        CREATE TABLE registration_code (
            id BLOB NOT NULL PRIMARY KEY,
            expires BIGINT NOT NULL
        );
        CREATE INDEX registration_code_expires ON registration_code (expires);
        """
}
