import SealWire
import SwiftProtobuf

public import Foundation

extension ServerOperator {
    /// When the server tells its operators something by itself: a measure of the last minutes is above or below a
    /// value, or so many times what it was on average.
    public struct Alert: Sendable, Hashable {
        /// What is measured.
        public enum Measure: String, Sendable, CaseIterable {
            /// A minute, on average.
            case requests, failures
            /// Requests a minute that failed by the server's fault.
            case serverErrors = "server-errors"
            /// Of a hundred requests.
            case failureShare = "failure-share"
            /// Milliseconds that so many of a hundred requests took at most.
            case latency50, latency95, latency99
            /// Bytes a minute.
            case bytesIn = "bytes-in"
            /// Bytes a minute that were answered with.
            case bytesOut = "bytes-out"
            /// Bytes that are free where the server's data is, at the moment.
            case freeBytes = "free-bytes"
            /// Hours since the last whole backup.
            case backupAge = "backup-age"
            /// Days until the server's certificate ends.
            case certificateDays = "certificate-days"
            /// Codes that were not taken, and are sent again.
            case stuckMessages = "stuck-messages"
            /// Jobs whose last run failed.
            case failingJobs = "failing-jobs"

            /// Whether it is of the last minutes; what is of no requests is of the moment.
            package var isOfRequests: Bool {
                switch self {
                case .requests, .failures, .serverErrors, .failureShare, .latency50, .latency95, .latency99, .bytesIn,
                    .bytesOut:
                    true
                case .freeBytes, .backupAge, .certificateDays, .stuckMessages, .failingJobs: false
                }
            }
        }

        /// What the measure is compared with.
        public enum Threshold: Sendable, Hashable {
            /// In the measure's unit.
            case value(Double)
            /// Times the average of the day before; of requests alone.
            case timesAverage(Double)
        }

        /// Printable text, up to 64 bytes.
        public var name: String
        /// What is measured.
        public var measure: Measure
        /// What it is compared with.
        public var threshold: Threshold
        /// It fires below the threshold, and not above.
        public var isBelow: Bool
        /// The last ones, which are looked at together: 1 to 180.
        public var minutes: Int
        /// Requests alone that have these words.
        public var filters: [Telemetry.Dimension: String]
        /// With fewer requests in these minutes nothing is said.
        public var leastRequests: Int
        /// Who is told: up to five addresses and webhooks together.
        public var mailAddresses: [String]
        /// Of origins that the server's settings allow; each message is signed as those of subscriptions are.
        public var webhooks: [String]

        /// An alert as its properties say.
        public init(
            name: String, measure: Measure, threshold: Threshold, isBelow: Bool = false, minutes: Int = 5,
            filters: [Telemetry.Dimension: String] = [:], leastRequests: Int = 0, mailAddresses: [String] = [],
            webhooks: [String] = []
        ) {
            (self.name, self.measure, self.threshold, self.isBelow) = (name, measure, threshold, isBelow)
            (self.minutes, self.filters, self.leastRequests) = (minutes, filters, leastRequests)
            (self.mailAddresses, self.webhooks) = (mailAddresses, webhooks)
        }

        init(_ wire: Sealkit_V1_AlertRule) throws(SealKitError) {
            guard let measure = Measure(rawValue: wire.measure), let given = wire.threshold else {
                throw SealKitError(.serverRejectedRequest, "the server has an alert that this version does not know")
            }
            let threshold: Threshold =
                switch given {
                case .value(let value): .value(value)
                case .factor(let factor): .timesAverage(factor)
                }
            self.init(
                name: wire.name, measure: measure, threshold: threshold, isBelow: wire.below,
                minutes: Int(clamping: wire.minutes),
                filters: wire.filters.reduce(into: [:]) { filters, filter in
                    if let dimension = Telemetry.Dimension(rawValue: filter.dimension) {
                        filters[dimension] = filter.word
                    }
                },
                leastRequests: Int(clamping: wire.leastRequests), mailAddresses: wire.mail, webhooks: wire.webhooks)
        }

        var wire: Sealkit_V1_AlertRule {
            .with {
                ($0.name, $0.measure, $0.below) = (name, measure.rawValue, isBelow)
                switch threshold {
                case .value(let value): $0.value = value
                case .timesAverage(let factor): $0.factor = factor
                }
                ($0.minutes, $0.leastRequests) = (UInt32(clamping: minutes), UInt32(clamping: leastRequests))
                $0.filters = [Sealkit_V1_TelemetryFilter](filters)
                ($0.mail, $0.webhooks) = (mailAddresses, webhooks)
            }
        }
    }

    /// What an alert's measure was at a moment.
    public struct AlertReading: Sendable, Hashable {
        /// In the measure's unit.
        public let value: Double
        /// What it is compared with: of a factor, that many times the average.
        public let threshold: Double

        init(_ wire: Sealkit_V1_AlertReading) { (value, threshold) = (wire.value, wire.threshold) }
    }

    /// An alert, and what it does now.
    public struct AlertStatus: Sendable, Hashable {
        /// The alert as it was set.
        public let alert: Alert
        /// Whether it has fired, and not recovered yet.
        public let isFiring: Bool
        /// When it fired or recovered last; nil for never.
        public let since: Date?
        /// When it was looked at last; nil for never.
        public let checked: Date?
        /// Nil where nothing can be said, as of a share of no requests.
        public let reading: AlertReading?
        /// Messages that nobody has taken yet.
        public let waiting: Int

        init(_ wire: Sealkit_V1_AlertState) throws(SealKitError) {
            alert = try Alert(wire.rule)
            isFiring = wire.firing
            since = wire.since == 0 ? nil : Date(microseconds: wire.since)
            checked = wire.checked == 0 ? nil : Date(microseconds: wire.checked)
            reading = wire.hasReading ? AlertReading(wire.reading) : nil
            waiting = Int(clamping: wire.waiting)
        }
    }

    /// What came of a test.
    public struct AlertTest: Sendable, Hashable {
        /// What became of one message.
        public struct Delivery: Sendable, Hashable {
            /// A mail address, or the origin of a webhook.
            public let target: String
            /// Nil where it was taken.
            public let failure: String?
        }

        /// With what it reads now.
        public let status: AlertStatus
        /// Whether the alert would fire now.
        public let wouldFire: Bool
        /// What became of the messages, one for each address and webhook.
        public let deliveries: [Delivery]
    }

    /// That an alert has fired or recovered.
    public struct AlertChange: Sendable, Hashable {
        /// When, by the server's clock.
        public let date: Date
        /// The alert's name.
        public let name: String
        /// Otherwise it recovered.
        public let hasFired: Bool
        /// What the measure was; nil where nothing was measured.
        public let reading: AlertReading?

        init(_ wire: Sealkit_V1_AlertChange) {
            (date, name, hasFired) = (Date(microseconds: wire.time), wire.name, wire.fired)
            reading = wire.hasReading ? AlertReading(wire.reading) : nil
        }
    }

    /// When alerts have fired and recovered, a page of it.
    public struct AlertHistory: Sendable {
        /// Newest first.
        public let changes: [AlertChange]
        /// For the page that follows; nil where this is the last.
        public let cursor: Data?
    }

    /// All alerts, by name.
    /// - Throws: as the type says.
    public func alerts() async throws(SealKitError) -> [AlertStatus] {
        let answer = try await client.call(
            Endpoints.monitoring.alerts, Sealkit_V1_ListAlertsRequest(), token: token.text())
        var alerts: [AlertStatus] = []
        for alert in answer.alerts { alerts.append(try AlertStatus(alert)) }
        return alerts
    }

    /// Adds an alert, or puts it in the place of the one of its name: it begins quiet, and is looked at once a minute.
    /// - Throws: `invalidArguments`; `serverRejectedRequest` for mail without a relay, and for what a server without
    ///   telemetry cannot see; `limitExceeded` beyond a hundred.
    @discardableResult
    public func addAlert(_ alert: Alert) async throws(SealKitError) -> AlertStatus {
        let answer = try await client.call(
            Endpoints.monitoring.addAlert, Sealkit_V1_AddAlertRequest.with { $0.rule = alert.wire },
            token: token.text())
        return try AlertStatus(answer.alert)
    }

    /// Nobody is told of it any more, nor of what waits.
    /// - Throws: `unknownItem`.
    public func removeAlert(named name: String) async throws(SealKitError) {
        _ = try await client.call(
            Endpoints.monitoring.removeAlert, Sealkit_V1_RemoveAlertRequest.with { $0.name = name },
            token: token.text())
    }

    /// What an alert reads now, and a message to everybody whom it tells.
    /// - Throws: `unknownItem`.
    public func testAlert(named name: String) async throws(SealKitError) -> AlertTest {
        let answer = try await client.call(
            Endpoints.monitoring.testAlert, Sealkit_V1_TestAlertRequest.with { $0.name = name }, token: token.text())
        return AlertTest(
            status: try AlertStatus(answer.alert), wouldFire: answer.wouldFire,
            deliveries: answer.deliveries.map { .init(target: $0.target, failure: $0.taken ? nil : $0.answer) })
    }

    /// When alerts fired and recovered, newest first.
    /// - Parameters:
    ///   - name: of one alone; nil for all, those that were removed since as well.
    ///   - cursor: of the page before; nil for the first.
    ///   - limit: changes in the page, up to 1,000; nil for 100.
    /// - Throws: as the type says; `serverRejectedRequest` for a list that does not go on.
    public func alertHistory(
        of name: String? = nil, after cursor: Data? = nil, limit: Int? = nil
    ) async throws(SealKitError) -> AlertHistory {
        let answer = try await client.call(
            Endpoints.monitoring.alertHistory,
            Sealkit_V1_AlertHistoryRequest.with {
                ($0.name, $0.cursor, $0.limit) = (name ?? "", cursor ?? Data(), UInt32(clamping: limit ?? 0))
            }, token: token.text())
        return AlertHistory(
            changes: answer.changes.map(AlertChange.init),
            cursor: try Self.next(answer.cursor, after: cursor, in: "list of alerts' changes"))
    }
}
