import HTTPTypes
import Hummingbird

/// What a client says it is: a library with its version, and a system. `swift/0.1.0 linux`.
///
/// It serves telemetry alone. Anything that does not look like it is ignored, so that nothing else gets there.
enum ClientHeader {
    static let name = HTTPField.Name("sealkit-client")
    private static let mostBytes = 40

    /// Empty where the request names none, or not in this form.
    static func value(of request: Request) -> String {
        guard let name, let value = request.headers.value(of: name), value.utf8.count <= mostBytes else { return "" }
        var bytes = value.utf8.makeIterator()
        guard isWord(&bytes, until: 0x2F), isVersion(&bytes), isWord(&bytes, until: nil) else { return "" }
        return value
    }

    /// Up to twelve small letters, and what is behind them.
    private static func isWord(_ bytes: inout String.UTF8View.Iterator, until end: UInt8?) -> Bool {
        has(&bytes, until: end) { (0x61...0x7A).contains($0) }
    }

    /// Up to twelve digits and dots, and a space.
    private static func isVersion(_ bytes: inout String.UTF8View.Iterator) -> Bool {
        has(&bytes, until: 0x20) { (0x30...0x39).contains($0) || $0 == 0x2E }
    }

    private static func has(
        _ bytes: inout String.UTF8View.Iterator, until end: UInt8?, _ isGood: (UInt8) -> Bool
    ) -> Bool {
        var count = 0
        while let byte = bytes.next() {
            if byte == end { return count > 0 }
            count += 1
            guard count <= 12, isGood(byte) else { return false }
        }
        return end == nil && count > 0
    }
}
