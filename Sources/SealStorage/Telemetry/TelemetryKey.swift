/// What is counted together: words of the server's own, and of a client's only the names of its container and of its
/// operation group, and what it says of its platform.
package struct TelemetryKey: Hashable, Sendable {
    package enum Kind: Int64, CaseIterable, Sendable {
        case request = 0
        /// Within a request that was answered: a record that was refused, say.
        case item = 1
        /// What was told to devices and webhooks.
        case notification = 2
        /// What people do with shares: invitations, acceptances, codes, new keys.
        case sharing = 3
        /// Event streams that are open: each once a minute.
        case stream = 4
        /// Changes that a stream was told of together with a later one.
        case coalesced = 5
    }

    package var kind: Kind
    /// An endpoint's name; of notifications how they went: `stream` or `webhook`; of sharing what was done.
    package var operation: String
    package var container: String
    /// `development` or `production`.
    package var environment: String
    /// `public`, or `private` for all others together.
    package var database: String
    /// `swift/0.1.0 linux`.
    package var client: String
    /// The name of an operation group.
    package var group: String
    /// An error's; empty for none.
    package var code: String

    package init(
        kind: Kind, operation: String, container: String, environment: String, database: String, client: String,
        group: String, code: String
    ) {
        (self.kind, self.operation, self.container, self.environment) = (kind, operation, container, environment)
        (self.database, self.client, self.group, self.code) = (database, client, group, code)
    }

    /// By the words that differ: the others have two or three.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(operation)
        hasher.combine(container)
        hasher.combine(client)
        hasher.combine(group)
        hasher.combine(code)
    }

    package static let other = "other"

    /// Where there are too many: what clients choose the words of is told apart no more.
    package var folded: TelemetryKey {
        var folded = self
        if !container.isEmpty { folded.container = Self.other }
        if !client.isEmpty { folded.client = Self.other }
        if !group.isEmpty { folded.group = Self.other }
        return folded
    }
}

/// What series are told apart by, and chosen by.
package enum TelemetryDimension: String, CaseIterable, Sendable {
    case operation, container, environment, database, client, group, code

    /// In the file.
    var column: String { self == .group ? "group_name" : rawValue }
}

/// What there was of one key in one stretch of time.
package struct TelemetrySum: Sendable, Equatable {
    package private(set) var count: Int64 = 0
    package private(set) var bytesIn: Int64 = 0
    package private(set) var bytesOut: Int64 = 0
    package private(set) var microseconds: Int64 = 0
    package private(set) var latency = LogHistogram()
    package private(set) var sizesIn = LogHistogram()
    package private(set) var sizesOut = LogHistogram()

    package init() {}

    init(
        count: Int64, bytesIn: Int64, bytesOut: Int64, microseconds: Int64, latency: LogHistogram,
        sizesIn: LogHistogram, sizesOut: LogHistogram
    ) {
        (self.count, self.bytesIn, self.bytesOut, self.microseconds) = (count, bytesIn, bytesOut, microseconds)
        (self.latency, self.sizesIn, self.sizesOut) = (latency, sizesIn, sizesOut)
    }

    /// One request.
    package mutating func add(bytesIn: Int64, bytesOut: Int64, microseconds: Int64) {
        count += 1
        self.bytesIn = Self.sum(self.bytesIn, bytesIn)
        self.bytesOut = Self.sum(self.bytesOut, bytesOut)
        self.microseconds = Self.sum(self.microseconds, microseconds)
        latency.add(microseconds)
        sizesIn.add(bytesIn)
        sizesOut.add(bytesOut)
    }

    /// What has neither size nor time.
    package mutating func add(_ count: Int64) { self.count = Self.sum(self.count, count) }

    package mutating func add(_ other: TelemetrySum) {
        count = Self.sum(count, other.count)
        bytesIn = Self.sum(bytesIn, other.bytesIn)
        bytesOut = Self.sum(bytesOut, other.bytesOut)
        microseconds = Self.sum(microseconds, other.microseconds)
        latency.add(other.latency)
        sizesIn.add(other.sizesIn)
        sizesOut.add(other.sizesOut)
    }

    private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, isMore) = first.addingReportingOverflow(second)
        return isMore ? .max : sum
    }
}

/// Where somebody was active.
package struct TelemetryPlace: Hashable, Sendable {
    package let container: String
    package let environment: String

    package init(container: String, environment: String) {
        (self.container, self.environment) = (container, environment)
    }

    /// Where there are too many.
    package var folded: TelemetryPlace { TelemetryPlace(container: TelemetryKey.other, environment: environment) }
}

/// What came together in one minute.
package struct TelemetryMinute: Sendable {
    /// Its beginning, in seconds since 1970.
    package let start: Int64
    package var sums: [TelemetryKey: TelemetrySum]
    package var active: [TelemetryPlace: DistinctCount]
    /// By time.
    package var log: [LogEntry]

    package init(
        start: Int64, sums: [TelemetryKey: TelemetrySum] = [:], active: [TelemetryPlace: DistinctCount] = [:],
        log: [LogEntry] = []
    ) {
        (self.start, self.sums, self.active, self.log) = (start, sums, active, log)
    }
}
