public import SealPrimitives

/// A message of protobuf, written and read by hand: SwiftProtobuf is not Embedded Swift.
///
/// Written bytes are SwiftProtobuf's. What is read has to have one meaning: bytes that are cut short, numbers in more
/// bytes than they need or of more bits than their field has, fields of another form than theirs, groups, text that is
/// no UTF-8, a message twice where one is meant, and nesting deeper than ``WireReader/deepest`` are refused. Unknown
/// fields are passed over, and of other fields that come twice the last one counts, as everywhere in protobuf. Whatever
/// is read here is read by SwiftProtobuf alike.
public protocol WireMessage: WireValue, CustomStringConvertible {
    /// Shows the coder each field, in the order of their numbers.
    mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure)

    // Named here, so that each message has its own: compiled for it, and not for whatever message there is.
    /// - Throws: `malformed`; `invalidLength` where its lists would take far more memory than its bytes show for.
    init(protobuf bytes: [UInt8]) throws(SealError)
    func protobuf() -> [UInt8]
}

extension WireMessage {
    public static var form: WireForm { .bytes }
    public static var isMessage: Bool { true }
    /// A message that is there says something, even an empty one.
    public var isDefault: Bool { false }

    public init(protobuf bytes: [UInt8]) throws(SealError) {
        var reader = WireReader(bytes)
        self.init()
        try reader.fields(of: &self)
    }

    public func protobuf() -> [UInt8] {
        var copy = self
        var sizer = WireSizer()
        copy.code(&sizer)
        var writer = WireWriter(capacity: sizer.total, lengths: sizer.lengths)
        copy.code(&writer)
        return writer.bytes
    }

    public static func with<Failure: Error>(_ fill: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var message = Self()
        try fill(&message)
        return message
    }

    /// Nothing of what it holds, which may be a session's token.
    public var description: String { "WireMessage" }

    public init(reading reader: inout WireReader) throws(SealError) {
        self.init()
        try reader.message(&self)
    }

    public func measure(with sizer: inout WireSizer) { sizer.message(self) }
    public func write(to writer: inout WireWriter) { writer.message(self) }
}
