// Messages of ways back into an account, and new keys for it: recovery.proto, sealkit.proto in SealWire say what each
// field means.

extension Wire {
    public struct RecoveryBundle: WireMessage {
        public var recoveryID: [UInt8] = []
        public var sealed: [UInt8] = []
        public var kind: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &recoveryID)
            try coder.field(2, &sealed)
            try coder.field(250, &kind)
        }
    }

    public struct RecoverRequest: WireMessage {
        public var recoveryID: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &recoveryID)
        }
    }

    public struct RecoverResponse: WireMessage {
        public var sealed: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &sealed)
        }
    }

    public struct DeleteRecoveryBundleRequest: WireMessage {
        public var kind: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &kind)
        }
    }

    public struct RecoveryBundlesRequest: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }

    public struct RecoveryBundlesResponse: WireMessage {
        public struct Bundle: WireMessage {
            public var kind: UInt32 = 0
            public var saved: Int64 = 0

            public init() {}

            public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
                try coder.field(1, &kind)
                try coder.field(2, &saved)
            }
        }

        public var bundles: [Bundle] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &bundles)
        }
    }

    public struct RotateKeysRequest: WireMessage {
        public var login: LoginRequest?
        public var formerLoginKey: [UInt8] = []
        public var formerSignature: [UInt8] = []
        public var recovery: [RecoveryBundle] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &login)
            try coder.field(2, &formerLoginKey)
            try coder.field(3, &formerSignature)
            try coder.list(4, &recovery)
        }
    }
}
