// Messages of values: sealkit.proto in SealWire says what each field means.

extension Wire {
    public struct Location: WireMessage {
        public var latitude: Double = 0
        public var longitude: Double = 0
        public var altitude: Double = 0
        public var horizontalAccuracy: Double = 0
        public var verticalAccuracy: Double = 0
        public var course: Double = 0
        public var speed: Double = 0
        public var timestamp: Double = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &latitude)
            try coder.field(2, &longitude)
            try coder.field(3, &altitude)
            try coder.field(4, &horizontalAccuracy)
            try coder.field(5, &verticalAccuracy)
            try coder.field(6, &course)
            try coder.field(7, &speed)
            try coder.field(8, &timestamp)
        }
    }

    public struct Reference: WireMessage {
        public var recordName = ""
        public var action: UInt32 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &recordName)
            try coder.field(2, &action)
        }
    }

    public struct Value: WireMessage {
        public enum Kind: Sendable {
            case string(String)
            case data([UInt8])
            case int64(Int64)
            case double(Double)
            case date(Double)
            case location(Location)
            case reference(Reference)
            case list(ListValue)
        }

        public var kind: Kind?

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.choice(1, &kind, { if case .string(let member) = $0 { member } else { nil } }, { .string($0) })
            try coder.choice(2, &kind, { if case .data(let member) = $0 { member } else { nil } }, { .data($0) })
            try coder.choice(3, &kind, { if case .int64(let member) = $0 { member } else { nil } }, { .int64($0) })
            try coder.choice(4, &kind, { if case .double(let member) = $0 { member } else { nil } }, { .double($0) })
            try coder.choice(5, &kind, { if case .date(let member) = $0 { member } else { nil } }, { .date($0) })
            try coder.choice(
                6, &kind, { if case .location(let member) = $0 { member } else { nil } }, { .location($0) })
            try coder.choice(
                7, &kind, { if case .reference(let member) = $0 { member } else { nil } }, { .reference($0) })
            try coder.choice(8, &kind, { if case .list(let member) = $0 { member } else { nil } }, { .list($0) })
        }
    }

    public struct ListValue: WireMessage {
        public var values: [Value] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.list(1, &values)
        }
    }
}
