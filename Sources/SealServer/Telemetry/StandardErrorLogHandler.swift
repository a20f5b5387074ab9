import Foundation
import Logging
import SealService

/// Writes log lines to standard error, one event a line: JSON for machines, or text for people.
///
/// What may be logged is decided where it is logged: never headers, bodies, addresses, tokens or query strings.
struct StandardErrorLogHandler: LogHandler {
    enum Format: Sendable { case json, text }

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let label: String
    let format: Format

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let own = event.metadata { all.merge(own) { $1 } }
        var line: [UInt8] = []
        let time = Date().formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
        switch format {
        case .json:
            line += "{\"time\":\"\(time)Z\",\"level\":\"\(event.level.rawValue)\",\"message\":".utf8
            Self.appendJSON(event.message.description, to: &line)
            for (key, value) in all.sorted(by: { $0.key < $1.key }) {
                line += ",".utf8
                Self.appendJSON(Self.publicName(key), to: &line)
                line += ":".utf8
                if let number = Self.number(value) {
                    line += number.utf8
                } else {
                    Self.appendJSON(value.description, to: &line)
                }
            }
            line += "}\n".utf8
        case .text:
            line += "\(time)Z \(event.level.rawValue) \(Self.oneLine(event.message.description))".utf8
            for (key, value) in all.sorted(by: { $0.key < $1.key }) {
                line += " \(Self.publicName(key))=\(Self.oneLine(value.description))".utf8
            }
            line += "\n".utf8
        }
        // One write call a line, so that lines of different threads do not mix.
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func publicName(_ key: String) -> String { key == "hb.request.id" ? "request" : key }

    /// Numbers stay numbers in JSON.
    private static func number(_ value: Logger.Metadata.Value) -> String? {
        guard case .stringConvertible(let inner) = value else { return nil }
        switch inner {
        case let integer as Int: return String(integer)
        case let double as Double where double.isFinite: return String(double)
        default: return nil
        }
    }

    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
    }

    private static func appendJSON(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
            case 0..<32, 127: line += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\""))
    }
}
