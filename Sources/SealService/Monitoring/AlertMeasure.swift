package import SealStorage
import SealWire

/// What an alert looks at.
package enum AlertMeasure: String, CaseIterable, Sendable {
    case requests, failures
    case serverErrors = "server-errors"
    case failureShare = "failure-share"
    case latency50, latency95, latency99
    case bytesIn = "bytes-in"
    case bytesOut = "bytes-out"
    // Of the server at the moment, and of no requests.
    /// Where the data folder is.
    case freeBytes = "free-bytes"
    /// Since the last whole backup.
    case backupAge = "backup-age"
    /// Until the server's certificate ends.
    case certificateDays = "certificate-days"
    /// Codes that were not taken, and are sent again.
    case stuckMessages = "stuck-messages"
    /// Jobs whose last run failed.
    case failingJobs = "failing-jobs"

    /// Whether telemetry tells it; what does not is of the moment.
    package var isOfRequests: Bool {
        switch self {
        case .requests, .failures, .serverErrors, .failureShare, .latency50, .latency95, .latency99, .bytesIn,
            .bytesOut:
            true
        case .freeBytes, .backupAge, .certificateDays, .stuckMessages, .failingJobs: false
        }
    }

    /// As people read it behind a number.
    package var unit: String {
        switch self {
        case .requests, .failures, .serverErrors: "a minute"
        case .failureShare: "percent"
        case .latency50, .latency95, .latency99: "milliseconds"
        case .bytesIn, .bytesOut: "bytes a minute"
        case .freeBytes: "bytes"
        case .backupAge: "hours"
        case .certificateDays: "days"
        case .stuckMessages: "messages"
        case .failingJobs: "jobs"
        }
    }

    /// Nil where there is nothing to be said: of no requests there is neither a share nor a time.
    /// - Parameter minutes: that the part is of.
    package func value(of part: TelemetrySeries.Part, minutes: Double) -> Double? {
        let sum = part.sum
        switch self {
        case .requests: return Double(sum.count) / minutes
        case .failures: return Double(part.failures) / minutes
        case .serverErrors: return Double(part.serverErrors) / minutes
        case .bytesIn: return Double(sum.bytesIn) / minutes
        case .bytesOut: return Double(sum.bytesOut) / minutes
        case .failureShare:
            return sum.count > 0 ? Double(part.failures) / Double(sum.count) * 100 : nil
        case .latency50: return Self.milliseconds(0.5, sum)
        case .latency95: return Self.milliseconds(0.95, sum)
        case .latency99: return Self.milliseconds(0.99, sum)
        case .freeBytes, .backupAge, .certificateDays, .stuckMessages, .failingJobs: return nil
        }
    }

    private static func milliseconds(_ share: Double, _ sum: TelemetrySum) -> Double? {
        sum.count > 0 ? Double(sum.latency.quantile(share)) / 1_000 : nil
    }
}
