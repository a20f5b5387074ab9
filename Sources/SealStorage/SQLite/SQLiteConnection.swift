import Foundation
import GRDB
import GRDBSQLite

/// A GRDB connection as an `SQLConnection`: GRDB's pool and its cache of prepared statements, with values bound and
/// rows read straight through SQLite, since every request pays for this path.
struct SQLiteConnection: SQLConnection {
    let database: Database
    var announcements: PendingAnnouncements?
    /// Of the writer alone.
    var deadline: WriteDeadline?

    var isWriter: Bool { deadline != nil }

    func checkBudget() throws(StorageError) {
        guard deadline?.hasPassed != true else { throw .overBudget }
    }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
        let prepared: Statement
        do {
            let cached = try database.cachedStatement(sql: sql)
            // A query whose rows lead to the same query again (walking a parent chain) needs a statement of its own.
            prepared = sqlite3_stmt_busy(cached.sqliteStatement) == 0 ? cached : try database.makeStatement(sql: sql)
        } catch let error as DatabaseError {
            throw StorageError(code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: 0)
        }
        let statement = prepared.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        return try withExtendedLifetime(prepared) {
            let count = Int(sqlite3_bind_parameter_count(statement))
            guard count == values.count else { throw StorageError.wrongParameters(sql: sql) }
            return try bind(values, from: 0, to: statement, sql: sql) {
                try step(statement, eachRow: eachRow)
            }
        }
    }

    func runScript(_ sql: String) throws {
        do {
            try database.execute(sql: sql)
        } catch let error as DatabaseError {
            throw StorageError(code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: 0)
        }
    }

    func announce(_ announcement: Announcement) { announcements?.add(announcement) }

    /// Whether a transaction is still open: SQLite takes the whole of it back on its own when the disk fails it.
    var isInTransaction: Bool { sqlite3_get_autocommit(database.sqliteConnection) == 0 }

    /// Takes back what is still open. Where this fails, SQLite has done it by itself, and what led here is what has to
    /// be told.
    func rollBack() {
        if isInTransaction { _ = try? execute("ROLLBACK") }
    }

    // MARK: Parameters

    /// Binds the values from `index` on, then runs `body`. Strings and blobs stay where they are while the statement
    /// runs: each level of this recursion holds one of them.
    private func bind(
        _ values: [SQLValue], from index: Int, to statement: SQLiteStatement, sql: String, then body: () throws -> Int
    ) throws -> Int {
        guard index < values.count else { return try body() }
        // `$3` is a name to SQLite, which numbers names by first appearance; it is a position to PostgreSQL, and to us.
        guard let parameter = parameterIndex(of: index + 1, in: statement, count: values.count) else {
            throw StorageError.wrongParameters(sql: sql)
        }
        func next() throws -> Int { try bind(values, from: index + 1, to: statement, sql: sql, then: body) }
        switch values[index] {
        case .null:
            try check(sqlite3_bind_null(statement, parameter))
            return try next()
        case .integer(let value):
            try check(sqlite3_bind_int64(statement, parameter, value))
            return try next()
        case .real(let value):
            try check(sqlite3_bind_double(statement, parameter, value))
            return try next()
        case .text(var value):
            return try value.withUTF8 { utf8 in
                // An empty buffer may have no address, which SQLite would take for NULL.
                try utf8.withMemoryRebound(to: CChar.self) { characters in
                    try check(
                        characters.isEmpty
                            ? sqlite3_bind_text(statement, parameter, "", 0, Self.transient)
                            : sqlite3_bind_text64(
                                statement, parameter, characters.baseAddress, UInt64(characters.count), nil,
                                UInt8(SQLITE_UTF8)))
                }
                return try next()
            }
        case .blob(let value):
            return try value.withUnsafeBytes { bytes in
                try bindBlob(bytes, to: statement, at: parameter)
                return try next()
            }
        case .data(let value):
            return try value.withUnsafeBytes { bytes in
                try bindBlob(bytes, to: statement, at: parameter)
                return try next()
            }
        }
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func bindBlob(_ bytes: UnsafeRawBufferPointer, to statement: SQLiteStatement, at parameter: CInt) throws {
        // A nil destructor is SQLITE_STATIC: SQLite reads the bytes in place.
        try check(
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, parameter, 0)
                : sqlite3_bind_blob64(statement, parameter, bytes.baseAddress, UInt64(bytes.count), nil))
    }

    /// SQLite's index of the parameter written `$number` (or `?number`).
    private func parameterIndex(of number: Int, in statement: SQLiteStatement, count: Int) -> CInt? {
        // Most statements name their parameters in order.
        let likely = CInt(truncatingIfNeeded: number)
        if parameterNumber(at: likely, in: statement) == number { return likely }
        for candidate in 1...CInt(truncatingIfNeeded: count)
        where parameterNumber(at: candidate, in: statement) == number {
            return candidate
        }
        return nil
    }

    private func parameterNumber(at index: CInt, in statement: SQLiteStatement) -> Int? {
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

    // MARK: Running

    private func step(_ statement: SQLiteStatement, eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        let row = SQLiteRow(statement: statement)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                guard try eachRow(row) else { return Int(sqlite3_changes64(database.sqliteConnection)) }
            case SQLITE_DONE:
                return Int(sqlite3_changes64(database.sqliteConnection))
            case let code where code & 0xff == SQLITE_INTERRUPT && deadline?.hasPassed == true:
                throw StorageError.overBudget
            default:
                throw lastError()
            }
        }
    }

    private func check(_ code: CInt) throws(StorageError) {
        guard code == SQLITE_OK else { throw lastError() }
    }

    private func lastError() -> StorageError {
        let connection = database.sqliteConnection
        return StorageError(
            code: sqlite3_extended_errcode(connection),
            message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "",
            systemError: sqlite3_system_errno(connection))
    }
}

/// The row that a running statement stands on.
struct SQLiteRow: SQLRow {
    let statement: SQLiteStatement

    private func type(_ column: Int) -> CInt { sqlite3_column_type(statement, CInt(truncatingIfNeeded: column)) }

    private func require(_ wanted: CInt, _ column: Int, _ name: String) throws(StorageError) -> CInt {
        guard type(column) == wanted else { throw .unexpectedType(column: column, wanted: name) }
        return CInt(truncatingIfNeeded: column)
    }

    func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

    func int64(_ column: Int) throws(StorageError) -> Int64 {
        sqlite3_column_int64(statement, try require(SQLITE_INTEGER, column, "an integer"))
    }

    func double(_ column: Int) throws(StorageError) -> Double {
        sqlite3_column_double(statement, try require(SQLITE_FLOAT, column, "a real number"))
    }

    func text(_ column: Int) throws(StorageError) -> String {
        let index = try require(SQLITE_TEXT, column, "text")
        guard let start = sqlite3_column_text(statement, index) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int) throws(StorageError) -> [UInt8] { Array(try blob(column)) }

    func data(_ column: Int) throws(StorageError) -> Data { Data(try blob(column)) }

    private func blob(_ column: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        let index = try require(SQLITE_BLOB, column, "bytes")
        // The pointer first: asking for the size first could convert the value and move it.
        let start = sqlite3_column_blob(statement, index)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
    }
}

extension StorageError {
    package init(code: CInt, message: String, systemError: CInt) {
        let primary = code & 0xff
        if primary == SQLITE_FULL || (primary == SQLITE_IOERR && (systemError == ENOSPC || systemError == EDQUOT)) {
            self = .full
        } else if primary == SQLITE_CONSTRAINT {
            self = .constraint(message: message)
        } else {
            self = .failed(code: Int(code), message: message)
        }
    }
}
