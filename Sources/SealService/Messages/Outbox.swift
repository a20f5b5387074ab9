package import Logging
package import SealPrimitives
package import SealStorage
import Synchronization

/// Sends messages beside the requests that cause them, and tries again for as long as their codes are good.
///
/// A message is stored in the transaction that makes its code, and removed once it was sent: so it outlives a restart,
/// and goes out **at least once**. What a process leaves behind another one sends, or the next start: of one that is
/// killed between sending and removing a second time, with the same id and the same code.
package final class Outbox: Sendable {
    private let messengers: [Address.Kind: any Messenger]
    private let rows: OutgoingMessages
    private let database: any SQLDatabase
    private let origin: ServerOrigin
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    /// Waits between tries, by a clock that nobody sets; after the last one the message is given up.
    private let waits: [Duration]
    private let capacity: Int
    private let metrics: ServerMetrics
    private let settled: @Sendable (_ container: String, _ isSent: Bool) -> Void
    /// Whether messages go out, by kind.
    package let states: MessengerStates

    private struct State {
        var tasks: [ID16: Task<Void, Never>] = [:]
        /// Ended before their task was noted.
        var ended: Set<ID16> = []
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Nearly ten minutes in all, which is how long a code is good.
    package static let defaultWaits: [Duration] = [
        .seconds(2), .seconds(10), .seconds(30), .seconds(60), .seconds(120), .seconds(180), .seconds(180),
    ]
    /// How long a stopping server waits for what is being sent.
    private static let patience: Duration = .seconds(5)

    /// - Parameter settled: is told of each message that was sent or given up, and of which container it was; empty
    ///   for one that another process had stored.
    package init(
        messengers: [Address.Kind: any Messenger], key: SecretBytes, sender: Int64, database: any SQLDatabase,
        origin: ServerOrigin, clock: @escaping @Sendable () -> Int64, logger: Logger,
        waits: [Duration] = defaultWaits, capacity: Int = 2_000, metrics: ServerMetrics = .off,
        settled: @escaping @Sendable (_ container: String, _ isSent: Bool) -> Void
    ) {
        self.settled = settled
        self.messengers = messengers
        self.rows = OutgoingMessages(key: key, sender: sender, kinds: Set(messengers.keys))
        self.database = database
        self.origin = origin
        self.clock = clock
        self.logger = logger
        self.waits = waits
        self.capacity = capacity
        self.metrics = metrics
        states = MessengerStates(messengers, logger: logger)
    }

    /// Whether the server is set up to send messages of this kind.
    package func carries(_ kind: Address.Kind) -> Bool { messengers[kind] != nil }

    /// False when there is no room: so many wait that the relay must be out of order.
    package var hasRoom: Bool { state.withLock { !$0.isClosed && $0.tasks.count < capacity } }

    /// How many wait or are being sent.
    package var count: Int { state.withLock(\.tasks.count) }

    /// Tries those messengers of which it is not known that they work.
    package func tryOut() async {
        for (kind, messenger) in messengers where messenger.canBeTried && states.isUnsure(kind) {
            await tryOut(kind, messenger)
        }
    }

    private func tryOut(_ kind: Address.Kind, _ messenger: any Messenger) async {
        let failure: MessengerError?
        do {
            try await messenger.tryOut()
            failure = nil
        } catch {
            failure = error
        }
        // A server that has stopped says nothing any more.
        guard !state.withLock(\.isClosed) else { return }
        if let failure { states.failed(kind, why: failure.text) } else { states.isOpen(kind) }
    }

    /// Whether there is anything to try.
    package var canBeTried: Bool { messengers.values.contains(where: \.canBeTried) }

    // MARK: In

    /// Stores a message in the caller's transaction. Sent by `send`, once that has ended well.
    package func store(_ message: WaitingMessage, in connection: any SQLConnection) throws {
        try rows.insert(message, in: connection)
    }

    /// Returns at once.
    package func send(_ message: WaitingMessage) {
        // Closed: the next start sends it. One that came back is being sent still.
        guard !state.withLock({ $0.isClosed || $0.tasks[message.id] != nil }) else { return }
        // Detached: its writes are the server's own, not in the turn and budget of whoever asked.
        let task = Task.detached {
            await self.deliver(message)
            self.finish(message.id)
        }
        state.withLock { state in
            if state.ended.remove(message.id) == nil { state.tasks[message.id] = task }
            if state.isClosed { task.cancel() }
        }
    }

    /// Whether anything is there that nobody sends: of a process that is not there any more, or whose end could not be
    /// noted, by its own process either, so that it is there though its code is of no use.
    package func hasLeftOvers(in connection: any SQLConnection) throws -> Bool {
        // Whoever sends it gives it up, counts that and says so: what is there long after that is nobody's.
        try OutgoingMessages.haveExpired(now: clock() - CodeMessage.lifetime, in: connection)
            || !messengers.isEmpty && rows.areLeftOver(in: connection)
    }

    /// How many were tried in vain and are tried again, whichever server sends them.
    /// - Parameter now: microseconds since 1970.
    package static func countStuck(now: Int64, in connection: any SQLConnection) throws -> Int64 {
        try connection.first(
            "SELECT COUNT(*) AS count FROM outgoing_message WHERE attempts > 0 AND expires > $1", [.integer(now)]
        ) { try $0.int64("count") } ?? 0
    }

    /// Goes on with it.
    package func resume(_ turn: JobTurn) async throws {
        let (now, rows) = (turn.now, rows)
        var isAll = false
        while !isAll {
            let taken = try await turn.step(at: turn.home) { try rows.takeOver(now: now, in: $0) }
            for message in taken.messages { send(message) }
            isAll = taken.isAll
        }
    }

    /// Stops trying, and waits a little for what is on its way. What was not sent is sent after the next start.
    package func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        let end = ContinuousClock.now + Self.patience
        while count > 0, ContinuousClock.now < end {
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        for messenger in messengers.values { await messenger.close() }
    }

    private func finish(_ id: ID16) {
        state.withLock { state in
            if state.tasks.removeValue(forKey: id) == nil { state.ended.insert(id) }
        }
    }

    // MARK: Out

    private func deliver(_ waiting: WaitingMessage) async {
        guard let messenger = messengers[waiting.kind] else { return }
        var attempts = waiting.attempts
        var wasRefused = false
        while clock() < waiting.expires {
            // Now, not when it was stored: with port 0 the origin has changed since.
            let message = waiting.message.written(waiting.kind, id: waiting.id.hex, origin: origin.value)
            do {
                try await messenger.send(message)
                states.sent(waiting.kind)
                return await settle(waiting, isSent: true)
            } catch is CancellationError {
                return
            } catch {
                attempts += 1
                metrics.count(.messages, "\(waiting.kind)", "failed")
                // The messenger's errors carry no address; others' words are not repeated.
                let known = error as? MessengerError
                var isToBeTried = false
                if let known, !known.isOfTheWay {
                    // It may be the recipient's fault: whether messages go out is found out by itself where it can be.
                    let isFirstDoubt = states.refused(waiting.kind, isFirst: !wasRefused, why: known.text)
                    (isToBeTried, wasRefused) = (isFirstDoubt && messenger.canBeTried, true)
                } else {
                    // What a recipient can cause has a name of its own: all else is the server's or the way's.
                    states.failed(waiting.kind, why: known?.text ?? "")
                }
                let willRetry = attempts <= waits.count && known?.isWorthRetrying != false
                logger.warning(
                    "a message was not sent",
                    metadata: [
                        "error": "\(known?.text ?? "\(type(of: error))")", "try": "\(attempts)",
                        "again": "\(willRetry)",
                    ])
                guard willRetry else {
                    await settle(waiting, isSent: false)
                    if isToBeTried { await tryOut(waiting.kind, messenger) }
                    return
                }
                await store(waiting.id) { try $0.countAttempt($1, in: $2) }
                if isToBeTried { await tryOut(waiting.kind, messenger) }
                guard await pause(attempts), await isOwn(waiting.id) else { return }
            }
        }
        logger.warning("a message was given up: its code is of no use any more")
        await settle(waiting, isSent: false)
    }

    /// Nothing more becomes of it.
    private func settle(_ waiting: WaitingMessage, isSent: Bool) async {
        metrics.count(.messages, "\(waiting.kind)", isSent ? "sent" : "given-up")
        settled(waiting.container, isSent)
        await store(waiting.id) { try $0.delete($1, in: $2) }
    }

    /// False when the outbox closes.
    private func pause(_ attempts: Int) async -> Bool {
        guard attempts <= waits.count else { return true }
        do { try await Task.sleep(for: waits[attempts - 1]) } catch { return false }
        return true
    }

    /// Where nobody can tell, it is sent: rather twice than never.
    private func isOwn(_ id: ID16) async -> Bool {
        let rows = rows
        return (try? await database.read { try rows.isOwn(id, in: $0) }) ?? true
    }

    /// Notes how a message stands. Where that fails the message is sent once more, after the next start, unless its
    /// code has expired by then.
    private func store(
        _ id: ID16, _ change: @escaping @Sendable (OutgoingMessages, ID16, any SQLConnection) throws -> Void
    ) async {
        do {
            let rows = rows
            try await database.write(at: .entry(id.bytes)) { try change(rows, id, $0) }
        } catch {
            logger.warning(
                "what was sent could not be noted; the message may be sent again",
                metadata: ["error": "\(type(of: error))"])
        }
    }
}
