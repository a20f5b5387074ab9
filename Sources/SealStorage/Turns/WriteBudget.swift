import SealSystem

/// How long the transaction of one request may hold the writer, for which everybody else waits.
package struct WriteBudget: Sendable {
    /// Microseconds; nil: as long as it takes.
    package var limit: Int64?
    /// Microseconds, by a clock that only goes forward.
    package var clock: @Sendable () -> Int64 = steadyClock
    /// Hears how long each of them took.
    package var times: WriteTimes?
    package var metrics: ServerMetrics = .off

    /// Writes that may wait at once: less than a second's work. Behind more of them nobody would get an answer in time.
    package static let defaultMostWaiting = 4096

    /// Of those that may wait, how many of one account do: others find room.
    static func mostOfOne(of mostWaiting: Int) -> Int { max(1, mostWaiting / 4) }

    package init(
        limit: Int64? = nil,
        clock: @escaping @Sendable () -> Int64 = steadyClock,
        times: WriteTimes? = nil,
        metrics: ServerMetrics = .off
    ) {
        self.limit = limit
        self.clock = clock
        self.times = times
        self.metrics = metrics
    }
}
