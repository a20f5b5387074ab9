/// Time and chance, as retries and logins use them. Tests put their own in.
package struct Pacing: Sendable {
    package var now: @Sendable () -> ContinuousClock.Instant
    /// Throws only when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Between 0 and 1.
    package var chance: @Sendable () -> Double
    /// The clock that a login states: microseconds since 1970.
    package var time: @Sendable () -> Int64

    package static let real = Pacing(
        now: { ContinuousClock.now }, sleep: { try await Task.sleep(for: $0) }, chance: { Double.random(in: 0...1) })

    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (Duration) async throws -> Void, chance: @escaping @Sendable () -> Double,
        time: @escaping @Sendable () -> Int64
    ) {
        (self.now, self.sleep, self.chance, self.time) = (now, sleep, chance, time)
    }

    /// By this device's clock.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (Duration) async throws -> Void, chance: @escaping @Sendable () -> Double
    ) {
        self.init(now: now, sleep: sleep, chance: chance) { currentTime() }
    }
}
