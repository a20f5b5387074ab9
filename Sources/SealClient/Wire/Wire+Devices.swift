// Messages of an account's devices: devices.proto in SealWire says what each field means.

extension Wire {
    public struct Device: WireMessage {
        public var id: [UInt8] = []
        public var name = ""
        public var added: Int64 = 0
        public var signature: [UInt8] = []
        public var lastSeen: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &id)
            try coder.field(2, &name)
            try coder.field(3, &added)
            try coder.field(4, &signature)
            try coder.field(5, &lastSeen)
        }
    }

    public struct ListDevicesRequest: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }

    public struct DevicesResponse: WireMessage {
        public var revision: UInt64 = 0
        public var devices: [Device] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &revision)
            try coder.list(2, &devices)
        }
    }

    public struct NameDeviceRequest: WireMessage {
        public var id: [UInt8] = []
        public var name = ""
        public var added: Int64 = 0
        public var signature: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &id)
            try coder.field(2, &name)
            try coder.field(3, &added)
            try coder.field(4, &signature)
        }
    }

    public struct RevokeDeviceRequest: WireMessage {
        public var id: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &id)
        }
    }
}
