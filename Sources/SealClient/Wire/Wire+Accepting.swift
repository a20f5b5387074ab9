// Messages of a share behind its URL: looking, accepting, asking: sealkit.proto, sharing.proto in SealWire say what
// each field means.

extension Wire {
    public struct ShareMetadataRequest: WireMessage {
        public var routingID: [UInt8] = []
        public var firstSequence: UInt64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &routingID)
            try coder.field(2, &firstSequence)
        }
    }

    public struct ShareMetadataResponse: WireMessage {
        public var container = ""
        public var environment = ""
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var invitationID: [UInt8] = []
        public var entries: [SignedEntry] = []
        public var grant: Grant?
        public var preview: [UInt8] = []
        public var alreadyMember = false
        public var moreComing = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &container)
            try coder.field(2, &environment)
            try coder.optional(3, &zone)
            try coder.field(4, &shareRecordName)
            try coder.field(5, &invitationID)
            try coder.list(6, &entries)
            try coder.optional(7, &grant)
            try coder.field(8, &preview)
            try coder.field(9, &alreadyMember)
            try coder.field(10, &moreComing)
        }
    }

    public struct AcceptShareRequest: WireMessage {
        public var operationID: [UInt8] = []
        public var routingID: [UInt8] = []
        public var entry: SignedEntry?
        public var grant: Grant?
        public var token = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &operationID)
            try coder.field(2, &routingID)
            try coder.optional(3, &entry)
            try coder.optional(4, &grant)
            try coder.field(5, &token)
        }
    }

    public struct AcceptShareResponse: WireMessage {
        public var position: UInt64 = 0
        public var scope: ScopeHead?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &position)
            try coder.optional(2, &scope)
        }
    }

    public struct SharePlaceRequest: WireMessage {
        public var routingID: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &routingID)
        }
    }

    public struct SharePlaceResponse: WireMessage {
        public var container = ""
        public var environment = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &container)
            try coder.field(2, &environment)
        }
    }

    public struct ShareOwnerRequest: WireMessage {
        public var routingID: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &routingID)
        }
    }

    public struct ShareOwnerResponse: WireMessage {
        public var container = ""
        public var environment = ""
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var owner: IdentityChain?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &container)
            try coder.field(2, &environment)
            try coder.optional(3, &zone)
            try coder.field(4, &shareRecordName)
            try coder.optional(5, &owner)
        }
    }

    public struct RequestShareAccessRequest: WireMessage {
        public var routingID: [UInt8] = []
        public var requestID: [UInt8] = []
        public var sealedContact: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &routingID)
            try coder.field(2, &requestID)
            try coder.field(3, &sealedContact)
        }
    }

    public struct RequestShareAccessResponse: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }
}
