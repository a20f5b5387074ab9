public import SealPrimitives

/// What a field of a message can hold, and how protobuf writes it.
public protocol WireValue: Sendable {
    static var form: WireForm { get }
    /// A message within a message: it may not come twice where one is meant.
    static var isMessage: Bool { get }
    /// Nothing is written of it where a field is not told apart from an absent one.
    var isDefault: Bool { get }
    init()
    init(reading reader: inout WireReader) throws(SealError)
    /// Adds the bytes that `write` will write.
    func measure(with sizer: inout WireSizer)
    func write(to writer: inout WireWriter)
}

extension WireValue {
    public static var isMessage: Bool { false }
}

/// The shapes that protobuf tells apart without knowing a message. Groups have two more, and are refused.
public enum WireForm: UInt32, Sendable {
    case number = 0
    case eightBytes = 1
    case bytes = 2
    case fourBytes = 5
}
