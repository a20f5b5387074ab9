import ServiceLifecycle

/// Writes telemetry once a minute, in the first second of the next, and once more at the end; and counts then what is
/// open.
struct TelemetryService: Service {
    let telemetry: Telemetry
    /// Counts what is open.
    let sample: @Sendable () -> Void
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64

    private static let minute: Int64 = 60_000_000

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let left = Self.minute - clock() % Self.minute
                do { try await Task.sleep(for: .microseconds(left + 500_000)) } catch { return }
                await telemetry.flush()
                sample()
            }
        }
    }
}
