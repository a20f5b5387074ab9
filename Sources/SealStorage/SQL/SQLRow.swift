package import Foundation

/// One row of an answer, read by the names of its columns: what `AS` says, or the column's own name without its
/// table's. What is computed has no name but by `AS`.
///
/// A row is a window on the statement that is running: it is valid inside the closure that received it and nowhere
/// else. Every accessor throws `unknownColumn` for a name that the result does not have, and `unexpectedType` when the
/// column holds another kind of value, so that a mistake in a query shows as an error and never as a zero. Names are
/// literals: a statement finds each once (`SQLColumns`), not in every row.
package protocol SQLRow {
    func isNull(_ column: StaticString) throws(StorageError) -> Bool
    func int64(_ column: StaticString) throws(StorageError) -> Int64
    func double(_ column: StaticString) throws(StorageError) -> Double
    func text(_ column: StaticString) throws(StorageError) -> String
    func bytes(_ column: StaticString) throws(StorageError) -> [UInt8]
    func data(_ column: StaticString) throws(StorageError) -> Data

    /// A value by the place of its column, from 0 on, as the database has it: for who copies rows, and knows neither
    /// names nor kinds beforehand.
    /// - Throws: `unexpectedType` for a text that is not UTF-8, and for a kind that the engines do not share.
    func value(at column: Int) throws(StorageError) -> SQLValue
}

extension SQLRow {
    package func bool(_ column: StaticString) throws(StorageError) -> Bool { try int64(column) != 0 }
    package func optionalInt64(_ column: StaticString) throws(StorageError) -> Int64? {
        try isNull(column) ? nil : try int64(column)
    }
    package func optionalText(_ column: StaticString) throws(StorageError) -> String? {
        try isNull(column) ? nil : try text(column)
    }
    package func optionalBytes(_ column: StaticString) throws(StorageError) -> [UInt8]? {
        try isNull(column) ? nil : try bytes(column)
    }
    package func optionalData(_ column: StaticString) throws(StorageError) -> Data? {
        try isNull(column) ? nil : try data(column)
    }
}
