import CoreMetrics
import Logging
import SealService
import SealStorage

/// What tests put in the place of the real thing. Nil: the real thing.
struct ServiceReplacements: Sendable {
    var clock: (@Sendable () -> Int64)?
    /// What durations are measured by.
    var instant: (@Sendable () -> ContinuousClock.Instant)?
    /// In the place of those that were configured.
    var messengers: [Address.Kind: any Messenger]?
    var limits: AbuseLimits?
    var seats: (any PlaceholderSeats)?
    var outboxWaits: [Duration]?
    var logger: Logger?
    /// Between two looks of a job whether there is something to do.
    var jobLook: Duration?
    /// Between two sweeps.
    var sweepInterval: Duration?
    /// Where metrics go, beside what `ServerConfiguration.metrics` says.
    var metrics: (any MetricsFactory)?
    /// Called with the address at which metrics can be read.
    var onMetrics: (@Sendable (ListenAddress) -> Void)?
    /// Called with the address of the operator's listener.
    var onOperator: (@Sendable (ListenAddress) -> Void)?
    /// Called with the address of the console.
    var onConsole: (@Sendable (ListenAddress) -> Void)?
    /// Between looks at the certificate.
    var certificateInterval: Duration?
    var mostWaitingWrites: Int?
    /// Of the budget for writes: microseconds, by a clock that only goes forward.
    var steadyClock: (@Sendable () -> Int64)?
    /// In the place of what the program has: nil for none.
    var webBundle: (@Sendable () -> WebBundle?)?
    /// Put around the real one.
    var database: (@Sendable (any SQLDatabase) -> any SQLDatabase)?
}

extension ServiceReplacements {
    /// - Returns: nil where the program was built without the web client.
    /// - Throws: `WebBundle.Malformed`.
    func servedBundle() throws -> WebBundle? { try webBundle.map { $0() } ?? WebBundle.built() }
}
