import Foundation
import SealCoding
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// The plain values among a record's stored fields. Sealed ones, which is nearly all, are stepped over and not copied.
enum PlainFields {
    /// - Parameters:
    ///   - stored: a serialized `Record` that has nothing but fields (`StoredRecord.fields`).
    ///   - isWanted: whether a field of this name is of interest.
    static func values(_ stored: [UInt8], where isWanted: (String) -> Bool = { _ in true }) throws -> [String: Value] {
        var values: [String: Value] = [:]
        var reader = FieldScanner(stored[...])
        while let field = try reader.next() {
            // Field { name = 1, plain = 2 }: whatever else it holds, a plain value is what it is asked for.
            var parts = FieldScanner(field.content)
            var name: ArraySlice<UInt8> = []
            var plain: ArraySlice<UInt8>?
            while let part = try parts.next() {
                if part.number == 1 { name = part.content }
                if part.number == 2 { plain = part.content }
            }
            guard let plain else { continue }
            let key = String(decoding: name, as: UTF8.self)
            guard isWanted(key) else { continue }
            values[key] = try Value(Sealkit_V1_Value(serializedBytes: Data(plain)))
        }
        return values
    }
}

/// Steps over fields of protobuf that have a length.
private struct FieldScanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() throws -> (number: UInt64, content: ArraySlice<UInt8>)? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        let count = try varint()
        guard tag & 7 == 2, count <= UInt64(rest.count) else {
            throw StorageError.unexpectedType(column: "fields", wanted: "fields of protobuf")
        }
        let content = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        return (tag >> 3, content)
    }

    private mutating func varint() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw StorageError.unexpectedType(column: "fields", wanted: "fields of protobuf")
    }
}
