package import SealStorage
package import SealWire
import SwiftProtobuf

/// When an alert fires, and who is told, checked.
package struct AlertRule: Sendable {
    package static let most = 100
    package static let mostTargets = 5
    package static let longestMinutes: UInt32 = 180
    /// Of what a filter looks for.
    package static let mostWordBytes = 1_024
    /// What an average is of: hours before the minutes that are looked at.
    package static let averagedHours: Int64 = 24
    /// Of fewer minutes there is no average.
    private static let leastAveraged: Int64 = 10

    package enum Threshold: Sendable, Equatable {
        case value(Double)
        /// Times the average of before.
        case factor(Double)
    }

    package let message: Sealkit_V1_AlertRule
    package let measure: AlertMeasure
    package let threshold: Threshold
    package let filters: [TelemetryDimension: String]

    package var name: String { message.name }
    /// Mail addresses and URLs.
    package var targets: [AlertTarget] {
        message.mail.map(AlertTarget.mail) + message.webhooks.map(AlertTarget.webhook)
    }

    /// - Throws: `invalidArguments`.
    package init(_ given: Sealkit_V1_AlertRule) throws(ServerError) {
        try MonitoringName.check(given.name)
        guard let measure = AlertMeasure(rawValue: given.measure) else {
            let known = AlertMeasure.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.invalid("No alert looks at that.", "Use one of \(known).")
        }
        switch given.threshold {
        case .value(let value) where value.isFinite && value >= 0: threshold = .value(value)
        case .factor(let factor) where factor.isFinite && factor > 0 && measure.isOfRequests:
            threshold = .factor(factor)
        default:
            throw Self.invalid(
                "The alert has no threshold.",
                "Give a number from 0 on, or, of requests, how many times the average.")
        }
        guard (1...Self.longestMinutes).contains(given.minutes) else {
            throw Self.invalid(
                "An alert looks at the last 1 to \(Self.longestMinutes) minutes.", "Give a number of minutes.")
        }
        guard (1...Self.mostTargets).contains(given.mail.count + given.webhooks.count) else {
            throw Self.invalid(
                "An alert tells 1 to \(Self.mostTargets) addresses and webhooks.", "Name who is to be told.")
        }
        filters = try TelemetryDimension.filters(given.filters)
        guard measure.isOfRequests || (filters.isEmpty && given.leastRequests == 0) else {
            throw Self.invalid("How the server is at the moment is nobody's in particular.", "Leave filters out.")
        }
        var message = given
        message.mail = []
        for address in given.mail { message.mail.append(try Address(email: address).normalized) }
        (self.message, self.measure) = (message, measure)
    }

    /// That whoever is to be told can be: a message says what an alert looks at.
    /// - Throws: `invalidArguments`, `limitExceeded`, `serverRejectedRequest`.
    package func checkTargets(_ webhooks: WebhookTargets, hasMail: Bool) throws(ServerError) {
        guard hasMail || message.mail.isEmpty else {
            throw ServerError(
                .serverRejectedRequest, "This server is set up without a mail relay.",
                remedy: "Start it with --smtp-url and --smtp-from, or name a webhook.")
        }
        guard filters.values.allSatisfy({ $0.utf8.count <= Self.mostWordBytes }) else {
            throw Self.invalid(
                "What a filter looks for has at most \(Self.mostWordBytes) bytes.",
                "Give the word that telemetry shows.")
        }
        for url in message.webhooks { try webhooks.check(url) }
    }

    private static func invalid(_ reason: String, _ remedy: String) -> ServerError {
        ServerError(.invalidArguments, reason, remedy: remedy)
    }
}

/// Who is told.
package enum AlertTarget: Sendable, Equatable {
    case mail(String)
    case webhook(String)
}

extension AlertTarget: CustomStringConvertible, CustomReflectable {
    /// Neither an address nor what is secret of a URL shows.
    package var description: String { way }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    package var way: String {
        switch self {
        case .mail: "mail"
        case .webhook: "webhook"
        }
    }
}

/// What an alert has read, and what that is compared with.
package struct AlertReading: Sendable, Equatable {
    package let value: Double
    package let threshold: Double

    package init(value: Double, threshold: Double) { (self.value, self.threshold) = (value, threshold) }

    package var wire: Sealkit_V1_AlertReading {
        .with { ($0.value, $0.threshold) = (value, threshold) }
    }
}

// MARK: Reading

extension AlertRule {
    package func isHeld(by reading: AlertReading) -> Bool {
        message.below ? reading.value < reading.threshold : reading.value > reading.threshold
    }

    /// - Parameter value: of the moment.
    package func reading(of value: Double) -> AlertReading? {
        guard case .value(let threshold) = threshold else { return nil }
        return AlertReading(value: value, threshold: threshold)
    }

    /// Of the last whole minutes; nil where nothing can be said.
    /// - Parameters:
    ///   - since: from when on everything that was counted is in the file, in seconds since 1970.
    ///   - minutes: what others have read of the same minutes.
    /// - Throws: `TelemetryFileError`, `StorageError`.
    package func reading(
        _ file: TelemetryFile, since: Int64, minutes: inout AlertMinutes, averages: AlertAverages
    ) async throws -> AlertReading? {
        let (from, until) = (minutes.start(of: message.minutes), minutes.end)
        let part = try await minutes.total(message.minutes, filters) {
            try await sum(file, .minute, from, until).total
        }
        guard part.sum.count >= Int64(message.leastRequests),
            let value = measure.value(of: part, minutes: Double(message.minutes))
        else { return nil }
        switch threshold {
        case .value(let threshold): return AlertReading(value: value, threshold: threshold)
        case .factor(let factor):
            guard let average = try await average(file, averages, since: since, before: from) else { return nil }
            return AlertReading(value: value, threshold: factor * average)
        }
    }

    /// Of the whole hours of the day before, since there was anything; nil where there was nothing, or too little.
    private func average(
        _ file: TelemetryFile, _ averages: AlertAverages, since: Int64, before time: Int64
    ) async throws -> Double? {
        let (hour, minute) = (TelemetryFile.Step.hour.rawValue, TelemetryFile.Step.minute.rawValue)
        let until = TelemetryFile.Step.hour.start(of: time)
        // An hour of which something was lost is none of them.
        let from = max(until - Self.averagedHours * hour, TelemetryFile.Step.hour.start(of: since + hour - 1))
        guard from < until else { return nil }
        let hours = try await averages.hours(filters, from: from, until: until) {
            let series = try await sum(file, .hour, from, until)
            guard let start = series.parts.keys.min() else { return nil }
            // A server or a container that has begun within its first hour was asked nothing before.
            let first = try await sum(file, .minute, start, start + hour).parts.keys.min()
            return AlertAverages.Hours(total: series.total, first: first ?? start)
        }
        guard let hours, until - hours.first >= Self.leastAveraged * minute else { return nil }
        return measure.value(of: hours.total, minutes: Double((until - hours.first) / minute))
    }

    private func sum(
        _ file: TelemetryFile, _ step: TelemetryFile.Step, _ from: Int64, _ until: Int64
    ) async throws -> TelemetrySeries {
        let query = TelemetryQuery(
            from: from, until: until, step: step, kind: .request, filters: filters, by: nil)
        return try await file.series(query).first ?? TelemetrySeries(name: "")
    }
}
