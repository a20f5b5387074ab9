// Messages of accounts and their sessions: deletion.proto, sealkit.proto in SealWire say what each field means.

extension Wire {
    public struct ChallengeRequest: WireMessage {
        public var loginKey: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &loginKey)
        }
    }

    public struct ChallengeResponse: WireMessage {
        public var challenge: [UInt8] = []
        public var expires: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &challenge)
            try coder.field(2, &expires)
        }
    }

    public struct CreateAccountRequest: WireMessage {
        public var loginKey: [UInt8] = []
        public var challenge: [UInt8] = []
        public var time: Int64 = 0
        public var signature: [UInt8] = []
        public var deviceName = ""
        public var recovery: RecoveryBundle?
        public var deviceID: [UInt8] = []
        public var deviceAdded: Int64 = 0
        public var deviceSignature: [UInt8] = []
        public var registrationCode = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &loginKey)
            try coder.field(2, &challenge)
            try coder.field(3, &time)
            try coder.field(4, &signature)
            try coder.field(5, &deviceName)
            try coder.optional(6, &recovery)
            try coder.field(230, &deviceID)
            try coder.field(231, &deviceAdded)
            try coder.field(232, &deviceSignature)
            try coder.field(233, &registrationCode)
        }
    }

    public struct LoginRequest: WireMessage {
        public var loginKey: [UInt8] = []
        public var challenge: [UInt8] = []
        public var time: Int64 = 0
        public var signature: [UInt8] = []
        public var deviceName = ""
        public var deviceID: [UInt8] = []
        public var deviceAdded: Int64 = 0
        public var deviceSignature: [UInt8] = []
        public var knownDevices: UInt64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &loginKey)
            try coder.field(2, &challenge)
            try coder.field(3, &time)
            try coder.field(4, &signature)
            try coder.field(5, &deviceName)
            try coder.field(230, &deviceID)
            try coder.field(231, &deviceAdded)
            try coder.field(232, &deviceSignature)
            try coder.field(233, &knownDevices)
        }
    }

    public struct SessionResponse: WireMessage {
        public var token = ""
        public var expires: Int64 = 0
        public var account = ""
        public var devices: DevicesResponse?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &token)
            try coder.field(2, &expires)
            try coder.field(3, &account)
            try coder.optional(230, &devices)
        }
    }

    public struct AccountResponse: WireMessage {
        public var account = ""
        public var identities: [String] = []
        public var linkedAddresses: UInt32 = 0
        public var sessionExpires: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &account)
            try coder.list(2, &identities)
            try coder.field(3, &linkedAddresses)
            try coder.field(4, &sessionExpires)
        }
    }

    public struct DeleteAccountRequest: WireMessage {
        public var loginKey: [UInt8] = []
        public var challenge: [UInt8] = []
        public var time: Int64 = 0
        public var signature: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &loginKey)
            try coder.field(2, &challenge)
            try coder.field(3, &time)
            try coder.field(4, &signature)
        }
    }

    public struct DeleteAccountResponse: WireMessage {
        public var erased = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &erased)
        }
    }
}
