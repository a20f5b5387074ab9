import GRDB
import GRDBSQLite

/// A statement that runs once for each record of a batch, on GRDB's connection: its values are bound, and its row is
/// read, straight through SQLite. GRDB's way, which knows nothing of the values, costs several times what SQLite does
/// with the row.
struct RecordStatement {
    private let prepared: GRDB.Statement
    private let database: GRDB.Database
    private var statement: OpaquePointer { prepared.sqliteStatement }

    init(_ sql: String, _ database: GRDB.Database) throws {
        prepared = try database.cachedStatement(sql: sql)
        self.database = database
    }

    // MARK: Values, each by the number of its parameter

    func bind(_ number: Int64, _ parameter: CInt) throws {
        try check(sqlite3_bind_int64(statement, parameter, number))
    }

    /// - Parameter text: a character at least.
    func bind(_ text: String, _ parameter: CInt) throws {
        var text = text
        try text.withUTF8 { utf8 in
            try utf8.withMemoryRebound(to: CChar.self) { characters in
                try check(
                    sqlite3_bind_text(
                        statement, parameter, characters.baseAddress, CInt(characters.count), Self.copied))
            }
        }
    }

    /// - Parameter bytes: one at least; nil for NULL.
    func bind(_ bytes: [UInt8]?, _ parameter: CInt) throws {
        guard let bytes else { return try check(sqlite3_bind_null(statement, parameter)) }
        try check(sqlite3_bind_blob(statement, parameter, bytes, CInt(bytes.count), Self.copied))
    }

    /// SQLite takes a copy: what is bound need not outlive the call.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: The run

    /// Runs it as it is bound.
    /// - Parameter read: is given the statement with its first row. Nothing of that is good any longer.
    /// - Returns: nil where there is no row.
    func row<T>(_ read: (RecordStatement) throws -> T) throws -> T? {
        defer { sqlite3_reset(statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return try read(self)
        case SQLITE_DONE: return nil
        case let code: throw failure(code)
        }
    }

    /// Runs a change.
    /// - Returns: whether it changed a row.
    func change() throws -> Bool {
        _ = try row { _ in }
        return database.changesCount > 0
    }

    // MARK: Columns

    func number(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: CInt) -> String {
        guard let characters = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: characters, count: count), as: UTF8.self)
    }

    /// Nil for NULL.
    func bytes(_ column: CInt) -> [UInt8]? {
        guard let start = sqlite3_column_blob(statement, column) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private func check(_ code: CInt) throws {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: CInt) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
    }
}
