import ServiceLifecycle

/// Looks after transfers while the server runs.
struct TransferService: Service {
    let transfers: Transfers

    private static let interval: Duration = .seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await Task.sleep(for: Self.interval) } catch { return }
                transfers.cutSlow()
            }
        }
    }
}
