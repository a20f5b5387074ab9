import CPQ
import Foundation

/// Values in PostgreSQL's binary format.
enum PostgresValue {
    static let (boolean, bytes, name, int8, int2, int4, text): (Oid, Oid, Oid, Oid, Oid, Oid, Oid) =
        (16, 17, 19, 20, 21, 23, 25)
    static let (float4, float8, unknown, characters): (Oid, Oid, Oid, Oid) = (700, 701, 705, 1_043)

    /// 0 for null, which may be any.
    static func type(of value: SQLValue) -> Oid {
        switch value {
        case .null: 0
        case .integer: int8
        case .real: float8
        case .text: text
        case .blob, .data: bytes
        }
    }
}

/// A statement's values, one behind the other, with where each begins.
struct PostgresValues {
    private(set) var storage: [UInt8] = []
    private(set) var lengths: [CInt] = []
    /// Nil for null.
    private(set) var offsets: [Int?] = []

    /// - Throws: `zeroCharacter`, `failed` where one is too long.
    init(_ values: [SQLValue]) throws(StorageError) {
        lengths.reserveCapacity(values.count)
        offsets.reserveCapacity(values.count)
        for value in values {
            let start = storage.count
            switch value {
            case .null:
                offsets.append(nil)
                lengths.append(0)
                continue
            case .integer(let number): append(UInt64(bitPattern: number))
            case .real(let number): append(number.bitPattern)
            case .text(let text):
                storage.append(contentsOf: text.utf8)
                guard !storage[start...].contains(0) else { throw .zeroCharacter }
            case .blob(let bytes): storage.append(contentsOf: bytes)
            case .data(let data): storage.append(contentsOf: data)
            }
            // PostgreSQL has no value of more than a gibibyte.
            guard let length = CInt(exactly: storage.count - start) else {
                throw .failed(code: 0, message: "a value is longer than the database's longest")
            }
            offsets.append(start)
            lengths.append(length)
        }
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { storage.append(contentsOf: $0) }
    }

    func withPointers<T>(_ body: ([UnsafePointer<CChar>?]) -> T) -> T {
        // An empty value has an address too: without one it would be null.
        (storage.isEmpty ? [0] : storage).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                body(offsets.map { offset in offset.flatMap { characters.baseAddress?.advanced(by: $0) } })
            }
        }
    }
}
