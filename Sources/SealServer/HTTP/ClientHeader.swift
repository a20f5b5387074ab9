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
        let parts = value.utf8.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 2, isWord(parts[1]) else { return "" }
        let library = parts[0].split(separator: 0x2F, omittingEmptySubsequences: false)
        guard library.count == 2, isWord(library[0]), isVersion(library[1]) else { return "" }
        return value
    }

    private static func isWord(_ bytes: Substring.UTF8View) -> Bool {
        (1...12).contains(bytes.count) && bytes.allSatisfy { (0x61...0x7A).contains($0) }
    }

    private static func isVersion(_ bytes: Substring.UTF8View) -> Bool {
        (1...12).contains(bytes.count) && bytes.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
    }
}
