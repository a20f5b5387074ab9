import Foundation

/// How long the transaction of one request may hold the writer, for which everybody else waits.
struct WriteBudget: Sendable {
    /// Microseconds; nil: as long as it takes.
    var limit: Int64?
    /// Microseconds, by a clock that only goes forward.
    var clock: @Sendable () -> Int64 = steadyClock
    /// Hears how long each of them took.
    var times: WriteTimes?
}

/// Microseconds since some moment; nobody sets it back.
let steadyClock: @Sendable () -> Int64 = {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
}
