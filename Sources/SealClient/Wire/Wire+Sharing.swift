// Messages of shares: their URLs, their beginning and end: sealkit.proto and sharing.proto in SealWire say what each
// field means.

extension Wire {
    public struct ShareOpening: WireMessage {
        public var shareRecordName = ""
        public var open: SignedEntry?
        public var grant: Grant?
        public var following: AppendRosterRequest?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &shareRecordName)
            try coder.optional(2, &open)
            try coder.optional(3, &grant)
            try coder.optional(210, &following)
        }
    }

    public struct ShareClosing: WireMessage {
        public var shareRecordName = ""
        public var close: SignedEntry?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &shareRecordName)
            try coder.optional(2, &close)
        }
    }

    public struct Link: WireMessage {
        public var routingID: [UInt8] = []
        public var invitationID: [UInt8] = []
        public var keptSecret: [UInt8] = []
        public var preview: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &routingID)
            try coder.field(2, &invitationID)
            try coder.field(3, &keptSecret)
            try coder.field(4, &preview)
        }
    }

    public struct SealedLink: WireMessage {
        public var reader: [UInt8] = []
        public var sealed: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &reader)
            try coder.field(2, &sealed)
        }
    }

    public struct PlaceholderAddress: WireMessage {
        public var invitationID: [UInt8] = []
        public var address = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &invitationID)
            try coder.field(2, &address)
        }
    }

    public struct LinksRequest: WireMessage {
        public var zone: ZoneID?
        public var shareRecordName = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.field(2, &shareRecordName)
        }
    }

    public struct LinksResponse: WireMessage {
        public var links: [Link] = []
        public var sealedLink: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &links)
            try coder.field(120, &sealedLink)
        }
    }

    public struct UpdateLinksRequest: WireMessage {
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var links: [Link] = []
        public var sealedLinks: [SealedLink] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.field(2, &shareRecordName)
            try coder.list(3, &links)
            try coder.list(4, &sealedLinks)
        }
    }
}
