/// A single request, as telemetry's log has it: what was asked of which database, how it ended, how long it took and
/// how large it was. Nothing of what was in it.
package struct LogEntry: Sendable, Equatable {
    /// Each has room of its own, so that none pushes out another.
    package enum Kind: Int64, CaseIterable, Sendable {
        /// Of somebody with a session or a server-to-server key.
        case failed = 0
        case answered = 1
        /// Of whoever has neither, however it ended.
        case stranger = 2

        /// Entries that are kept.
        package var most: Int64 { self == .stranger ? 200_000 : 1_000_000 }
        /// Entries of one minute.
        package var mostPerMinute: Int { self == .stranger ? 1_000 : 6_000 }
    }

    /// Seconds that an entry is kept for.
    package static let keptFor: Int64 = 7 * 86_400
    package static let groupIDBytes = 16

    /// When its answer was ready, in microseconds since 1970. Two of one kind never have the same.
    package var time: Int64
    package let kind: Kind
    package let key: TelemetryKey
    package let microseconds: Int64
    package let bytesIn: Int64
    package let bytesOut: Int64
    /// Items that were refused in an answer that is none itself.
    package let refusedItems: Int64
    /// The same for what one account asked of one container on one day; 0 for nobody's.
    package let user: UInt32
    /// As the server's own log has it; empty for what was answered.
    package let request: String
    /// Of its operation group; empty for none.
    package let groupID: [UInt8]

    package init(
        time: Int64, kind: Kind, key: TelemetryKey, microseconds: Int64, bytesIn: Int64, bytesOut: Int64,
        refusedItems: Int64, user: UInt32, request: String, groupID: [UInt8]
    ) {
        (self.time, self.kind, self.key) = (time, kind, key)
        (self.microseconds, self.bytesIn, self.bytesOut) = (microseconds, bytesIn, bytesOut)
        (self.refusedItems, self.user) = (refusedItems, user)
        (self.request, self.groupID) = (request, groupID)
    }
}

/// What is looked for in the log.
package struct LogQuery: Sendable {
    /// Microseconds since 1970: from the one on, and before the other.
    package var (from, until): (Int64, Int64)
    /// Of what failed, or of what did not; nil for both.
    package var hasFailed: Bool?
    /// Those alone that have these words.
    package var filters: [TelemetryDimension: String]
    /// Part of one of its words, whichever case; empty for all.
    package var text: String
    package var user: UInt32?
    package var request: String?
    package var groupID: [UInt8]?
    /// Those alone that took so long.
    package var leastMicroseconds: Int64
    /// Goes on after it.
    package var after: LogPlace?
    package var limit: Int

    package init(
        from: Int64, until: Int64, hasFailed: Bool?, filters: [TelemetryDimension: String], text: String,
        user: UInt32?, request: String?, groupID: [UInt8]?, leastMicroseconds: Int64, after: LogPlace?, limit: Int
    ) {
        (self.from, self.until, self.hasFailed, self.filters, self.text) = (from, until, hasFailed, filters, text)
        (self.user, self.request, self.groupID) = (user, request, groupID)
        (self.leastMicroseconds, self.after, self.limit) = (leastMicroseconds, after, limit)
    }
}

/// Where an entry stands in the log: newest first, and by kind where several have one time.
package struct LogPlace: Sendable, Equatable {
    package let time: Int64
    package let kind: LogEntry.Kind

    package init(time: Int64, kind: LogEntry.Kind) { (self.time, self.kind) = (time, kind) }

    func isBefore(_ other: LogPlace) -> Bool {
        time == other.time ? kind.rawValue < other.kind.rawValue : time > other.time
    }
}

extension LogEntry {
    package var place: LogPlace { LogPlace(time: time, kind: kind) }
}
