/// A PostgreSQL database in the place of a file in the data folder.
struct DatabaseConfiguration: Sendable {
    /// `postgres://user@host/database`, as libpq has it.
    var url: String
    /// Nil where none is needed, or libpq finds it by itself.
    var password: String?
}

/// Without the password, and the URL, which somebody may have put one into.
extension DatabaseConfiguration: CustomStringConvertible, CustomReflectable {
    var description: String { "DatabaseConfiguration" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
