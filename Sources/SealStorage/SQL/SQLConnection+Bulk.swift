/// For who fills a whole database, in the words of each engine.
extension SQLConnection {
    /// Runs `body` while no trigger of these tables does anything.
    package func withoutTriggers<T>(of tables: [String], _ body: () throws -> T) throws -> T {
        switch dialect {
        case .sqlite:
            let triggers = try rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid") {
                (name: try $0.text("name"), sql: try $0.text("sql"))
            }
            for trigger in triggers { try runScript("DROP TRIGGER \(trigger.name)") }
            let result = try body()
            for trigger in triggers { try runScript(trigger.sql) }
            return result
        case .postgres:
            for table in tables { try runScript("ALTER TABLE \(table) DISABLE TRIGGER USER") }
            let result = try body()
            for table in tables { try runScript("ALTER TABLE \(table) ENABLE TRIGGER USER") }
            return result
        }
    }

    /// The columns that are numbered by the database itself without ever giving a number out again, by table.
    package func numberedColumns() throws -> [(table: String, column: String)] {
        let sql =
            switch dialect {
            case .sqlite:
                """
                SELECT s.name AS table_name, c.name AS column_name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
                WHERE s.type = 'table' AND s.sql LIKE '%AUTOINCREMENT%' AND c.pk = 1 ORDER BY s.name
                """
            case .postgres:
                """
                SELECT CAST(table_name AS TEXT) AS table_name, CAST(column_name AS TEXT) AS column_name
                FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES' ORDER BY 1
                """
            }
        return try rows(sql) { (table: try $0.text("table_name"), column: try $0.text("column_name")) }
    }

    /// The last number that such a column has given out, or was told of; 0 for none.
    package func lastNumber(of table: String, _ column: String) throws -> Int64 {
        switch dialect {
        case .sqlite:
            return try first("SELECT seq FROM sqlite_sequence WHERE name = $1", [.text(table)]) { try $0.int64("seq") }
                ?? 0
        case .postgres:
            return try first(
                """
                SELECT COALESCE(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, $2) AS regclass)), 0) AS last
                """, [.text(table), .text(column)]
            ) { try $0.int64("last") } ?? 0
        }
    }

    /// The next one will be that after `number`, which is positive.
    package func setLastNumber(of table: String, _ column: String, to number: Int64) throws {
        switch dialect {
        case .sqlite:
            try execute("DELETE FROM sqlite_sequence WHERE name = $1", [.text(table)])
            try execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", [.text(table), .integer(number)])
        case .postgres:
            try execute(
                "SELECT setval(CAST(pg_get_serial_sequence($1, $2) AS regclass), $3) AS last",
                [.text(table), .text(column), .integer(number)])
        }
    }

    /// Has the planner know how much is in these tables. SQLite's does without, as a server's does.
    package func analyze(_ tables: [String]) throws {
        guard dialect == .postgres else { return }
        for table in tables { try runScript("ANALYZE \(table)") }
    }
}
