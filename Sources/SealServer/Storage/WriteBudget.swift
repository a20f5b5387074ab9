import SealSystem

/// How long the transaction of one request may hold the writer, for which everybody else waits.
struct WriteBudget: Sendable {
    /// Microseconds; nil: as long as it takes.
    var limit: Int64?
    /// Microseconds, by a clock that only goes forward.
    var clock: @Sendable () -> Int64 = steadyClock
    /// Hears how long each of them took.
    var times: WriteTimes?
    var metrics: ServerMetrics = .off
}
