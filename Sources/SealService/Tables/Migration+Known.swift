package import SealStorage

extension Migration {
    /// That this version knows each step that a database has gone through: what another one made is not understood.
    /// - Parameter file: named in the error.
    /// - Throws: `StorageError.unknownSchema`.
    package static func requireKnown(_ applied: [String], file: String) throws(StorageError) {
        for (index, name) in applied.enumerated() where index >= all.count || all[index].name != name {
            throw .unknownSchema(file: file, migration: name)
        }
    }

    /// The steps that a database has gone through, oldest first.
    package static func applied(in connection: any SQLConnection) throws -> [String] {
        try connection.rows("SELECT name FROM migrations ORDER BY position") { try $0.text("name") }
    }
}
