import SealWire
import SwiftProtobuf

public import Foundation

extension ServerOperator {
    /// What the server has counted: requests by stretches of time, and how many accounts were active. Nobody's name is
    /// in it.
    public struct Telemetry: Sendable {
        /// How long the stretches are that counts are told by, in seconds.
        public enum Step: UInt32, Sendable, CaseIterable {
            /// Kept for the shortest time.
            case minute = 60
            /// Of the clock, in UTC.
            case hour = 3_600
            /// From midnight to midnight, in UTC.
            case day = 86_400
        }

        /// What is counted.
        public enum Kind: String, Sendable, CaseIterable {
            /// Requests, each once.
            case requests = "request"
            /// Records that were refused in a request that was answered.
            case items = "item"
            /// What was told to devices (`stream`) and to webhooks.
            case notifications = "notification"
            /// What people did with shares: `invitation`, `acceptance`, `rotation` (a new key), and `code`, which was
            /// sent to an address or given up.
            case sharing
            /// Event streams that were open, each once a minute: one that is open for an hour counts sixty.
            case streams = "stream"
            /// Changes that a stream was told of together with a later one.
            case coalesced
        }

        /// What lines are told apart by, and chosen by.
        public enum Dimension: String, Sendable, CaseIterable {
            /// What was asked for.
            case operation
            /// Which container it was about.
            case container
            /// `development` or `production`.
            case environment
            /// `public`, or `private` for all others.
            case database
            /// Which program asked, and of which version.
            case client
            /// The name of the operation group.
            case group
            /// What it was refused with.
            case code
        }

        /// Whether the server counts.
        public enum State: String, Sendable {
            /// It counts.
            case ok
            /// It was told not to.
            case off
            /// As told, without a log of single requests.
            case counts
            /// Nothing can be written at present.
            case failing
            /// What this version has no word for.
            case unknown
        }

        /// What was counted in a stretch of time.
        public struct Sums: Sendable, Hashable {
            /// How many there were.
            public let count: UInt64
            /// Those of `count` that were refused, by code.
            public let codes: [String: UInt64]
            /// Bytes that came.
            public let bytesIn: UInt64
            /// Bytes that were answered with.
            public let bytesOut: UInt64
            /// Until the answer was ready: half of them in no more than the first, 95 and 99 of a hundred in the
            /// others. Off by an eighth at most.
            public let latency50: Duration
            /// 95 of a hundred were ready in no more than this.
            public let latency95: Duration
            /// 99 of a hundred were ready in no more than this.
            public let latency99: Duration
            /// The sum of all times by their number.
            public let averageLatency: Duration
            /// Likewise of bytes.
            public let bytesIn50: UInt64
            /// 95 of a hundred had no more than this.
            public let bytesIn95: UInt64
            /// Half of the answers had no more than this.
            public let bytesOut50: UInt64
            /// 95 of a hundred answers had no more than this.
            public let bytesOut95: UInt64

            /// How many were refused, by whatever code.
            public var refused: UInt64 { codes.values.reduce(0, +) }
            /// Those that are the server's fault, and not the client's.
            public var serverErrors: UInt64 {
                codes.reduce(0) { sum, code in
                    // Of what has no code of the protocol's the server says `http-502`.
                    let status = ErrorCode(rawValue: code.key)?.httpStatus ?? Int(code.key.dropFirst(5)) ?? 0
                    return status >= 500 ? sum + code.value : sum
                }
            }

            init(_ wire: Sealkit_V1_TelemetrySums) {
                func time(_ microseconds: UInt64) -> Duration { .microseconds(Int64(clamping: microseconds)) }
                count = wire.count
                codes = Dictionary(wire.codes.map { ($0.code, $0.count) }, uniquingKeysWith: { first, _ in first })
                (bytesIn, bytesOut) = (wire.bytesIn, wire.bytesOut)
                (latency50, latency95) = (time(wire.latency50), time(wire.latency95))
                latency99 = time(wire.latency99)
                averageLatency = time(wire.count == 0 ? 0 : wire.microseconds / wire.count)
                (bytesIn50, bytesIn95) = (wire.bytesIn50, wire.bytesIn95)
                (bytesOut50, bytesOut95) = (wire.bytesOut50, wire.bytesOut95)
            }
        }

        /// One stretch of a line.
        public struct Part: Sendable, Hashable {
            /// When it begins.
            public let start: Date
            /// What was counted in it.
            public let sums: Sums
        }

        /// What was counted of one word of a dimension.
        public struct Line: Sendable, Hashable {
            /// A word of the dimension that was asked for; empty for what has none.
            public let name: String
            /// All that are in no other line.
            public let isRest: Bool
            /// Of all stretches together.
            public let total: Sums
            /// Stretches in which there was something, by time.
            public let parts: [Part]

            init(_ wire: Sealkit_V1_TelemetryLine) {
                (name, isRest, total) = (wire.name, wire.isRest, Sums(wire.total))
                parts = wire.parts.map { Part(start: Date(seconds: $0.start), sums: Sums($0.sums)) }
            }
        }

        /// How many different accounts were active in a stretch of time.
        public struct Active: Sendable, Hashable {
            /// Which stretches active accounts are counted by.
            public enum Stretch: String, Sendable, CaseIterable {
                /// A day of the calendar, in UTC.
                case day
                /// A month of the calendar, in UTC.
                case month
                /// The seven days before the end.
                case week
            }

            /// Which one it is.
            public let stretch: Stretch
            /// When it begins.
            public let start: Date
            /// Off by some hundredths: the server keeps none of the accounts.
            public let accounts: UInt64
        }

        /// How keys of a container's zones and shares stand, by what their rosters and records' statements say: the
        /// server has none of the keys.
        public struct Keys: Sendable, Hashable {
            /// Whose zones they are.
            public let container: String
            /// `development` or `production`.
            public let environment: String
            /// Zones and shares whose rosters say more than that somebody made them.
            public let scopes: UInt64
            /// Those in which a new key is due: somebody left or has changed keys, and nobody has written since.
            public let due: UInt64
            /// Since when the first of them is, by the clock of whoever made it so; nil where none is.
            public let dueSince: Date?
            /// Those with a record under an older key than their newest.
            public let outdated: UInt64
            /// By how many keys the oldest one in use is behind the newest of its zone or share: the most of any.
            public let behind: UInt64
            /// Those whose rosters say too much to be looked at.
            public let unread: UInt64
        }

        /// The beginning of the first stretch.
        public let from: Date
        /// The end of the last stretch.
        public let until: Date
        /// How long each stretch is.
        public let step: Step
        /// Everything together.
        public let all: Line
        /// The one with the most first.
        public let lines: [Line]
        /// How many accounts were active, by day, week and month.
        public let active: [Active]
        /// Whether the server counts.
        public let state: State
        /// Counted since the server's start, and lost before it could be written.
        public let lost: UInt64
        /// Of ``Kind/sharing`` alone: how keys stood in the server's last round through all zones.
        public let keys: [Keys]
        /// When that round ended; nil before the first one has.
        public let keysRead: Date?

        init(_ wire: Sealkit_V1_TelemetryResponse) throws(SealKitError) {
            guard let step = Step(rawValue: wire.step) else {
                throw SealKitError(.serverRejectedRequest, "the server's telemetry has steps of no known length")
            }
            self.step = step
            (from, until) = (Date(seconds: wire.from), Date(seconds: wire.until))
            all = Line(wire.all)
            lines = wire.lines.map(Line.init)
            active = wire.active.compactMap { one in
                Active.Stretch(rawValue: one.stretch).map {
                    Active(stretch: $0, start: Date(seconds: one.start), accounts: one.accounts)
                }
            }
            state = State(rawValue: wire.state) ?? .unknown
            lost = wire.lost
            keysRead = wire.keysRead > 0 ? Date(seconds: wire.keysRead) : nil
            keys = wire.keys.map { keys in
                Keys(
                    container: keys.container, environment: keys.environment, scopes: keys.scopes, due: keys.due,
                    dueSince: keys.dueSince > 0 ? Date(seconds: keys.dueSince) : nil, outdated: keys.outdated,
                    behind: UInt64(keys.behind), unread: keys.unread)
            }
        }
    }

    /// What was counted from the one date on and before the other.
    /// - Parameters:
    ///   - from: the stretch that it is in is the first one.
    ///   - until: nil for now.
    ///   - step: nil for what suits the time: minutes are kept for two days, hours for sixty, days for two years.
    ///   - kind: what is counted.
    ///   - dimension: a line for each word of it; nil for one line.
    ///   - filters: those alone that have these words.
    ///   - limit: lines, up to 1,000; nil for 20. What is left over comes as one more.
    /// - Throws: `invalidArguments`, `limitExceeded`.
    public func telemetry(
        from: Date, until: Date? = nil, step: Telemetry.Step? = nil, of kind: Telemetry.Kind = .requests,
        by dimension: Telemetry.Dimension? = nil, filters: [Telemetry.Dimension: String] = [:], limit: Int? = nil
    ) async throws(SealKitError) -> Telemetry {
        let answer = try await client.call(
            Endpoints.operator.telemetry,
            Sealkit_V1_TelemetryRequest.with {
                $0.from = from.wholeSeconds
                $0.until = until?.wholeSeconds ?? 0
                $0.step = step?.rawValue ?? 0
                $0.kind = kind.rawValue
                $0.by = dimension?.rawValue ?? ""
                $0.filters = [Sealkit_V1_TelemetryFilter](filters)
                $0.limit = UInt32(clamping: limit ?? 0)
            }, token: token.text())
        return try Telemetry(answer)
    }
}

extension Date {
    fileprivate init(seconds: Int64) { self.init(timeIntervalSince1970: Double(seconds)) }

    fileprivate var wholeSeconds: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }
}
