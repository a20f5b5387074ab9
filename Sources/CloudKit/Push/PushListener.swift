import Foundation
import SealKit
import Synchronization

/// Listens to the server's events for as long as somebody wants to be told.
final class PushListener: Sendable {
    typealias Handler = @Sendable ([AnyHashable: Any]) -> Void

    private struct State {
        var handler: Handler?
        var listening: Task<Void, Never>?
        /// One stream, of one account.
        var reading: Task<Void, Never>?
    }

    private let state = Mutex(State())
    /// One notification after another.
    private let queue = HandlerQueue.make()
    private let identifier: String
    private let container: @Sendable () async throws(SealKitError) -> SealKit.Container
    private let positions: PushPositions
    /// Under which the positions of one environment are kept.
    private let environment: String

    init(
        _ identifier: String, environment: String, positions: PushPositions,
        container: @escaping @Sendable () async throws(SealKitError) -> SealKit.Container
    ) {
        self.identifier = identifier
        self.environment = environment
        self.positions = positions
        self.container = container
        // A stream is one account's: another one gets another. For as long as the process lasts, as its containers do.
        _ = NotificationCenter.default.addObserver(forName: .accountChanged, object: nil, queue: nil) {
            [weak self] _ in self?.state.withLock { $0.reading?.cancel() }
        }
    }

    var handler: Handler? {
        get { state.withLock { $0.handler } }
        set {
            state.withLock { state in
                state.handler = newValue
                if newValue == nil {
                    Self.stop(&state)
                } else if state.listening == nil {
                    start(&state)
                }
            }
        }
    }

    deinit { state.withLock { Self.stop(&$0) } }

    private func start(_ state: inout State) {
        state.listening = Task { [weak self] in
            while !Task.isCancelled {
                guard let reading = self?.beginReading() else { return }
                await withTaskCancellationHandler {
                    await reading.value
                } onCancel: {
                    reading.cancel()
                }
            }
        }
    }

    private static func stop(_ state: inout State) {
        state.listening?.cancel()
        state.reading?.cancel()
        (state.listening, state.reading) = (nil, nil)
    }

    /// - Returns: nil where nobody is to be told any more.
    private func beginReading() -> Task<Void, Never>? {
        // In one step with what ends it: an account that changes meanwhile ends this stream, and none that began since.
        state.withLock { state in
            guard !Task.isCancelled else { return nil }
            let reading = read()
            state.reading = reading
            return reading
        }
    }

    private func read() -> Task<Void, Never> {
        Task { [weak self, container, positions, identifier, environment] in
            do {
                let container = try await container()
                let user = try container.userRecordID().recordName
                let place = "\(identifier) \(environment) \(user)"
                // Where the file cannot be read, what was told is not known.
                if positions.isDamaged(place) { await self?.tellOfAll(user) }
                for try await notification in container.notifications(after: positions[place]) {
                    guard let self else { return }
                    switch notification.content {
                    case .ready: break
                    case .fired(let fired): await self.tell(fired.dictionary(id: notification.id, user: user))
                    case .reset: await self.tellOfAll(user)
                    }
                    if let id = notification.id { positions.keep(id, for: place) }
                }
            } catch {
                // Nobody is signed in, or the server refuses the stream for good: a change of the account cancels the
                // wait.
            }
            try? await Task.sleep(for: .seconds(Self.pause))
        }
    }

    /// Seconds.
    private static let pause = 30

    /// The position goes on once the handler has returned.
    private func tell(_ dictionary: @autoclosure @escaping @Sendable () -> [AnyHashable: Any]) async {
        guard let handler else { return }
        await queue.called { handler(dictionary()) }
    }

    private func tellOfAll(_ user: String) async {
        for scope in [CKDatabase.Scope.private, .shared, .public] {
            await tell(SealKit.Container.Notification.Fired.dictionary(ofAll: scope, in: self.identifier, user: user))
        }
    }
}
