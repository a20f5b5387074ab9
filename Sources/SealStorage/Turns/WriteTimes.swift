package import Logging
import Synchronization

/// How long requests held the writer, by route, and which of them were cut short.
package final class WriteTimes: Sendable {
    package struct Entry: Sendable, Equatable {
        /// Microseconds, of one request.
        package var longest: Int64 = 0
        package var cutShort = 0
    }

    private let entries = Mutex<[WriteTurn.Route: Entry]>([:])
    private let logger: Logger?

    package init(logger: Logger? = nil) { self.logger = logger }

    /// Since the start, or since they were last forgotten; by the route as the log names it.
    package var all: [String: Entry] {
        let entries = entries.withLock { $0 }
        return Dictionary(entries.map { ($0.key.description, $0.value) }) { first, _ in first }
    }

    package func forget() { entries.withLock { $0 = [:] } }

    /// - Parameter microseconds: what one request's transaction took of the writer.
    package func note(_ turn: WriteTurn, microseconds: Int64, wasCutShort: Bool) {
        let entry = entries.withLock { entries in
            func note(_ entry: inout Entry) -> Entry {
                entry.longest = max(entry.longest, microseconds)
                if wasCutShort { entry.cutShort += 1 }
                return entry
            }
            return note(&entries[turn.route, default: Entry()])
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
