/// What the database says of itself.
extension SQLConnection {
    /// The names of its tables, in the order of their bytes: of SQLite's file but for those that it makes for others;
    /// of PostgreSQL's database in all schemas but its own, without what extensions have made.
    package func tables() throws -> [String] {
        let sql =
            switch dialect {
            case .sqlite:
                """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND type <> 'shadow' AND type <> 'view' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
                """
            case .postgres:
                """
                SELECT CAST(c.relname AS TEXT) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
                    AND n.nspname NOT LIKE 'pg~_temp~_%' ESCAPE '~' AND n.nspname NOT LIKE 'pg~_toast%' ESCAPE '~'
                    AND NOT EXISTS (SELECT 1 FROM pg_depend d
                        WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e')
                """
            }
        return try rows(sql) { try $0.text("name") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The columns of a table of the server's, in the order of their names' bytes, with the types that they were
    /// declared with, in lower case.
    package func columns(of table: String) throws -> [(name: String, type: String)] {
        let sql =
            switch dialect {
            case .sqlite: "SELECT name, type FROM pragma_table_info($1)"
            case .postgres:
                """
                SELECT CAST(a.attname AS TEXT) AS name, format_type(a.atttypid, a.atttypmod) AS type
                FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'public' AND c.relname = $1 AND a.attnum > 0 AND NOT a.attisdropped
                """
            }
        return try rows(sql, [.text(table)]) { (name: try $0.text("name"), type: try $0.text("type").lowercased()) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
