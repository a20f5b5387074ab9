import Logging
import Synchronization

/// Sends messages beside the requests that cause them, and tries again for a while when the relay does not take them.
///
/// In memory: a message that is waiting when the server stops is lost, and its code is asked for again. So the plain address
/// lives exactly as long as the sending.
final class Outbox: Sendable {
    private let messenger: any Messenger
    private let logger: Logger
    /// Waits between tries; after the last one the message is given up.
    private let waits: [Duration]
    private let capacity: Int

    private struct State {
        var next = 0
        var tasks: [Int: Task<Void, Never>] = [:]
        /// Ended before their task was noted.
        var ended: Set<Int> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    static let defaultWaits: [Duration] = [.seconds(2), .seconds(10), .seconds(30), .seconds(60), .seconds(120)]

    init(messenger: any Messenger, logger: Logger, waits: [Duration] = defaultWaits, capacity: Int = 2_000) {
        self.messenger = messenger
        self.logger = logger
        self.waits = waits
        self.capacity = capacity
    }

    /// False when there is no room: so many wait that the relay must be out of order.
    var hasRoom: Bool { state.withLock { !$0.isClosed && $0.tasks.count < capacity } }

    /// Returns at once.
    func enqueue(_ message: OutgoingMessage) {
        let number: Int? = state.withLock { state in
            guard !state.isClosed, state.tasks.count < capacity else { return nil }
            state.next += 1
            return state.next
        }
        guard let number else {
            logger.error("a message was not sent: too many are waiting")
            return
        }
        let task = Task {
            await self.deliver(message)
            self.finish(number)
        }
        state.withLock { state in
            if state.ended.remove(number) == nil { state.tasks[number] = task }
            if state.isClosed { task.cancel() }
        }
    }

    /// Gives up what waits.
    func close() {
        let tasks = state.withLock { state in
            state.isClosed = true
            defer { state.tasks = [:] }
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    private func finish(_ number: Int) {
        state.withLock { state in
            if state.tasks.removeValue(forKey: number) == nil, !state.isClosed { state.ended.insert(number) }
        }
    }

    private func deliver(_ message: OutgoingMessage) async {
        for (index, wait) in (waits.map(Optional.some) + [nil]).enumerated() {
            do {
                try await messenger.send(message)
                return
            } catch {
                // The messenger's errors carry no address; others' words are not repeated.
                let reason = (error as? MessengerError).map { "\($0)" } ?? "\(type(of: error))"
                let willRetry = wait != nil && Self.isWorthRetrying(error)
                logger.warning(
                    "a message was not sent",
                    metadata: ["error": "\(reason)", "try": "\(index + 1)", "again": "\(willRetry)"])
                guard willRetry, let wait else { return }
                do { try await Task.sleep(for: wait) } catch { return }
            }
        }
    }

    private static func isWorthRetrying(_ error: any Error) -> Bool {
        switch error as? MessengerError {
        case .invalidRecipient, .invalidHeader: false
        // The relay has decided. (4xx is “not now”; 0 is no answer at all.)
        case .notSent(_, let status, _): !(500..<600).contains(status)
        case .unavailable, nil: true
        }
    }
}
