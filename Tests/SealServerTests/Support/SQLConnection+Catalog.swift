@testable import SealStorage

/// What the database says of its tables.
extension SQLConnection {
    /// The columns of each table.
    func columnsOfTables() throws -> [String: Set<String>] {
        let sql =
            switch dialect {
            case .sqlite:
                """
                SELECT m.name AS table_name, c.name AS column_name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table'
                """
            case .postgres:
                """
                SELECT CAST(table_name AS TEXT) AS table_name, CAST(column_name AS TEXT) AS column_name
                FROM information_schema.columns WHERE table_schema = 'public'
                """
            }
        var columns: [String: Set<String>] = [:]
        for (table, column) in try rows(sql, [], { (try $0.text("table_name"), try $0.text("column_name")) }) {
            columns[table, default: []].insert(column)
        }
        return columns
    }
}
