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

    /// Texts have lists of numbers in them, of shares for instance: there is no end to what may be asked.
    private static let most = 1_000
    private var prepared: [String: Prepared] = [:]

    /// - Parameter database: always the same one.
    func statement(_ sql: String, of database: Database) throws(StorageError) -> Prepared {
        if let known = prepared[sql] {
            // A query whose rows lead to the same query again (walking a parent chain) needs a statement of its own.
            guard sqlite3_stmt_busy(known.statement.sqliteStatement) == 0 else { return try prepare(sql, database) }
            return known
        }
        let new = try prepare(sql, database)
        // One that is running is kept by whoever runs it.
        if prepared.count >= Self.most { removeAll() }
        prepared[sql] = new
        return new
    }

    func removeAll() { prepared = [:] }

    private func prepare(_ sql: String, _ database: Database) throws(StorageError) -> Prepared {
        let statement: Statement
        do {
            statement = try database.makeStatement(sql: sql)
        } catch {
            let failure = error as? DatabaseError
            throw StorageError(
                code: failure?.extendedResultCode.rawValue ?? SQLITE_ERROR, message: failure?.message ?? "\(error)",
                systemError: 0)
        }
        return try Prepared(statement)
    }
}
