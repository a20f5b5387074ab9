import SealWire
import SwiftProtobuf

public import Foundation

extension ServerOperator {
    /// What is looked for in the server's log of requests. Nil and empty: whatever there is.
    public struct LogQuery: Sendable, Hashable {
        /// How a request ended.
        public enum Outcome: String, Sendable, CaseIterable {
            /// With an error.
            case failed
            /// With an answer, in which records may have been refused.
            case answered
        }

        /// From this date on; the log has a week.
        public var from: Date?
        /// Before this date; nil for now.
        public var until: Date?
        /// So long before the end, in the place of `from`: whole seconds.
        public var last: Duration?
        /// Those alone that ended so; nil for all.
        public var outcome: Outcome?
        /// Those alone that have these words.
        public var filters: [Telemetry.Dimension: String]
        /// Part of the operation, container, client, group or code, whichever case.
        public var text: String
        /// As entries have it.
        public var user: String
        /// One request's, by its id.
        public var request: String
        /// Those of one operation group.
        public var groupID: String
        /// Those alone that took so long, or longer.
        public var leastDuration: Duration?

        /// A query as its properties say.
        public init(
            from: Date? = nil, until: Date? = nil, last: Duration? = nil, outcome: Outcome? = nil,
            filters: [Telemetry.Dimension: String] = [:], text: String = "", user: String = "", request: String = "",
            groupID: String = "", leastDuration: Duration? = nil
        ) {
            (self.from, self.until, self.last, self.outcome) = (from, until, last, outcome)
            (self.filters, self.text, self.user, self.request) = (filters, text, user, request)
            (self.groupID, self.leastDuration) = (groupID, leastDuration)
        }

        init(_ wire: Sealkit_V1_LogRequest) {
            self.init(
                from: wire.from == 0 ? nil : Date(microseconds: wire.from),
                until: wire.until == 0 ? nil : Date(microseconds: wire.until),
                last: wire.last == 0 ? nil : .seconds(Int64(clamping: wire.last)),
                outcome: Outcome(rawValue: wire.outcome),
                filters: wire.filters.reduce(into: [:]) { filters, filter in
                    if let dimension = Telemetry.Dimension(rawValue: filter.dimension) {
                        filters[dimension] = filter.word
                    }
                },
                text: wire.text, user: wire.user, request: wire.request, groupID: wire.groupID,
                leastDuration: wire.microseconds == 0 ? nil : .microseconds(Int64(clamping: wire.microseconds)))
        }

        var wire: Sealkit_V1_LogRequest {
            .with {
                $0.from = from?.systemTime ?? 0
                $0.until = until?.systemTime ?? 0
                $0.last = UInt64(clamping: last?.components.seconds ?? 0)
                $0.outcome = outcome?.rawValue ?? ""
                $0.filters = [Sealkit_V1_TelemetryFilter](filters)
                ($0.text, $0.user, $0.request, $0.groupID) = (text, user, request, groupID)
                if let leastDuration { $0.microseconds = leastDuration.clampedMicroseconds }
            }
        }
    }

    /// A request that the server answered: what was asked and how it went, nothing of what was in it.
    public struct LogEntry: Sendable, Hashable {
        /// When its answer was ready.
        public let date: Date
        /// An endpoint's name: `records/modify`.
        public let operation: String
        /// Empty for what is of none, and for a container that strangers may have made up.
        public let container: String
        /// `development` or `production`; empty where there is none.
        public let environment: String
        /// `public`, or `private` for all others.
        public let database: String
        /// `swift/0.1.0 linux`.
        public let client: String
        /// The name of its operation group, and which one it was.
        public let group: String
        /// Which of the groups of that name it was; empty for none.
        public let groupID: String
        /// What it was refused with; empty for an answer.
        public let code: String
        /// Until the answer was ready.
        public let duration: Duration
        /// Bytes of the request's body.
        public let bytesIn: UInt64
        /// Bytes of the answer's body.
        public let bytesOut: UInt64
        /// Records that were refused in an answer.
        public let refusedItems: Int
        /// The same for what one account asked of one container on one day, in UTC, until the server's end; empty for a
        /// stranger's.
        public let user: String
        /// Of what failed: the server's own log has the same.
        public let request: String

        /// Whether it was refused.
        public var hasFailed: Bool { !code.isEmpty }

        init(_ wire: Sealkit_V1_LogEntry) {
            date = Date(microseconds: wire.time)
            (operation, container, environment) = (wire.operation, wire.container, wire.environment)
            (database, client, group, groupID) = (wire.database, wire.client, wire.group, wire.groupID)
            code = wire.code
            duration = .microseconds(Int64(clamping: wire.microseconds))
            (bytesIn, bytesOut) = (wire.bytesIn, wire.bytesOut)
            refusedItems = Int(clamping: wire.refusedItems)
            (user, request) = (wire.user, wire.request)
        }
    }

    /// A page of the log.
    public struct LogPage: Sendable {
        /// Newest first.
        public let entries: [LogEntry]
        /// For the page that follows; nil where this is the last.
        public let cursor: Data?
        /// Whether the server keeps a log at all.
        public let state: Telemetry.State
        /// Since the server's start: more of a minute than the log takes, or lost before they could be written.
        public let unlogged: UInt64
    }

    /// Single requests of the last week, newest first.
    /// - Parameters:
    ///   - query: which.
    ///   - cursor: of the page before; nil for the first.
    ///   - limit: entries in the page, up to 1,000; nil for 100.
    /// - Throws: `invalidArguments`.
    public func log(
        _ query: LogQuery, after cursor: Data? = nil, limit: Int? = nil
    ) async throws(SealKitError) -> LogPage {
        var message = query.wire
        message.cursor = cursor ?? Data()
        message.limit = UInt32(clamping: limit ?? 0)
        let answer = try await client.call(Endpoints.monitoring.logs, message, token: token.text())
        return LogPage(
            entries: answer.entries.map(LogEntry.init), cursor: try Self.next(answer.cursor, after: cursor, in: "log"),
            state: Telemetry.State(rawValue: answer.state) ?? .unknown, unlogged: answer.unlogged)
    }

    // MARK: Queries that are kept

    /// Those that the server keeps for its operators, by name.
    /// - Throws: as the type says.
    public func savedLogQueries() async throws(SealKitError) -> [String: LogQuery] {
        let answer = try await client.call(
            Endpoints.monitoring.logQueries, Sealkit_V1_ListLogQueriesRequest(), token: token.text())
        return Dictionary(answer.queries.map { ($0.name, LogQuery($0.query)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Keeps a query, in the place of the one of its name.
    /// - Parameters:
    ///   - query: a `last` is one of whenever it is asked.
    ///   - name: printable text, up to 64 bytes.
    /// - Throws: `invalidArguments`; `limitExceeded` beyond a hundred.
    public func saveLogQuery(_ query: LogQuery, as name: String) async throws(SealKitError) {
        _ = try await client.call(
            Endpoints.monitoring.saveLogQuery,
            Sealkit_V1_SaveLogQueryRequest.with { ($0.query.name, $0.query.query) = (name, query.wire) },
            token: token.text())
    }

    /// - Throws: `unknownItem`.
    public func removeLogQuery(named name: String) async throws(SealKitError) {
        _ = try await client.call(
            Endpoints.monitoring.removeLogQuery, Sealkit_V1_RemoveLogQueryRequest.with { $0.name = name },
            token: token.text())
    }
}
