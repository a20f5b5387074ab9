import ServiceLifecycle
import Synchronization

/// Listens, and takes the place back where commands find it once it has ended.
struct OperatorService<Listener: Service>: Service {
    let listener: ListeningService<Listener>
    let place: HeldPlace

    /// Throws `ListenFailure`; the listener's errors.
    func run() async throws {
        defer { place.release() }
        try await listener.run()
    }
}

/// The place of a listener that knows its address only once it listens.
final class HeldPlace: Sendable {
    private let dataFolder: String
    private let held = Mutex<OperatorPlace?>(nil)

    init(dataFolder: String) { self.dataFolder = dataFolder }

    /// - Throws: `FileError`.
    func take(_ url: String) throws {
        let place = try OperatorPlace(url, dataFolder: dataFolder)
        held.withLock { $0 = place }
    }

    func release() {
        held.withLock { held in
            held?.release()
            held = nil
        }
    }
}
