// Messages of what a query finds: query.proto in SealWire says what each field means.

extension Wire {
    public struct QueryMatch: WireMessage {
        public var scope: UInt32 = 0
        public var record: Record?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &scope)
            try coder.optional(2, &record)
        }
    }

    public struct QueryRecordsResponse: WireMessage {
        public var matches: [QueryMatch] = []
        public var cursor: [UInt8] = []
        public var scopes: [ScopeHead] = []
        public var authors: [IdentityChain] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &matches)
            try coder.field(2, &cursor)
            try coder.list(3, &scopes)
            try coder.list(4, &authors)
        }
    }
}
