// Messages of fields of records: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct SealedValue: WireMessage {
        public var kind: UInt32 = 0
        public var sealed: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &kind)
            try coder.field(2, &sealed)
        }
    }

    public struct AssetField: WireMessage {
        public var blob = ""
        public var salt: [UInt8] = []
        public var chunkCount: UInt64 = 0
        public var root: [UInt8] = []
        public var descriptor: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &blob)
            try coder.field(2, &salt)
            try coder.field(3, &chunkCount)
            try coder.field(4, &root)
            try coder.field(5, &descriptor)
        }
    }

    public struct PublicAssetField: WireMessage {
        public var blob = ""
        public var size: UInt64 = 0
        public var root: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &blob)
            try coder.field(2, &size)
            try coder.field(3, &root)
        }
    }

    public struct Field: WireMessage {
        public enum Content: Sendable {
            case plain(Value)
            case encrypted(SealedValue)
            case asset(AssetField)
            case omitted([UInt8])
            case publicAsset(PublicAssetField)
        }

        public var name = ""
        public var content: Content?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &name)
            try coder.choice(2, &content, { if case .plain(let member) = $0 { member } else { nil } }, { .plain($0) })
            try coder.choice(
                3, &content, { if case .encrypted(let member) = $0 { member } else { nil } }, { .encrypted($0) })
            try coder.choice(4, &content, { if case .asset(let member) = $0 { member } else { nil } }, { .asset($0) })
            try coder.choice(
                5, &content, { if case .omitted(let member) = $0 { member } else { nil } }, { .omitted($0) })
            try coder.choice(
                6, &content, { if case .publicAsset(let member) = $0 { member } else { nil } }, { .publicAsset($0) })
        }
    }
}
