/// Time and chance, as retries use them. Tests put their own in.
struct Pacing: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// Throws only when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
    /// Between 0 and 1.
    var chance: @Sendable () -> Double

    static let real = Pacing(
        now: { ContinuousClock.now }, sleep: { try await Task.sleep(for: $0) }, chance: { Double.random(in: 0...1) })
}
