import GRDB
import GRDBSQLite

/// The statements that a connection has prepared, with the columns of their results. They go before the connection
/// does, which SQLite does not close with them. Used by whoever has the connection to itself, and by nobody else.
final class SQLiteStatements: @unchecked Sendable {
    struct Prepared {
        let statement: Statement
        let columns: SQLColumns

        init(_ statement: Statement) throws(StorageError) {
            self.statement = statement
            columns = try SQLColumns(statement.columnNames)
        }
    }

    private var prepared: [String: Prepared] = [:]

    /// - Parameter database: always the same one.
    func statement(_ sql: String, of database: Database) throws(StorageError) -> Prepared {
        if let known = prepared[sql] {
            // A query whose rows lead to the same query again (walking a parent chain) needs a statement of its own.
            guard sqlite3_stmt_busy(known.statement.sqliteStatement) == 0 else {
                return try prepare { () throws in try database.makeStatement(sql: sql) }
            }
            return known
        }
        let new = try prepare { () throws in try database.cachedStatement(sql: sql) }
        prepared[sql] = new
        return new
    }

    func removeAll() { prepared = [:] }

    private func prepare(_ make: () throws -> Statement) throws(StorageError) -> Prepared {
        let statement: Statement
        do {
            statement = try make()
        } catch {
            let error = error as? DatabaseError
            throw StorageError(
                code: error?.extendedResultCode.rawValue ?? SQLITE_ERROR, message: error?.message ?? "", systemError: 0)
        }
        return try Prepared(statement)
    }
}
