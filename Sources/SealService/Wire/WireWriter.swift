import SealPrimitives

/// Writes protobuf by hand, for the two places that carry every byte of every record: what is stored is what travels,
/// so that reading a record copies its fields and neither parses nor builds them.
package struct WireWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package mutating func raw(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A number; zero, the default, is left out.
    package mutating func number(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        varint(field << 3)
        varint(value)
    }

    /// A `sint64`.
    package mutating func signed(_ field: UInt64, _ value: Int64) {
        number(field, UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// The head of a string, bytes or message field whose content follows.
    package mutating func head(_ field: UInt64, count: Int) {
        varint(field << 3 | 2)
        varint(UInt64(count))
    }

    /// Bytes; none, the default, are left out.
    package mutating func blob(_ field: UInt64, _ content: [UInt8]) {
        guard !content.isEmpty else { return }
        head(field, count: content.count)
        bytes.append(contentsOf: content)
    }

    /// Digests, one after another; none are left out.
    mutating func digests(_ field: UInt64, _ content: [Digest]) {
        guard !content.isEmpty else { return }
        head(field, count: content.count * Digest.byteCount)
        for digest in content { digest.append(to: &bytes) }
    }

    package mutating func text(_ field: UInt64, _ content: String) {
        guard !content.isEmpty else { return }
        head(field, count: content.utf8.count)
        bytes.append(contentsOf: content.utf8)
    }

    static func varintSize(_ value: Int) -> Int { max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7) }
}
