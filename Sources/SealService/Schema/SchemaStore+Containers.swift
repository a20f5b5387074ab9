package import SealStorage

extension SchemaStore {
    /// Containers that have a schema, by name.
    /// - Parameter name: of the last one of the page before; empty for the first page.
    package func containers(
        after name: String, limit: Int, in connection: any SQLConnection
    ) throws -> [String] {
        try connection.rows(
            "SELECT DISTINCT container FROM schema_state WHERE container > $1 ORDER BY container LIMIT $2",
            [.text(name), .integer(Int64(limit))]
        ) { try $0.text("container") }
    }
}
