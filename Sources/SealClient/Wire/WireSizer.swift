/// How many bytes a message takes, and each message in it: a length stands before what it is the length of.
public struct WireSizer: WireCoder {
    public typealias Failure = Never

    private(set) var total = 0
    /// Of the messages within, in the order in which they are written.
    private(set) var lengths: [Int] = []

    public mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        if !value.isDefault { add(number, value) }
    }

    public mutating func optional<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if let value { add(number, value) }
    }

    public mutating func list<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        for value in values { add(number, value) }
    }

    public mutating func choice<Choice, Value: WireValue>(
        _ number: UInt32, _ choice: inout Choice?, _ member: (Choice) -> Value?, _ make: (Value) -> Choice
    ) {
        if let choice, let value = member(choice) { add(number, value) }
    }

    private mutating func add<Value: WireValue>(_ number: UInt32, _ value: Value) {
        varint(UInt64(number) << 3)
        value.measure(with: &self)
    }

    mutating func message<Message: WireMessage>(_ message: Message) {
        let (outer, place) = (total, lengths.count)
        total = 0
        lengths.append(0)
        var copy = message
        copy.code(&self)
        let length = total
        lengths[place] = length
        total = outer
        content(length)
    }

    mutating func varint(_ value: UInt64) { total += max(1, (70 - value.leadingZeroBitCount) / 7) }
    mutating func add(_ count: Int) { total += count }

    mutating func content(_ count: Int) {
        varint(UInt64(count))
        total += count
    }
}
