import Crypto
import SealStorage

/// What a table holds, as both engines sum it up: two tables with the same sum have the same rows.
package struct TableSum: Sendable, Equatable {
    package let table: String
    package let rows: Int64
    /// Of its rows in `RowBytes`.
    package let bytes: Int64
    /// SHA-256 of the names of its columns and of its rows in `RowBytes`, in the order of the table's key.
    package let digest: [UInt8]

    /// All of a database's: of the tables' names and digests.
    package static func digest(of sums: [TableSum]) -> [UInt8] {
        var hash = SHA256()
        for sum in sums {
            hash.update(data: Array(sum.table.utf8) + [0])
            hash.update(data: sum.digest)
        }
        return Array(hash.finalize())
    }

    /// A sum that grows row by row.
    struct Builder {
        private let table: String
        private var hash = SHA256()
        private(set) var rows: Int64 = 0
        private var bytes: Int64 = 0
        private var buffer: [UInt8] = []

        init(_ table: String, columns: [String]) {
            self.table = table
            hash.update(data: Array(columns.joined(separator: ",").utf8) + [0])
        }

        mutating func add(_ values: [SQLValue]) throws(StorageError) {
            buffer.removeAll(keepingCapacity: true)
            try RowBytes.append(values, to: &buffer)
            hash.update(data: buffer)
            rows += 1
            bytes += Int64(buffer.count)
        }

        func sum() -> TableSum { TableSum(table: table, rows: rows, bytes: bytes, digest: Array(hash.finalize())) }
    }
}
