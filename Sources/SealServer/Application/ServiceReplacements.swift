import Logging

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
    /// Between looks at the certificate.
    var certificateInterval: Duration?
    var mostWaitingWrites: Int?
    /// Of the budget for writes: microseconds, by a clock that only goes forward.
    var steadyClock: (@Sendable () -> Int64)?
    /// Put around the real one.
    var database: (@Sendable (any SQLDatabase) -> any SQLDatabase)?
}
