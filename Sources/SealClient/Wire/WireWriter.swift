/// Writes protobuf's binary encoding as SwiftProtobuf does: fields by their numbers, defaults left out.
public struct WireWriter: WireCoder {
    public typealias Failure = Never

    private(set) var bytes: [UInt8] = []
    private let lengths: [Int]
    private var next = 0

    /// - Parameter lengths: as ``WireSizer`` found them.
    init(capacity: Int, lengths: [Int]) {
        self.lengths = lengths
        bytes.reserveCapacity(capacity)
    }

    public mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        if !value.isDefault { write(number, value) }
    }

    public mutating func optional<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if let value { write(number, value) }
    }

    public mutating func list<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        for value in values { write(number, value) }
    }

    public mutating func choice<Choice, Value: WireValue>(
        _ number: UInt32, _ choice: inout Choice?, _ member: (Choice) -> Value?, _ make: (Value) -> Choice
    ) {
        if let choice, let value = member(choice) { write(number, value) }
    }

    private mutating func write<Value: WireValue>(_ number: UInt32, _ value: Value) {
        varint(UInt64(number) << 3 | UInt64(Value.form.rawValue))
        value.write(to: &self)
    }

    mutating func message<Message: WireMessage>(_ message: Message) {
        varint(UInt64(lengths[next]))
        next += 1
        var copy = message
        copy.code(&self)
    }

    mutating func varint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    mutating func eightBytes(_ value: UInt64) {
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * shift))) }
    }

    mutating func content(_ content: some Collection<UInt8>) {
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }
}
