// Messages of reading and writing records: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct ModifyRecordsRequest: WireMessage {
        public var operationID: [UInt8] = []
        public var zone: ZoneID?
        public var atomic = false
        public var records: [Record] = []
        public var signature: [UInt8] = []
        public var openings: [ShareOpening] = []
        public var closings: [ShareClosing] = []
        public var rekeying = false
        public var restoring = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &operationID)
            try coder.optional(2, &zone)
            try coder.field(3, &atomic)
            try coder.list(4, &records)
            try coder.field(5, &signature)
            try coder.list(100, &openings)
            try coder.list(101, &closings)
            try coder.field(140, &rekeying)
            try coder.field(200, &restoring)
        }
    }

    public struct RecordResult: WireMessage {
        public enum Outcome: Sendable {
            case record(Record)
            case failure(Failure)
        }

        public var recordName = ""
        public var outcome: Outcome?
        public var serverRecord: Record?
        public var dependents: [String] = []
        public var taken: TakenRecords?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &recordName)
            try coder.choice(2, &outcome, { if case .record(let member) = $0 { member } else { nil } }, { .record($0) })
            try coder.choice(
                3, &outcome, { if case .failure(let member) = $0 { member } else { nil } }, { .failure($0) })
            try coder.optional(4, &serverRecord)
            try coder.list(210, &dependents)
            try coder.optional(260, &taken)
        }
    }

    public struct ModifyRecordsResponse: WireMessage {
        public var results: [RecordResult] = []
        public var authors: [IdentityChain] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
            try coder.list(2, &authors)
        }
    }

    public struct DesiredKeys: WireMessage {
        public var names: [String] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &names)
        }
    }

    public struct LookupRecordsRequest: WireMessage {
        public var zone: ZoneID?
        public var recordNames: [String] = []
        public var desiredKeys: DesiredKeys?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.list(2, &recordNames)
            try coder.optional(3, &desiredKeys)
        }
    }

    public struct LookupRecordsResponse: WireMessage {
        public var results: [RecordResult] = []
        public var scopes: [ScopeHead] = []
        public var authors: [IdentityChain] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &results)
            try coder.list(2, &scopes)
            try coder.list(3, &authors)
        }
    }

    public struct RecordChangesRequest: WireMessage {
        public var zone: ZoneID?
        public var token: [UInt8] = []
        public var resultsLimit: UInt32 = 0
        public var desiredKeys: DesiredKeys?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.field(2, &token)
            try coder.field(3, &resultsLimit)
            try coder.optional(4, &desiredKeys)
        }
    }

    public struct RecordChangesResponse: WireMessage {
        public var records: [Record] = []
        public var token: [UInt8] = []
        public var moreComing = false
        public var scopes: [ScopeHead] = []
        public var unsettled = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &records)
            try coder.field(2, &token)
            try coder.field(3, &moreComing)
            try coder.list(4, &scopes)
            try coder.field(100, &unsettled)
        }
    }

    public struct ZonesRecordChangesRequest: WireMessage {
        public var zones: [RecordChangesRequest] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &zones)
        }
    }

    public struct ZoneRecordChanges: WireMessage {
        public enum Outcome: Sendable {
            case changes(RecordChangesResponse)
            case failure(Failure)
        }

        public var zone: ZoneID?
        public var outcome: Outcome?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &zone)
            try coder.choice(
                2, &outcome, { if case .changes(let member) = $0 { member } else { nil } }, { .changes($0) })
            try coder.choice(
                3, &outcome, { if case .failure(let member) = $0 { member } else { nil } }, { .failure($0) })
        }
    }

    public struct ZonesRecordChangesResponse: WireMessage {
        public var zones: [ZoneRecordChanges] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &zones)
        }
    }
}
