import Foundation
import NIOCore

/// Reads a stream of server-sent events (HTML standard), however its bytes come in pieces.
struct ServerSentEvents {
    struct Event: Sendable, Equatable {
        var name = ""
        var data = ""
        /// The place after this event, where it moved.
        var id: String?
    }

    /// More than any event of a server of ours.
    static let maximumBytes = 1 << 20

    private var line: [UInt8] = []
    private var event = Event()
    private var size = 0

    /// The events that these bytes complete, those without data included: they may move the place.
    /// - Throws: `serverRejectedRequest` for an event that does not end.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(SealKitError) -> [Event] {
        var complete: [Event] = []
        for byte in bytes {
            guard byte == 0x0A else {
                size += 1
                guard size <= Self.maximumBytes else {
                    throw SealKitError(
                        .serverRejectedRequest, "the server sent an event of more than \(Self.maximumBytes) bytes",
                        remedy: "check that the address is that of a SealKit server")
                }
                line.append(byte)
                continue
            }
            if line.last == 0x0D { line.removeLast() }
            if line.isEmpty {
                if event != Event() { complete.append(event) }
                event = Event()
                size = 0
            } else {
                take(String(decoding: line, as: UTF8.self))
            }
            line = []
        }
        return complete
    }

    private mutating func take(_ line: String) {
        // A comment.
        if line.hasPrefix(":") { return }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count == 2 ? parts[1] : ""
        if value.hasPrefix(" ") { value.removeFirst() }
        switch parts[0] {
        case "event": event.name = String(value)
        case "data": event.data += (event.data.isEmpty ? "" : "\n") + value
        case "id" where !value.contains("\0"): event.id = String(value)
        default: break
        }
    }
}
