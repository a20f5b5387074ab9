package import Foundation

/// One row of an answer, read by column index from 0.
///
/// A row is a window on the statement that is running: it is valid inside the closure that received it and nowhere
/// else. Every accessor throws `StorageError.unexpectedType` when the column holds another kind of value, so that a
/// mistake in a query shows as an error and never as a zero.
package protocol SQLRow {
    func isNull(_ column: Int) -> Bool
    func int64(_ column: Int) throws(StorageError) -> Int64
    func double(_ column: Int) throws(StorageError) -> Double
    func text(_ column: Int) throws(StorageError) -> String
    func bytes(_ column: Int) throws(StorageError) -> [UInt8]
    func data(_ column: Int) throws(StorageError) -> Data
}

extension SQLRow {
    package func bool(_ column: Int) throws(StorageError) -> Bool { try int64(column) != 0 }
    package func optionalInt64(_ column: Int) throws(StorageError) -> Int64? {
        isNull(column) ? nil : try int64(column)
    }
    func optionalDouble(_ column: Int) throws(StorageError) -> Double? { isNull(column) ? nil : try double(column) }
    package func optionalText(_ column: Int) throws(StorageError) -> String? { isNull(column) ? nil : try text(column) }
    package func optionalBytes(_ column: Int) throws(StorageError) -> [UInt8]? {
        isNull(column) ? nil : try bytes(column)
    }
    package func optionalData(_ column: Int) throws(StorageError) -> Data? { isNull(column) ? nil : try data(column) }
}
