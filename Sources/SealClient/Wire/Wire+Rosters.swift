// Messages of rosters: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct SignedEntry: WireMessage {
        public var entry: [UInt8] = []
        public var signature: [UInt8] = []
        public var position: UInt64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &entry)
            try coder.field(2, &signature)
            try coder.field(3, &position)
        }
    }

    public struct Grant: WireMessage {
        public var subjectKind: UInt32 = 0
        public var subject: [UInt8] = []
        public var epoch: UInt32 = 0
        public var sealed: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &subjectKind)
            try coder.field(2, &subject)
            try coder.field(3, &epoch)
            try coder.field(4, &sealed)
        }
    }

    public struct RosterRequest: WireMessage {
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var after: UInt64 = 0
        public var fromStart = false
        public var head: [UInt8] = []
        public var grantsBefore: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.field(2, &shareRecordName)
            try coder.field(3, &after)
            try coder.field(4, &fromStart)
            try coder.field(200, &head)
            try coder.field(201, &grantsBefore)
        }
    }

    public struct FetchRostersRequest: WireMessage {
        public var rosters: [RosterRequest] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &rosters)
        }
    }

    public struct RosterTail: WireMessage {
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var entries: [SignedEntry] = []
        public var grants: [Grant] = []
        public var failure: Failure?
        public var headSequence: UInt64 = 0
        public var head: [UInt8] = []
        public var ungranted = false
        public var abandoned: [SignedEntry] = []
        public var moreComing = false
        public var moreGrants = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.field(2, &shareRecordName)
            try coder.list(3, &entries)
            try coder.list(4, &grants)
            try coder.optional(5, &failure)
            try coder.field(200, &headSequence)
            try coder.field(201, &head)
            try coder.field(202, &ungranted)
            try coder.list(203, &abandoned)
            try coder.field(204, &moreComing)
            try coder.field(205, &moreGrants)
        }
    }

    public struct FetchRostersResponse: WireMessage {
        public var rosters: [RosterTail] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &rosters)
        }
    }

    public struct AppendRosterRequest: WireMessage {
        public var operationID: [UInt8] = []
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var entry: SignedEntry?
        public var grants: [Grant] = []
        public var links: [Link] = []
        public var addresses: [PlaceholderAddress] = []
        public var sealedLinks: [SealedLink] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &operationID)
            try coder.optional(2, &zone)
            try coder.field(3, &shareRecordName)
            try coder.optional(4, &entry)
            try coder.list(5, &grants)
            try coder.list(6, &links)
            try coder.list(7, &addresses)
            try coder.list(120, &sealedLinks)
        }
    }

    public struct AppendRosterResponse: WireMessage {
        public var position: UInt64 = 0
        public var scope: ScopeHead?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &position)
            try coder.optional(2, &scope)
        }
    }
}
