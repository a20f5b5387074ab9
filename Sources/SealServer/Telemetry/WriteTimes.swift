import Logging
import Synchronization

/// How long requests held the writer, by route, and which of them were cut short.
final class WriteTimes: Sendable {
    struct Entry: Sendable, Equatable {
        /// Microseconds, of one request.
        var longest: Int64 = 0
        var cutShort = 0
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let logger: Logger?

    init(logger: Logger? = nil) { self.logger = logger }

    /// Since the start, or since they were last forgotten.
    var all: [String: Entry] { entries.withLock { $0 } }

    func forget() { entries.withLock { $0 = [:] } }

    /// - Parameter microseconds: what one request's transaction took of the writer.
    func note(_ turn: WriteTurn, microseconds: Int64, wasCutShort: Bool) {
        let entry = entries.withLock { entries in
            entries[turn.route, default: Entry()].longest.raise(to: microseconds)
            if wasCutShort { entries[turn.route, default: Entry()].cutShort += 1 }
            return entries[turn.route] ?? Entry()
        }
        guard wasCutShort else { return }
        logger?.warning(
            "a request was cut short, and nothing of it was written: it had used up the time that one may hold the writer",
            metadata: [
                "route": "\(turn.route)", "milliseconds": "\(microseconds / 1000)",
                "soFar": .stringConvertible(entry.cutShort),
            ])
    }
}

extension Int64 {
    fileprivate mutating func raise(to other: Int64) { self = Swift.max(self, other) }
}
