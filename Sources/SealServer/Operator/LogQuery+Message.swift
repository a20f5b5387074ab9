import Foundation
import SealPrimitives
import SealService
import SealStorage
import SealWire

/// How entries of the log are named in messages.
enum LogText {
    static func hex(_ bytes: [UInt8]) -> String { Hex.encode(bytes) }

    /// Eight digits; empty for nobody.
    static func user(_ number: UInt32) -> String {
        guard number > 0 else { return "" }
        return Hex.encode((0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) })
    }
}

extension LogQuery {
    private static let mostTextBytes = 256

    /// - Parameter now: microseconds since 1970.
    /// - Throws: `invalidArguments`.
    init(_ message: Sealkit_V1_LogRequest, now: Int64) throws(ServerError) {
        // Entries of one moment have times one after the other, which may be later than now.
        let until = message.until == 0 ? .max : message.until
        guard until > 0, message.from >= 0, message.from == 0 || message.from < until else {
            throw Self.invalid("The time is none.", "Give a beginning and a later end, in microseconds.")
        }
        guard message.from == 0 || message.last == 0 else {
            throw Self.invalid("Both a beginning and a length of time are given.", "Give one of them.")
        }
        let (length, isMore) = Int64(clamping: message.last).multipliedReportingOverflow(by: 1_000_000)
        let from = message.last == 0 || isMore ? message.from : max(0, (message.until == 0 ? now : until) - length)
        guard message.text.utf8.count <= Self.mostTextBytes else {
            throw Self.invalid("What is looked for is longer than \(Self.mostTextBytes) bytes.", "Give less of it.")
        }
        let hasFailed: Bool?
        switch message.outcome {
        case "": hasFailed = nil
        case "failed": hasFailed = true
        case "answered": hasFailed = false
        default: throw Self.invalid("There is no such outcome.", "Use failed, answered, or none for both.")
        }
        self.init(
            from: from, until: until, hasFailed: hasFailed, filters: try TelemetryDimension.filters(message.filters),
            text: message.text,
            user: try Self.bytes(message.user, 4, "user").map { $0.reduce(0) { $0 << 8 | UInt32($1) } },
            request: message.request.isEmpty ? nil : message.request,
            groupID: try Self.bytes(message.groupID, LogEntry.groupIDBytes, "group id"),
            leastMicroseconds: Int64(clamping: message.microseconds), after: try LogPlace(cursor: message.cursor),
            limit: ListCursor.limit(message.limit))
    }

    /// Nil for an empty text.
    private static func bytes(_ text: String, _ count: Int, _ name: String) throws(ServerError) -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        guard text.utf8.count == 2 * count, let bytes = try? Hex.decode(text) else {
            throw invalid(
                "A \(name) has \(2 * count) hexadecimal digits.", "Take it from an entry of the log, as it is there.")
        }
        return bytes
    }

    private static func invalid(_ reason: String, _ remedy: String) -> ServerError {
        ServerError(.invalidArguments, reason, remedy: remedy)
    }
}

extension LogPlace {
    /// Nine bytes: the time, and the kind.
    var cursor: Data { ListCursor.data(time) + [UInt8(kind.rawValue)] }

    /// Nil for an empty one.
    /// - Throws: `invalidArguments`.
    init?(cursor: Data) throws(ServerError) {
        guard let last = cursor.last else { return nil }
        guard let kind = LogEntry.Kind(rawValue: Int64(last)), let time = try ListCursor.number(cursor.dropLast()),
            time < .max
        else { throw ListCursor.foreign }
        self.init(time: time, kind: kind)
    }
}
