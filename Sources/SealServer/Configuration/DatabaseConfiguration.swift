import SealStorage

/// A PostgreSQL database in the place of a file in the data folder.
public struct DatabaseConfiguration: Sendable {
    /// `postgresql://user@host/database?sslmode=verify-full&sslrootcert=…`, as libpq has it, without a password.
    public var url: String
    /// Nil where none is needed, or libpq finds it by itself (`PGPASSFILE`).
    public var password: String?

    public init(url: String, password: String? = nil) {
        (self.url, self.password) = (url, password)
    }

    /// - Throws: `invalid`, which quotes nothing of the URL.
    func address() throws(ConfigurationError) -> PostgresAddress {
        do throws(PostgresAddress.Malformed) { return try PostgresAddress(url, password: password) } catch {
            let expected =
                switch error {
                case .notPostgres, .unreadable: Self.form
                case .hasNoDatabase: Self.form + ", with the name of a database"
                case .hasPassword:
                    Self.form + ", without a password, which shows wherever the URL does: give it by "
                        + "--database-password-file"
                case .hasService: Self.form + ", without a service: it says itself where the database is"
                }
            throw .invalid(setting: "database-url", expected: expected)
        }
    }

    private static let form = "a URL like postgresql://user@host/database"
}

/// Without the password, and the URL, which somebody may have put one into.
extension DatabaseConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "DatabaseConfiguration" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
