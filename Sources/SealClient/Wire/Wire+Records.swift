// Messages of records, and what proves them: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct StatementProof: WireMessage {
        public var signature: [UInt8] = []
        public var leafCount: UInt32 = 0
        public var index: UInt32 = 0
        public var path: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &signature)
            try coder.field(2, &leafCount)
            try coder.field(3, &index)
            try coder.field(4, &path)
        }
    }

    public struct Record: WireMessage {
        public var recordName = ""
        public var recordType = ""
        public var changeTag = ""
        public var creationDate: Int64 = 0
        public var modificationDate: Int64 = 0
        public var fields: [Field] = []
        public var statement: [UInt8] = []
        public var proof: StatementProof?
        public var position: UInt64 = 0
        public var deleted = false
        public var derived: DerivedDeletion?
        public var moved: SignedMove?
        public var departed = false

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &recordName)
            try coder.field(2, &recordType)
            try coder.field(3, &changeTag)
            try coder.field(4, &creationDate)
            try coder.field(5, &modificationDate)
            try coder.list(6, &fields)
            try coder.field(7, &statement)
            try coder.optional(8, &proof)
            try coder.field(9, &position)
            try coder.field(10, &deleted)
            try coder.optional(11, &derived)
            try coder.field(100, &departed)
            try coder.optional(101, &moved)
        }
    }

    public struct SignedMove: WireMessage {
        public var statement: [UInt8] = []
        public var proof: StatementProof?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &statement)
            try coder.optional(2, &proof)
        }
    }

    public struct DerivedDeletion: WireMessage {
        public var tombstone: Nested<Record>?
        public var count: UInt32 = 0
        public var index: UInt32 = 0
        public var path: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &tombstone)
            try coder.field(2, &count)
            try coder.field(3, &index)
            try coder.field(4, &path)
        }
    }

    public struct TakenRecord: WireMessage {
        public var record: Record?
        public var field = ""

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.optional(1, &record)
            try coder.field(2, &field)
        }
    }

    public struct TakenRecords: WireMessage {
        public var records: [TakenRecord] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &records)
        }
    }
}
