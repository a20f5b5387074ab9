// Messages of what the server limits: limits.proto in SealWire says what each field means.

extension Wire {
    public struct Limit: WireMessage {
        public var name = ""
        public var value: UInt64 = 0
        public var unit = ""
        public var code = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &name)
            try coder.field(2, &value)
            try coder.field(3, &unit)
            try coder.field(4, &code)
        }
    }

    public struct LimitsResponse: WireMessage {
        public var limits: [Limit] = []
        public var registration = ""
        public var origin = ""
        public var codes: [String] = []
        public var webBundle: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &limits)
            try coder.field(2, &registration)
            try coder.field(3, &origin)
            try coder.list(4, &codes)
            try coder.field(5, &webBundle)
        }
    }
}
