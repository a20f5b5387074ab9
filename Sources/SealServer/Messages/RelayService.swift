import SealService
import ServiceLifecycle
import Synchronization

/// Finds out whether the mail relay works: when the server starts, and after a failure until it does.
struct RelayService: Service {
    let outbox: Outbox

    /// Short at first: relay and server may have been started together.
    private static let firstWaits: [Duration] = [.seconds(2), .seconds(10)]
    private static let interval: Duration = .seconds(30)

    func run() async throws {
        let isBusy = Busy()
        await cancelWhenGracefulShutdown {
            var waits = Self.firstWaits[...]
            while !Task.isCancelled {
                if outbox.canBeTried, isBusy.begin() {
                    // Beside this: a relay that says nothing must not hold up a server that stops.
                    Task {
                        await outbox.tryOut()
                        isBusy.end()
                    }
                }
                do { try await Task.sleep(for: waits.popFirst() ?? Self.interval) } catch { return }
            }
        }
    }

    private final class Busy: Sendable {
        private let state = Mutex(false)

        /// False when it has begun already.
        func begin() -> Bool {
            state.withLock { isBusy in
                defer { isBusy = true }
                return !isBusy
            }
        }

        func end() { state.withLock { $0 = false } }
    }
}
