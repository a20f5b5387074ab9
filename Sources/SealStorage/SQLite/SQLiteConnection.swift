import Foundation
import GRDB
import GRDBSQLite

/// A GRDB connection as an `SQLConnection`: GRDB's pool and its statements, with values bound and rows read straight
/// through SQLite, since every request pays for this path.
final class SQLiteConnection: SQLConnection {
    private let database: Database
    private let statements: SQLiteStatements
    private let announcements: PendingAnnouncements?
    private let deadline: WriteDeadline?

    /// - Parameter deadline: of the writer alone.
    init(
        database: Database, statements: SQLiteStatements, announcements: PendingAnnouncements? = nil,
        deadline: WriteDeadline? = nil
    ) {
        self.database = database
        self.statements = statements
        self.announcements = announcements
        self.deadline = deadline
    }

    var dialect: SQLDialect { .sqlite }
    var isWriter: Bool { deadline != nil }

    func checkBudget() throws(StorageError) {
        guard deadline?.hasPassed != true else { throw .overBudget }
    }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
        let prepared = try statements.statement(sql, of: database)
        let statement = prepared.statement.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        return try withExtendedLifetime(prepared) {
            guard prepared.parameters.count == values.count else { throw StorageError.wrongParameters(sql: sql) }
            return try bind(values, from: 0, to: statement, prepared.parameters, sql: sql) {
                try step(SQLiteRow(statement: statement, columns: prepared.columns), eachRow: eachRow)
            }
        }
    }

    func runScript(_ sql: String) throws {
        // It changes the schema.
        statements.removeAll()
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
        _ values: [SQLValue], from index: Int, to statement: SQLiteStatement, _ parameters: SQLiteParameters,
        sql: String, then body: () throws -> Int
    ) throws -> Int {
        guard index < values.count else { return try body() }
        guard let parameter = parameters.index(of: index) else { throw StorageError.wrongParameters(sql: sql) }
        func next() throws -> Int { try bind(values, from: index + 1, to: statement, parameters, sql: sql, then: body) }
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

    // MARK: Running

    private func step(_ row: SQLiteRow, eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        while true {
            switch sqlite3_step(row.statement) {
            case SQLITE_ROW:
                row.columns.begin()
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

extension StorageError {
    package init(code: CInt, message: String, systemError: CInt) {
        let primary = code & 0xff
        if primary == SQLITE_FULL || (primary == SQLITE_IOERR && (systemError == ENOSPC || systemError == EDQUOT)) {
            self = .full
        } else if primary == SQLITE_CONSTRAINT {
            self = .constraint(message: message)
        } else if primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB {
            self = .damaged(message: message)
        } else if primary == SQLITE_BUSY {
            self = .inUse
        } else if code == ResultCode.SQLITE_READONLY_ROLLBACK.rawValue {
            self = .unsettled
        } else {
            self = .failed(code: Int(code), message: message)
        }
    }
}
