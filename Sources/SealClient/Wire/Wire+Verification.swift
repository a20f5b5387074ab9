// Messages of addresses that are proven: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct BeginVerificationRequest: WireMessage {
        public var container = ""
        public var routingID: [UInt8] = []
        public var address = ""
        public var language = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &container)
            try coder.field(2, &routingID)
            try coder.field(3, &address)
            try coder.field(220, &language)
        }
    }

    public struct BeginVerificationResponse: WireMessage {
        public var verificationID: [UInt8] = []
        public var expires: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &verificationID)
            try coder.field(2, &expires)
        }
    }

    public struct CompleteVerificationRequest: WireMessage {
        public var verificationID: [UInt8] = []
        public var code = ""
        public var signature: [UInt8] = []
        public var address = ""
        public var isDiscoverable = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &verificationID)
            try coder.field(2, &code)
            try coder.field(3, &signature)
            try coder.field(4, &address)
            try coder.field(220, &isDiscoverable)
        }
    }

    public struct CompleteVerificationResponse: WireMessage {
        public var token = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &token)
        }
    }
}
