public import SealPrimitives

/// protobuf's `uint64`.
extension UInt64: WireValue {
    public static var form: WireForm { .number }
    public var isDefault: Bool { self == 0 }
    public init(reading reader: inout WireReader) throws(SealError) { self = try reader.varint() }
    public func measure(with sizer: inout WireSizer) { sizer.varint(self) }
    public func write(to writer: inout WireWriter) { writer.varint(self) }
}

/// protobuf's `uint32`; a larger number is refused.
extension UInt32: WireValue {
    public static var form: WireForm { .number }
    public var isDefault: Bool { self == 0 }
    public init(reading reader: inout WireReader) throws(SealError) {
        guard let value = UInt32(exactly: try reader.varint()) else { throw .malformed }
        self = value
    }
    public func measure(with sizer: inout WireSizer) { sizer.varint(UInt64(self)) }
    public func write(to writer: inout WireWriter) { writer.varint(UInt64(self)) }
}

/// protobuf's `sint64`: the sign is the lowest bit. The one `int64` there is, ``Wire/UploadState``'s, goes as `uint64`.
extension Int64: WireValue {
    public static var form: WireForm { .number }
    public var isDefault: Bool { self == 0 }
    private var zigzag: UInt64 { UInt64(bitPattern: self << 1 ^ self >> 63) }
    public init(reading reader: inout WireReader) throws(SealError) {
        let number = try reader.varint()
        self = Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }
    public func measure(with sizer: inout WireSizer) { sizer.varint(zigzag) }
    public func write(to writer: inout WireWriter) { writer.varint(zigzag) }
}

/// protobuf's `bool`: 0 or 1, and no other number.
extension Bool: WireValue {
    public static var form: WireForm { .number }
    public var isDefault: Bool { !self }
    public init(reading reader: inout WireReader) throws(SealError) {
        switch try reader.varint() {
        case 0: self = false
        case 1: self = true
        default: throw .malformed
        }
    }
    public func measure(with sizer: inout WireSizer) { sizer.add(1) }
    public func write(to writer: inout WireWriter) { writer.varint(self ? 1 : 0) }
}

/// protobuf's `double`. Negative zero is not the default.
extension Double: WireValue {
    public static var form: WireForm { .eightBytes }
    public var isDefault: Bool { bitPattern == 0 }
    public init(reading reader: inout WireReader) throws(SealError) { self.init(bitPattern: try reader.eightBytes()) }
    public func measure(with sizer: inout WireSizer) { sizer.add(8) }
    public func write(to writer: inout WireWriter) { writer.eightBytes(bitPattern) }
}

/// protobuf's `string`: well-formed UTF-8.
extension String: WireValue {
    public static var form: WireForm { .bytes }
    public var isDefault: Bool { utf8.isEmpty }
    public init(reading reader: inout WireReader) throws(SealError) {
        guard let text = String(wellFormed: try reader.content()) else { throw .malformed }
        self = text
    }
    public func measure(with sizer: inout WireSizer) { sizer.content(utf8.count) }
    public func write(to writer: inout WireWriter) { writer.content(utf8) }
}

/// protobuf's `bytes`.
extension [UInt8]: WireValue {
    public static var form: WireForm { .bytes }
    public var isDefault: Bool { isEmpty }
    public init(reading reader: inout WireReader) throws(SealError) { self.init(try reader.content()) }
    public func measure(with sizer: inout WireSizer) { sizer.content(count) }
    public func write(to writer: inout WireWriter) { writer.content(self) }
}
