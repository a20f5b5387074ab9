public import SealPrimitives

/// A message within one of its own type, which has no room for it in its own place.
public indirect enum Nested<Message: WireMessage>: WireMessage {
    case message(Message)

    public init() { self = .message(Message()) }
    public init(_ message: Message) { self = .message(message) }

    public init(reading reader: inout WireReader) throws(SealError) {
        try reader.charge(1, of: MemoryLayout<Message>.stride)
        self = .message(try Message(reading: &reader))
    }

    public var message: Message {
        switch self {
        case .message(let message): message
        }
    }

    public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        var message = self.message
        try message.code(&coder)
        self = .message(message)
    }
}
