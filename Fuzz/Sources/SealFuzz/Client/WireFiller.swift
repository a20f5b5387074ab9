import SealClient

/// Fills each field of a message, and each list with one element: a seed that shows the fuzzer all there is.
struct WireFiller: WireCoder {
    typealias Failure = Never

    private var depth = 0

    mutating func message<Message: WireMessage>(_: Message.Type = Message.self) -> Message {
        var message = Message()
        depth += 1
        message.code(&self)
        depth -= 1
        return message
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) { value = make() }
    mutating func optional<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if depth < 6 { value = make() }
    }
    mutating func list<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        if depth < 6 { values = [make()] }
    }
    mutating func choice<Choice, Value: WireValue>(
        _ number: UInt32, _ choice: inout Choice?, _ member: (Choice) -> Value?, _ make: (Value) -> Choice
    ) {
        if depth < 6 { choice = make(self.make()) }
    }

    private mutating func make<Value: WireValue>() -> Value {
        let made: any WireValue =
            switch Value.self {
            case is String.Type: "a"
            case is [UInt8].Type: [UInt8](repeating: 1, count: 32)
            case is UInt64.Type: 1 as UInt64
            case is UInt32.Type: 1 as UInt32
            case is Int64.Type: 1 as Int64
            case is Double.Type: 1.0
            case is Bool.Type: true
            case let type as any WireMessage.Type: open(type)
            default: Value()
            }
        return made as? Value ?? Value()
    }

    private mutating func open<Message: WireMessage>(_ type: Message.Type) -> any WireValue { message(type) }
}
