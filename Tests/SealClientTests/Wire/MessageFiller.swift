import SealClient
import SealLab

/// Fills messages with what the seed gives, by their own descriptions of their fields.
struct MessageFiller: WireCoder {
    typealias Failure = Never

    var random: SeededRandom
    private var depth = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func message<Message: WireMessage>(_: Message.Type = Message.self) -> Message {
        var message = Message()
        depth += 1
        message.code(&self)
        depth -= 1
        return message
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        if random.below(8) > 0 { value = make() }
    }

    mutating func optional<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if depth < 7, random.below(2) == 0 { value = make() }
    }

    mutating func list<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        guard depth < 7 else { return }
        for _ in 0..<random.below(4) { values.append(make()) }
    }

    mutating func choice<Choice, Value: WireValue>(
        _ number: UInt32, _ choice: inout Choice?, _ member: (Choice) -> Value?, _ make: (Value) -> Choice
    ) {
        if depth < 7 || !Value.isMessage, random.below(3) == 0 { choice = make(self.make()) }
    }

    private mutating func make<Value: WireValue>() -> Value {
        let made: any WireValue =
            switch Value.self {
            case is String.Type: text()
            case is [UInt8].Type: (0..<random.length()).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            case is UInt64.Type: random.number()
            case is UInt32.Type: UInt32(truncatingIfNeeded: random.number())
            case is Int64.Type: Int64(bitPattern: random.number())
            case is Double.Type: Double(Int16(truncatingIfNeeded: random.number())) / 8
            case is Bool.Type: random.below(2) == 0
            case is Wire.Comparator.Type: Wire.Comparator(rawValue: UInt32(random.below(16))) ?? .near
            case let type as any WireMessage.Type: open(type)
            default: preconditionFailure("a kind of value that nothing is made of: \(Value.self)")
            }
        return made as! Value
    }

    private mutating func open<Message: WireMessage>(_ type: Message.Type) -> any WireValue { message(type) }

    private mutating func text() -> String {
        let letters: [Character] = ["a", "Z", "0", " ", "\u{0}", "é", "€", "𝄞", "\u{301}"]
        return String((0..<random.length()).map { _ in letters[random.below(letters.count)] })
    }
}
