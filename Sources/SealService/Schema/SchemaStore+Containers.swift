package import SealStorage

extension SchemaStore {
    /// Containers that have a schema, by name.
    package func containers(in connection: any SQLConnection) throws -> [String] {
        try connection.rows("SELECT DISTINCT container FROM schema_state ORDER BY container") {
            try $0.text("container")
        }
    }
}
