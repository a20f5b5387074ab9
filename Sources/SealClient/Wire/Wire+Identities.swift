// Messages of identities: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct SignedIdentity: WireMessage {
        public var statement: [UInt8] = []
        public var signature: [UInt8] = []
        public var previousSignature: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &statement)
            try coder.field(2, &signature)
            try coder.field(3, &previousSignature)
        }
    }

    public struct IdentityChain: WireMessage {
        public var identities: [SignedIdentity] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &identities)
        }
    }

    public struct RegisterIdentityRequest: WireMessage {
        public var container = ""
        public var chain: IdentityChain?
        public var loginBinding: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &container)
            try coder.optional(2, &chain)
            try coder.field(3, &loginBinding)
        }
    }

    public struct RegisterIdentityResponse: WireMessage {
        public var userRecordName = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &userRecordName)
        }
    }

    public struct LookupInfo: WireMessage {
        public enum Handle: Sendable {
            case email(String)
            case phone(String)
            case userRecordName(String)
        }

        public var handle: Handle?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.choice(1, &handle, { if case .email(let member) = $0 { member } else { nil } }, { .email($0) })
            try coder.choice(2, &handle, { if case .phone(let member) = $0 { member } else { nil } }, { .phone($0) })
            try coder.choice(
                3, &handle, { if case .userRecordName(let member) = $0 { member } else { nil } },
                { .userRecordName($0) })
        }
    }

    public struct LookupIdentitiesRequest: WireMessage {
        public var container = ""
        public var handles: [LookupInfo] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &container)
            try coder.list(2, &handles)
        }
    }

    public struct IdentityResult: WireMessage {
        public var handle: LookupInfo?
        public var chain: IdentityChain?
        public var failure: Failure?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &handle)
            try coder.optional(2, &chain)
            try coder.optional(220, &failure)
        }
    }

    public struct LookupIdentitiesResponse: WireMessage {
        public var results: [IdentityResult] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
        }
    }
}
