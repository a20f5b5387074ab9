import Foundation
import SwiftProtobuf

/// Goes over a message's bytes as the decoder would, by the message type's own description of its fields, and adds up
/// what they would take; it builds none of it.
struct MessageWalker: SwiftProtobuf.Decoder {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// Of the message that is being walked.
    private var end: Int
    private var depth = 0
    private var wireType: UInt64 = 0
    /// A field was announced that nobody has taken: it is passed over. So are numbers, which lie in the message itself.
    private var isPending = false
    private(set) var size = 0
    private let most: Int

    /// - Parameter most: what `size` may come to.
    init(_ bytes: UnsafeRawBufferPointer, most: Int) {
        self.bytes = bytes
        self.most = most
        end = bytes.count
    }

    /// - Throws: `DecodedSize.Refusal`.
    mutating func walk<M: Message>(_ type: M.Type) throws {
        try charge(Cost.message(M.self))
        var nothing = M()
        try nothing.decodeMessage(decoder: &self)
    }

    /// Bytes of memory.
    private enum Cost {
        /// Text and bytes that do not fit in their own place: an object for them.
        static let text = 64
        static let bytes = 128
        /// What a message has elsewhere than in its place: those are generated so that hold one reference besides what
        /// is unknown. It is several times what the largest takes: whoever gets an element makes objects of its own for
        /// it.
        static func message<M: Message>(_: M.Type) -> Int {
            MemoryLayout<M>.size <= MemoryLayout<UnknownStorage>.size + MemoryLayout<UnsafeRawPointer>.size ? 1_024 : 0
        }
        /// A place in a list, which doubles as it grows.
        static func place<T>(_: T.Type) -> Int { 2 * MemoryLayout<T>.stride }
    }

    private mutating func charge(_ cost: Int) throws {
        size += cost
        guard size <= most else { throw DecodedSize.Refusal.tooDense }
    }

    // MARK: The wire

    mutating func nextFieldNumber() throws -> Int? {
        if isPending { try skip() }
        guard position < end else { return nil }
        let tag = try varint()
        wireType = tag & 7
        guard (1..<(1 << 29)).contains(tag >> 3) else { throw DecodedSize.Refusal.malformed }
        isPending = true
        return Int(tag >> 3)
    }

    private mutating func varint() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < end else { throw DecodedSize.Refusal.malformed }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw DecodedSize.Refusal.malformed
    }

    private mutating func advance(_ count: UInt64) throws {
        guard count <= UInt64(end - position) else { throw DecodedSize.Refusal.malformed }
        position += Int(count)
    }

    private mutating func skip() throws {
        isPending = false
        switch wireType {
        case 0: _ = try varint()
        case 1: try advance(8)
        case 2: try advance(try varint())
        case 5: try advance(4)
        // Groups: no message of ours has them.
        default: throw DecodedSize.Refusal.malformed
        }
    }

    /// The length of the field that was announced; nil where it is of another shape, which the decoder passes over.
    private mutating func takeLength() throws -> Int? {
        guard isPending, wireType == 2 else { return nil }
        isPending = false
        let length = try varint()
        guard length <= UInt64(end - position) else { throw DecodedSize.Refusal.malformed }
        return Int(length)
    }

    // MARK: What takes memory of its own

    private mutating func content(place: Int, object: Int, fits: Int) throws {
        guard let length = try takeLength() else { return }
        try charge(place + (length > fits ? object + length : 0))
        position += length
    }

    private mutating func text(place: Int = 0) throws { try content(place: place, object: Cost.text, fits: 15) }
    private mutating func data(place: Int = 0) throws { try content(place: place, object: Cost.bytes, fits: 14) }

    private mutating func message<M: Message>(_: M.Type, place: Int) throws {
        guard let length = try takeLength() else { return }
        try charge(place + Cost.message(M.self))
        // Nothing is in it: most of what somebody sends who wants it to be much.
        guard length > 0 else { return }
        guard depth < DecodedSize.deepest else { throw DecodedSize.Refusal.malformed }
        let outer = end
        (end, depth) = (position + length, depth + 1)
        var nothing = M()
        try nothing.decodeMessage(decoder: &self)
        (end, depth) = (outer, depth - 1)
    }

    /// Packed or one by one; each takes a byte or more.
    private mutating func numbers<T>(_: T.Type) throws {
        guard let length = try takeLength() else { return try charge(Cost.place(T.self)) }
        try charge(length * Cost.place(T.self))
        position += length
    }

    mutating func decodeSingularStringField(value: inout String) throws { try text() }
    mutating func decodeSingularStringField(value: inout String?) throws { try text() }
    mutating func decodeRepeatedStringField(value: inout [String]) throws { try text(place: Cost.place(String.self)) }
    mutating func decodeSingularBytesField(value: inout Data) throws { try data() }
    mutating func decodeSingularBytesField(value: inout Data?) throws { try data() }
    mutating func decodeRepeatedBytesField(value: inout [Data]) throws { try data(place: Cost.place(Data.self)) }

    mutating func decodeSingularMessageField<M: Message>(value: inout M?) throws { try message(M.self, place: 0) }
    mutating func decodeRepeatedMessageField<M: Message>(value: inout [M]) throws {
        try message(M.self, place: Cost.place(M.self))
    }

    mutating func handleConflictingOneOf() throws {}

    // MARK: Numbers

    mutating func decodeSingularEnumField<E: Enum>(value: inout E) throws where E.RawValue == Int {}
    mutating func decodeSingularEnumField<E: Enum>(value: inout E?) throws where E.RawValue == Int {}
    mutating func decodeRepeatedEnumField<E: Enum>(value: inout [E]) throws where E.RawValue == Int {
        try numbers(E.self)
    }
    mutating func decodeSingularFloatField(value: inout Float) throws {}
    mutating func decodeSingularFloatField(value: inout Float?) throws {}
    mutating func decodeRepeatedFloatField(value: inout [Float]) throws { try numbers(Float.self) }
    mutating func decodeSingularDoubleField(value: inout Double) throws {}
    mutating func decodeSingularDoubleField(value: inout Double?) throws {}
    mutating func decodeRepeatedDoubleField(value: inout [Double]) throws { try numbers(Double.self) }
    mutating func decodeSingularInt32Field(value: inout Int32) throws {}
    mutating func decodeSingularInt32Field(value: inout Int32?) throws {}
    mutating func decodeRepeatedInt32Field(value: inout [Int32]) throws { try numbers(Int32.self) }
    mutating func decodeSingularInt64Field(value: inout Int64) throws {}
    mutating func decodeSingularInt64Field(value: inout Int64?) throws {}
    mutating func decodeRepeatedInt64Field(value: inout [Int64]) throws { try numbers(Int64.self) }
    mutating func decodeSingularUInt32Field(value: inout UInt32) throws {}
    mutating func decodeSingularUInt32Field(value: inout UInt32?) throws {}
    mutating func decodeRepeatedUInt32Field(value: inout [UInt32]) throws { try numbers(UInt32.self) }
    mutating func decodeSingularUInt64Field(value: inout UInt64) throws {}
    mutating func decodeSingularUInt64Field(value: inout UInt64?) throws {}
    mutating func decodeRepeatedUInt64Field(value: inout [UInt64]) throws { try numbers(UInt64.self) }
    mutating func decodeSingularSInt32Field(value: inout Int32) throws {}
    mutating func decodeSingularSInt32Field(value: inout Int32?) throws {}
    mutating func decodeRepeatedSInt32Field(value: inout [Int32]) throws { try numbers(Int32.self) }
    mutating func decodeSingularSInt64Field(value: inout Int64) throws {}
    mutating func decodeSingularSInt64Field(value: inout Int64?) throws {}
    mutating func decodeRepeatedSInt64Field(value: inout [Int64]) throws { try numbers(Int64.self) }
    mutating func decodeSingularFixed32Field(value: inout UInt32) throws {}
    mutating func decodeSingularFixed32Field(value: inout UInt32?) throws {}
    mutating func decodeRepeatedFixed32Field(value: inout [UInt32]) throws { try numbers(UInt32.self) }
    mutating func decodeSingularFixed64Field(value: inout UInt64) throws {}
    mutating func decodeSingularFixed64Field(value: inout UInt64?) throws {}
    mutating func decodeRepeatedFixed64Field(value: inout [UInt64]) throws { try numbers(UInt64.self) }
    mutating func decodeSingularSFixed32Field(value: inout Int32) throws {}
    mutating func decodeSingularSFixed32Field(value: inout Int32?) throws {}
    mutating func decodeRepeatedSFixed32Field(value: inout [Int32]) throws { try numbers(Int32.self) }
    mutating func decodeSingularSFixed64Field(value: inout Int64) throws {}
    mutating func decodeSingularSFixed64Field(value: inout Int64?) throws {}
    mutating func decodeRepeatedSFixed64Field(value: inout [Int64]) throws { try numbers(Int64.self) }
    mutating func decodeSingularBoolField(value: inout Bool) throws {}
    mutating func decodeSingularBoolField(value: inout Bool?) throws {}
    mutating func decodeRepeatedBoolField(value: inout [Bool]) throws { try numbers(Bool.self) }

    // MARK: What no message of ours has

    mutating func decodeSingularGroupField<G: Message>(value: inout G?) throws { throw DecodedSize.Refusal.malformed }
    mutating func decodeRepeatedGroupField<G: Message>(value: inout [G]) throws { throw DecodedSize.Refusal.malformed }
    mutating func decodeMapField<KeyType, ValueType: MapValueType>(
        fieldType: _ProtobufMap<KeyType, ValueType>.Type, value: inout _ProtobufMap<KeyType, ValueType>.BaseType
    ) throws { throw DecodedSize.Refusal.malformed }
    mutating func decodeMapField<KeyType, ValueType>(
        fieldType: _ProtobufEnumMap<KeyType, ValueType>.Type, value: inout _ProtobufEnumMap<KeyType, ValueType>.BaseType
    ) throws where ValueType.RawValue == Int { throw DecodedSize.Refusal.malformed }
    mutating func decodeMapField<KeyType, ValueType>(
        fieldType: _ProtobufMessageMap<KeyType, ValueType>.Type,
        value: inout _ProtobufMessageMap<KeyType, ValueType>.BaseType
    ) throws { throw DecodedSize.Refusal.malformed }
    mutating func decodeExtensionField(
        values: inout ExtensionFieldValueSet, messageType: any Message.Type, fieldNumber: Int
    ) throws { throw DecodedSize.Refusal.malformed }
}
