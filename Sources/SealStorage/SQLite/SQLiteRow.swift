import Foundation
import GRDB
import GRDBSQLite

/// The row that a running statement stands on. Values are read as what SQLite calls unprotected: without its locks,
/// since a connection is used by one thread at a time.
struct SQLiteRow: SQLRow {
    let statement: SQLiteStatement
    let columns: SQLColumns

    private func value(_ column: StaticString) throws(StorageError) -> OpaquePointer? {
        sqlite3_column_value(statement, CInt(truncatingIfNeeded: try columns.index(of: column)))
    }

    private func value(_ column: StaticString, _ type: CInt, _ kind: String) throws(StorageError) -> OpaquePointer? {
        let value = try value(column)
        guard sqlite3_value_type(value) == type else {
            throw .unexpectedType(column: column.description, wanted: kind)
        }
        return value
    }

    func isNull(_ column: StaticString) throws(StorageError) -> Bool {
        sqlite3_value_type(try value(column)) == SQLITE_NULL
    }

    func int64(_ column: StaticString) throws(StorageError) -> Int64 {
        sqlite3_value_int64(try value(column, SQLITE_INTEGER, "an integer"))
    }

    func double(_ column: StaticString) throws(StorageError) -> Double {
        sqlite3_value_double(try value(column, SQLITE_FLOAT, "a real number"))
    }

    func text(_ column: StaticString) throws(StorageError) -> String {
        let value = try value(column, SQLITE_TEXT, "text")
        guard let start = sqlite3_value_text(value) else { return "" }
        let count = Int(sqlite3_value_bytes(value))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func value(at column: Int) throws(StorageError) -> SQLValue {
        let value = sqlite3_column_value(statement, CInt(truncatingIfNeeded: column))
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            guard let start = sqlite3_value_text(value) else { return .text("") }
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
            let text = String(decoding: bytes, as: UTF8.self)
            // What is none was repaired.
            guard text.utf8.elementsEqual(bytes) else {
                throw .unexpectedType(column: "\(column + 1)", wanted: "UTF-8")
            }
            return .text(text)
        default:
            let start = sqlite3_value_blob(value)
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
            return .blob(Array(bytes))
        }
    }

    func bytes(_ column: StaticString) throws(StorageError) -> [UInt8] { Array(try blob(column)) }

    func data(_ column: StaticString) throws(StorageError) -> Data { Data(try blob(column)) }

    private func blob(_ column: StaticString) throws(StorageError) -> UnsafeRawBufferPointer {
        let value = try value(column, SQLITE_BLOB, "bytes")
        // The pointer first: asking for the size first could convert the value and move it.
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }
}
