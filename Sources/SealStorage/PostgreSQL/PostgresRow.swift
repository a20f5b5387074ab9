import CPQ
import Foundation

/// A row of an answer, whose values are in PostgreSQL's binary format.
struct PostgresRow: SQLRow {
    let result: OpaquePointer
    let row: CInt
    let columns: SQLColumns

    private typealias Found = (index: CInt, type: Oid)

    private func find(_ column: StaticString) throws(StorageError) -> Found {
        let index = CInt(truncatingIfNeeded: try columns.index(of: column))
        return (index, PQftype(result, index))
    }

    private func value(_ found: Found, _ column: StaticString, _ kind: String) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        guard PQgetisnull(result, row, found.index) == 0 else {
            throw .unexpectedType(column: column.description, wanted: kind)
        }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, found.index), count: Int(PQgetlength(result, row, found.index)))
    }

    func isNull(_ column: StaticString) throws(StorageError) -> Bool {
        PQgetisnull(result, row, try find(column).index) != 0
    }

    func int64(_ column: StaticString) throws(StorageError) -> Int64 {
        let (found, kind) = (try find(column), "an integer")
        switch found.type {
        case PostgresValue.int8: return Int64(bitPattern: Self.number(try value(found, column, kind)))
        case PostgresValue.int4:
            return Int64(Int32(truncatingIfNeeded: Self.number(try value(found, column, kind))))
        case PostgresValue.int2:
            return Int64(Int16(truncatingIfNeeded: Self.number(try value(found, column, kind))))
        // What SQLite has as 0 and 1.
        case PostgresValue.boolean: return Int64(Self.number(try value(found, column, kind)))
        default: throw .unexpectedType(column: column.description, wanted: kind)
        }
    }

    func double(_ column: StaticString) throws(StorageError) -> Double {
        let (found, kind) = (try find(column), "a real number")
        switch found.type {
        case PostgresValue.float8: return Double(bitPattern: Self.number(try value(found, column, kind)))
        case PostgresValue.float4:
            return Double(Float(bitPattern: UInt32(truncatingIfNeeded: Self.number(try value(found, column, kind)))))
        default: throw .unexpectedType(column: column.description, wanted: kind)
        }
    }

    func text(_ column: StaticString) throws(StorageError) -> String {
        let (found, kind) = (try find(column), "text")
        switch found.type {
        case PostgresValue.text, PostgresValue.characters, PostgresValue.name, PostgresValue.unknown:
            return String(decoding: try value(found, column, kind), as: UTF8.self)
        default: throw .unexpectedType(column: column.description, wanted: kind)
        }
    }

    func value(at column: Int) throws(StorageError) -> SQLValue {
        let index = CInt(truncatingIfNeeded: column)
        guard PQgetisnull(result, row, index) == 0 else { return .null }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, index), count: Int(PQgetlength(result, row, index)))
        switch PQftype(result, index) {
        case PostgresValue.int8: return .integer(Int64(bitPattern: Self.number(bytes)))
        case PostgresValue.float8: return .real(Double(bitPattern: Self.number(bytes)))
        case PostgresValue.text: return .text(String(decoding: bytes, as: UTF8.self))
        case PostgresValue.bytes: return .blob(Array(bytes))
        default: throw .unexpectedType(column: "\(column + 1)", wanted: "a kind that both engines have")
        }
    }

    func bytes(_ column: StaticString) throws(StorageError) -> [UInt8] { Array(try blob(column)) }

    func data(_ column: StaticString) throws(StorageError) -> Data { Data(try blob(column)) }

    private func blob(_ column: StaticString) throws(StorageError) -> UnsafeRawBufferPointer {
        let (found, kind) = (try find(column), "bytes")
        guard found.type == PostgresValue.bytes else {
            throw .unexpectedType(column: column.description, wanted: kind)
        }
        return try value(found, column, kind)
    }

    /// Most significant byte first.
    private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
