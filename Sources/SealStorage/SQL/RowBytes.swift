import Foundation

/// A row's values one behind the other, in a form that is the same whatever engine they came from: PostgreSQL's binary
/// one, as its `COPY` takes it. What is compared between two engines is made of it, and what is copied into one.
package enum RowBytes {
    /// The number of values in two bytes; before each its length in four, or all ones for null. Numbers have eight
    /// bytes, the most significant one first; reals are IEEE 754's.
    ///
    /// Two reals SQLite does not hold: it makes null of what is no number, and 0 of -0. They count as what it makes of
    /// them.
    /// - Throws: `zeroCharacter`, `failed` for a value that is longer than PostgreSQL's longest.
    package static func append(_ values: [SQLValue], to bytes: inout [UInt8]) throws(StorageError) {
        append(UInt16(truncatingIfNeeded: values.count), to: &bytes)
        for value in values {
            switch value {
            case .null: appendNull(to: &bytes)
            case .integer(let number):
                append(UInt32(8), to: &bytes)
                append(UInt64(bitPattern: number), to: &bytes)
            case .real(let number) where number.isNaN: appendNull(to: &bytes)
            case .real(let number):
                append(UInt32(8), to: &bytes)
                append(number == 0 ? 0 : number.bitPattern, to: &bytes)
            case .text(let text):
                try appendLength(text.utf8.count, to: &bytes)
                guard !text.utf8.contains(0) else { throw .zeroCharacter }
                bytes.append(contentsOf: text.utf8)
            case .blob(let blob):
                try appendLength(blob.count, to: &bytes)
                bytes.append(contentsOf: blob)
            case .data(let data):
                try appendLength(data.count, to: &bytes)
                bytes.append(contentsOf: data)
            }
        }
    }

    private static func appendNull(to bytes: inout [UInt8]) { append(UInt32.max, to: &bytes) }

    private static func appendLength(_ count: Int, to bytes: inout [UInt8]) throws(StorageError) {
        guard let length = Int32(exactly: count) else {
            throw .failed(code: 0, message: "a value is longer than the database's longest")
        }
        append(UInt32(length), to: &bytes)
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
