public import SealPrimitives

/// Reads protobuf's binary encoding, and of it only what has one meaning (``WireMessage``). It keeps the bytes that it
/// was given, and copies of them what a field holds.
public struct WireReader: WireCoder {
    /// Messages within messages, the outermost among them.
    public static let deepest = 32
    /// Bytes of memory in lists that a byte of a message may become, and what any message may take beside that.
    /// Two bytes can stand for an empty element of some hundred.
    private static let (perByte, free) = (64, 1_048_576)

    private let bytes: [UInt8]
    private var offset = 0
    /// Of the message that is being read.
    private var end: Int
    private var depth = 0
    /// The field that was announced; 0 once it is taken, which no field has.
    private var announced: UInt32 = 0
    private var form = WireForm.number
    /// Bytes of memory that elements may still take.
    private var left: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
        // In a browser an Int has 32 bits.
        let (room, isMore) = bytes.count.multipliedReportingOverflow(by: WireReader.perByte)
        left = isMore ? Int.max : min(room, Int.max - WireReader.free) + WireReader.free
    }

    // MARK: Messages

    /// The outermost message, or what is left of the one that is being read.
    mutating func fields<Message: WireMessage>(of message: inout Message) throws(SealError) {
        while offset < end {
            try announce()
            try message.code(&self)
            if announced != 0 { try skip() }
        }
    }

    mutating func message<Message: WireMessage>(_ message: inout Message) throws(SealError) {
        let length = try self.length()
        guard depth + 1 < WireReader.deepest else { throw .malformed }
        let outer = end
        (end, depth) = (offset + length, depth + 1)
        try fields(of: &message)
        (end, depth) = (outer, depth - 1)
    }

    /// Takes what an element is going to take from what may be taken.
    mutating func charge(_ count: Int, of size: Int) throws(SealError) {
        let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: size)
        guard !isTooMuch, bytes <= left else { throw .invalidLength }
        left -= bytes
    }

    // MARK: Fields

    public mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) throws(SealError) {
        guard try take(number, Value.form) else { return }
        value = try Value(reading: &self)
    }

    public mutating func optional<Value: WireValue>(_ number: UInt32, _ value: inout Value?) throws(SealError) {
        guard try take(number, Value.form) else { return }
        // protobuf would merge the two.
        guard !Value.isMessage || value == nil else { throw .malformed }
        value = try Value(reading: &self)
    }

    public mutating func list<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) throws(SealError) {
        guard try take(number, Value.form) else { return }
        if values.isEmpty {
            let count = try self.count(of: number)
            try charge(count, of: MemoryLayout<Value>.stride)
            values.reserveCapacity(count)
        }
        values.append(try Value(reading: &self))
    }

    public mutating func choice<Choice, Value: WireValue>(
        _ number: UInt32, _ choice: inout Choice?, _ member: (Choice) -> Value?, _ make: (Value) -> Choice
    ) throws(SealError) {
        guard try take(number, Value.form) else { return }
        if Value.isMessage, let choice, member(choice) != nil { throw .malformed }
        choice = make(try Value(reading: &self))
    }

    private mutating func announce() throws(SealError) {
        let tag = try varint()
        guard tag <= UInt64(UInt32.max), tag >= 8, let form = WireForm(rawValue: UInt32(tag & 7)) else {
            throw .malformed
        }
        (announced, self.form) = (UInt32(tag >> 3), form)
    }

    private mutating func take(_ number: UInt32, _ form: WireForm) throws(SealError) -> Bool {
        guard number == announced else { return false }
        guard form == self.form else { throw .malformed }
        announced = 0
        return true
    }

    private mutating func skip() throws(SealError) {
        announced = 0
        switch form {
        case .number: _ = try varint()
        case .eightBytes: _ = try take(8)
        case .bytes: _ = try content()
        case .fourBytes: _ = try take(4)
        }
    }

    /// How many elements a list has whose first one is about to be read: counted before there is room for any.
    private func count(of number: UInt32) throws(SealError) -> Int {
        var rest = self
        try rest.skip()
        var count = 1
        while rest.offset < rest.end {
            try rest.announce()
            if rest.announced == number { count += 1 }
            try rest.skip()
        }
        return count
    }

    // MARK: Values

    mutating func varint() throws(SealError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < end {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                // The tenth byte has the last bit; and a last byte of 0 adds nothing.
                guard shift < 63 || byte == 1, byte != 0 || shift == 0 else { throw .malformed }
                return value
            }
            shift += 7
            guard shift <= 63 else { throw .malformed }
        }
        throw .malformed
    }

    mutating func eightBytes() throws(SealError) -> UInt64 {
        var value: UInt64 = 0
        for index in try take(8).reversed() { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// The bytes behind a length.
    mutating func content() throws(SealError) -> ArraySlice<UInt8> { bytes[try take(try length())] }

    private mutating func length() throws(SealError) -> Int {
        guard let length = Int(exactly: try varint()), length <= end - offset else { throw .malformed }
        return length
    }

    private mutating func take(_ count: Int) throws(SealError) -> Range<Int> {
        guard count <= end - offset else { throw .malformed }
        defer { offset += count }
        return offset..<offset + count
    }
}
