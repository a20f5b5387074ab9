import GRDB
import GRDBSQLite

/// The statements that a connection has prepared, with the columns of their results. They go before the connection
/// does, which SQLite does not close with them. Used by whoever has the connection to itself, and by nobody else.
final class SQLiteStatements: @unchecked Sendable {
    struct Prepared {
        let statement: Statement
        let columns: SQLColumns
        let parameters: SQLiteParameters

        init(_ statement: Statement) throws(StorageError) {
            self.statement = statement
            columns = try SQLColumns(statement.columnNames)
            parameters = SQLiteParameters(of: statement.sqliteStatement)
        }
    }

    /// Texts have lists of numbers in them, of shares for instance: there is no end to what may be asked.
    private static let most = 1_000
    private var prepared: [String: Prepared] = [:]
    /// Those that are asked for most, of late: a batch comes back to the same few texts, which are found without a
    /// look at each of their bytes. Each look moves one forward; what is new comes into the middle.
    private var recent: [(sql: String, prepared: Prepared)] = []
    private static let mostRecent = 6

    /// - Parameter database: always the same one.
    func statement(_ sql: String, of database: Database) throws(StorageError) -> Prepared {
        if let known = known(sql) {
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

    private func known(_ sql: String) -> Prepared? {
        if let place = recent.firstIndex(where: { $0.sql == sql }) {
            let known = recent[place].prepared
            if place > 0 { recent.swapAt(place, place - 1) }
            return known
        }
        guard let known = prepared[sql] else { return nil }
        if recent.count == Self.mostRecent { recent.removeLast() }
        recent.insert((sql, known), at: recent.count / 2)
        return known
    }

    func removeAll() { (prepared, recent) = ([:], []) }

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

/// Where SQLite has the parameters of a statement. `$3` is a name to it, which numbers names by first appearance; it is
/// a position to PostgreSQL, and to us.
struct SQLiteParameters {
    let count: Int
    /// By their numbers less one, SQLite's indexes, 0 for a number that the text leaves out; nil where they are the
    /// numbers themselves, as in most statements.
    private let indexes: [CInt]?

    init(of statement: SQLiteStatement) {
        count = Int(sqlite3_bind_parameter_count(statement))
        var indexes = [CInt](repeating: 0, count: count)
        for index in 0..<count {
            let number = Self.number(at: CInt(index + 1), of: statement)
            if let number, (1...count).contains(number), indexes[number - 1] == 0 {
                indexes[number - 1] = CInt(index + 1)
            }
        }
        self.indexes = indexes.indices.allSatisfy { indexes[$0] == CInt($0 + 1) } ? nil : indexes
    }

    /// - Parameter place: of the value, from 0 on, less than `count`.
    func index(of place: Int) -> CInt? {
        guard let indexes else { return CInt(truncatingIfNeeded: place + 1) }
        return indexes[place] == 0 ? nil : indexes[place]
    }

    private static func number(at index: CInt, of statement: SQLiteStatement) -> Int? {
        guard let name = sqlite3_bind_parameter_name(statement, index) else { return nil }
        var number = 0
        var cursor = name + 1
        while cursor.pointee != 0 {
            let digit = Int(cursor.pointee) - 48
            guard (0...9).contains(digit), number < 100_000 else { return nil }
            number = number * 10 + digit
            cursor += 1
        }
        return number
    }
}
