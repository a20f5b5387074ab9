// Messages of assets that are uploaded in parts: uploads.proto in SealWire says what each field means.

extension Wire {
    public struct BeginUploadRequest: WireMessage {
        public var contentBytes: UInt64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &contentBytes)
        }
    }

    public struct PartRange: WireMessage {
        public var first: UInt32 = 0
        public var count: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &first)
            try coder.field(2, &count)
        }
    }

    public struct UploadState: WireMessage {
        public var contentBytes: UInt64 = 0
        public var partChunks: UInt32 = 0
        public var partCount: UInt32 = 0
        public var parts: [PartRange] = []
        public var expires: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &contentBytes)
            try coder.field(2, &partChunks)
            try coder.field(3, &partCount)
            try coder.list(4, &parts)
            // The one number that is signed and not zigzag.
            var bits = UInt64(bitPattern: expires)
            try coder.field(5, &bits)
            expires = Int64(bitPattern: bits)
        }
    }

    public struct FinishUploadRequest: WireMessage {
        public var root: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &root)
        }
    }

    public struct FinishUploadResponse: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }

    public struct AbandonUploadRequest: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }

    public struct AbandonUploadResponse: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }
}
