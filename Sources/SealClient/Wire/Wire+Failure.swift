// Messages of what every answer and every item may be instead: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct Failure: WireMessage {
        public var code = ""
        public var reason = ""
        public var remedy = ""
        public var retryAfter: Double = 0
        public var userDidResetEncryptedData = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &code)
            try coder.field(2, &reason)
            try coder.field(3, &remedy)
            try coder.field(4, &retryAfter)
            try coder.field(250, &userDidResetEncryptedData)
        }
    }
}
