// Messages of zones and scopes: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct ZoneID: WireMessage {
        public var zoneName = ""
        public var ownerName = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &zoneName)
            try coder.field(2, &ownerName)
        }
    }

    public struct ScopeHead: WireMessage {
        public var zone: ZoneID?
        public var shareRecordName = ""
        public var sequence: UInt64 = 0
        public var head: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.field(2, &shareRecordName)
            try coder.field(3, &sequence)
            try coder.field(4, &head)
        }
    }

    public struct Zone: WireMessage {
        public var zoneID: ZoneID?
        public var capabilities: UInt32 = 0
        public var scope: ScopeHead?
        public var shared = false
        public var changeTag = ""
        public var shares: [ScopeHead] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zoneID)
            try coder.field(2, &capabilities)
            try coder.optional(3, &scope)
            try coder.field(4, &shared)
            try coder.field(5, &changeTag)
            try coder.list(100, &shares)
        }
    }

    public struct ZoneSave: WireMessage {
        public var zoneID: ZoneID?
        public var open: SignedEntry?
        public var grant: Grant?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zoneID)
            try coder.optional(2, &open)
            try coder.optional(3, &grant)
        }
    }

    public struct ZoneDelete: WireMessage {
        public var zoneID: ZoneID?
        public var close: SignedEntry?
        public var reason: UInt32 = 0
        public var shares: [ShareClosing] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zoneID)
            try coder.optional(2, &close)
            try coder.field(3, &reason)
            try coder.list(100, &shares)
        }
    }

    public struct ModifyZonesRequest: WireMessage {
        public var operationID: [UInt8] = []
        public var saves: [ZoneSave] = []
        public var deletes: [ZoneDelete] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &operationID)
            try coder.list(2, &saves)
            try coder.list(3, &deletes)
        }
    }

    public struct ZoneResult: WireMessage {
        public enum Outcome: Sendable {
            case zone(Zone)
            case deleted(Bool)
            case failure(Failure)
        }

        public var zoneID: ZoneID?
        public var outcome: Outcome?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zoneID)
            try coder.choice(2, &outcome, { if case .zone(let member) = $0 { member } else { nil } }, { .zone($0) })
            try coder.choice(
                3, &outcome, { if case .deleted(let member) = $0 { member } else { nil } }, { .deleted($0) })
            try coder.choice(
                4, &outcome, { if case .failure(let member) = $0 { member } else { nil } }, { .failure($0) })
        }
    }

    public struct ModifyZonesResponse: WireMessage {
        public var results: [ZoneResult] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
        }
    }

    public struct LookupZonesRequest: WireMessage {
        public var zones: [ZoneID] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &zones)
        }
    }

    public struct LookupZonesResponse: WireMessage {
        public var results: [ZoneResult] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
        }
    }

    public struct DatabaseChangesRequest: WireMessage {
        public var token: [UInt8] = []
        public var resultsLimit: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &token)
            try coder.field(2, &resultsLimit)
        }
    }

    public struct ZoneDeletion: WireMessage {
        public var zoneID: ZoneID?
        public var reason: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zoneID)
            try coder.field(2, &reason)
        }
    }

    public struct DatabaseChangesResponse: WireMessage {
        public var modifications: [Zone] = []
        public var deletions: [ZoneDeletion] = []
        public var token: [UInt8] = []
        public var moreComing = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &modifications)
            try coder.list(2, &deletions)
            try coder.field(3, &token)
            try coder.field(4, &moreComing)
        }
    }
}
