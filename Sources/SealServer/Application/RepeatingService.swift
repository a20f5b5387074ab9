import ServiceLifecycle

/// Does something at intervals while the server runs.
struct RepeatingService: Service {
    let interval: Duration
    let work: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                await work()
            }
        }
    }
}
