import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// Values: one valid encoding.
enum ValueTarget: FuzzTarget {
    static let name = "value"
    static let seeds = [Seed.hex("values", "encoded")]

    static func run(_ input: [UInt8]) {
        guard let value = try? Value(canonicalBytes: input) else { return }
        let again = certain("a value that was read is written") { try value.canonicalBytes() }
        require(again == input, "a value with another encoding")
        require(value.tag.byte == input[0], "a value of another kind than its tag's")
        require(value.fault == nil, "a value that was read has a fault")
        certain("a field's digest") { try StoredField.plain(value).digest(name: "body") }
    }
}

/// From the other side: what an author writes, every reader reads.
enum MadeValueTarget: FuzzTarget {
    static let name = "made-value"
    static let seeds = [
        Seed.made([0x13, 3, 1, 2, 3]), .made([6]), .made([0x11, 2, 0, 3, 0x65, 0xCC, 0x81]), .made([0x10, 0]),
        .made([5, 0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F]), .made([5, 0, 0, 0, 0, 0, 0, 0, 0x80]),
        .made([5, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F]),
    ]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let value = choices.value()
        guard let bytes = try? value.canonicalBytes() else {
            return require(value.fault != nil, "a value without a fault is not written")
        }
        require(value.fault == nil, "a value with a fault is written")
        let again = certain("a value that was written is read") { try Value(canonicalBytes: bytes) }
        require(again.tag == value.tag, "a value read as another kind")
        require((try? again.canonicalBytes()) == bytes, "a value that was written and read is written otherwise")
        let padded = Padding.pad(bytes)
        certain("a padded value") { try Value(padded: padded) }
    }
}

/// Padded values: one valid length, and nothing but zeros.
enum PaddedValueTarget: FuzzTarget {
    static let name = "padded-value"
    static let seeds = [Seed.hex("padding", "plaintext"), .hex("values", "encoded")]

    static func run(_ input: [UInt8]) {
        if let value = try? Value(padded: input) {
            let bytes = certain("a value that was read is written") { try value.canonicalBytes() }
            require(Padding.pad(bytes) == input, "a padded value with another encoding")
        }
        var reader = CanonicalReader(input)
        guard (try? Value(reading: &reader)) != nil else { return }
        let used = [UInt8](input.prefix(input.count - reader.remaining))
        certain("a value with its own padding") { try Value(padded: Padding.pad(used)) }
    }
}

extension Choices {
    /// Any value within the limits; lists that mix kinds or hold lists are among them.
    mutating func value() -> Value {
        let tag = byte()
        guard tag & 0x10 != 0 else { return scalar(tag) }
        let kind = ValueKind(rawValue: tag & 0x0F) ?? .string
        let count = number(below: 6)
        return .list((0..<count).map { _ in rarely() ? value() : scalar(kind.rawValue) })
    }

    private mutating func scalar(_ tag: UInt8) -> Value {
        switch ValueKind(rawValue: tag & 0x0F) {
        case .string: .string(String(decoding: bytes(atMost: 300), as: UTF8.self))
        case .data: .data(bytes(atMost: 300))
        case .int64: .int64(number())
        case .double: .double(double())
        case .date: .date(double())
        case .location:
            .location(
                Location(
                    latitude: double(), longitude: double(), altitude: double(), horizontalAccuracy: double(),
                    verticalAccuracy: double(), course: double(), speed: double(), time: double()))
        case .reference: .reference(ReferenceValue(recordName: name(), action: rarely() ? .deleteSelf : .none))
        default: .int64(Int64(tag))
        }
    }

    /// Any bits: every NaN too.
    private mutating func double() -> Double { Double(bitPattern: number()) }
}
