import Dispatch
import Synchronization

/// Connections for reading, each with a thread of its own: a read that takes long never holds a thread of Swift's
/// cooperative pool, which has as many as the machine has cores, and on which everything else runs.
///
/// Where all are at work reads wait, and whoever asked for them take turns.
final class Readers: Sendable {
    private struct Reader: Sendable {
        /// Serial queues have threads of their own for as long as they have something to do.
        let thread: DispatchQueue
        let connection: any ReaderConnection
    }

    /// Nil is the server itself.
    private typealias Payer = WriteTurn.Payer?

    private struct State {
        var idle: [Reader] = []
        var busy = 0
        /// Whether one of the busy ones is still to be connected. Others wait for that: two that come for the last
        /// connection of a server can be refused both, and where it is away they fail with the first.
        var isConnecting = false
        var waiting = TurnQueue<Payer, any ReadJob>()
        var isClosed = false

        func mayConnect(most: Int) -> Bool { !isClosed && !isConnecting && busy < most }

        mutating func takeAllWaiting() -> [any ReadJob] {
            var all: [any ReadJob] = []
            while let next = waiting.next() { all.append(next.element) }
            return all
        }
    }

    private let state = Mutex(State())
    /// How many read at once.
    private let most: Int
    private let connect: @Sendable () throws -> any ReaderConnection

    /// - Parameter connect: makes another connection, on the thread that uses it.
    init(most: Int, connect: @escaping @Sendable () throws -> any ReaderConnection) {
        self.most = most
        self.connect = connect
    }

    /// Runs `body` in one snapshot, which begins with its first statement.
    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { begin(PendingRead(body: body, continuation: $0)) }
    }

    var counts: ReadCounts {
        state.withLock { ReadCounts(open: $0.busy + $0.idle.count, busy: $0.busy, waiting: $0.waiting.count) }
    }

    /// Refuses new reads, and those that wait; those under way close their connections when they are done.
    func close() throws {
        let (idle, waiting) = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return (state.idle, state.takeAllWaiting())
        }
        for job in waiting { job.fail(StorageError.closed) }
        for reader in idle { try reader.connection.close() }
    }

    private func begin(_ job: any ReadJob) {
        enum Found {
            case idle(Reader)
            case room, none, closed
        }
        let found = state.withLock { state -> Found in
            guard !state.isClosed else { return .closed }
            if let reader = state.idle.popLast() {
                state.busy += 1
                return .idle(reader)
            }
            guard state.mayConnect(most: most) else {
                state.waiting.append(job, of: WriteTurn.current?.payer)
                return .none
            }
            state.busy += 1
            state.isConnecting = true
            return .room
        }
        switch found {
        case .idle(let reader): reader.thread.async { self.run(job, on: reader) }
        case .room: open(for: job, of: WriteTurn.current?.payer)
        case .none: break
        case .closed: job.fail(StorageError.closed)
        }
    }

    private func open(for job: any ReadJob, of payer: Payer) {
        let thread = DispatchQueue(label: "sealkit.storage.reader", qos: .userInitiated)
        thread.async {
            do {
                let connection = try self.connect()
                self.openForNext()
                self.run(job, on: Reader(thread: thread, connection: connection))
            } catch {
                self.giveUp(job, of: payer, after: error)
            }
        }
    }

    /// Once a reader is connected, another one is, where somebody waits.
    private func openForNext() {
        let next = state.withLock { state -> (payer: Payer, element: any ReadJob)? in
            state.isConnecting = false
            guard state.mayConnect(most: most), let next = state.waiting.next() else { return nil }
            state.busy += 1
            state.isConnecting = true
            return next
        }
        if let next { open(for: next.element, of: next.payer) }
    }

    private func giveUp(_ job: any ReadJob, of payer: Payer, after error: any Error) {
        // There may be no more connections: those that are there read it.
        let (idle, stranded) = state.withLock { state -> (Reader?, [any ReadJob]) in
            state.isConnecting = false
            if let reader = state.idle.popLast() { return (reader, []) }
            state.busy -= 1
            // Once closed, nobody takes any more.
            guard state.busy > 0, !state.isClosed else { return (nil, [job] + state.takeAllWaiting()) }
            state.waiting.append(job, of: payer)
            return (nil, [])
        }
        if let idle { idle.thread.async { self.run(job, on: idle) } }
        for job in stranded { job.fail(error) }
    }

    /// Runs one read, and those that wait after it.
    private func run(_ first: any ReadJob, on reader: Reader) {
        enum Next {
            case job(any ReadJob)
            case idle, closed
        }
        var job = first
        while true {
            let answer = job.run(on: reader.connection)
            // One look decides: a read that comes between two would find nobody idle, and wait for nobody. It comes
            // before the answer: whoever reads again at once finds this reader.
            let next = state.withLock { state -> Next in
                guard !state.isClosed else {
                    state.busy -= 1
                    return .closed
                }
                if let waiting = state.waiting.next() { return .job(waiting.element) }
                state.busy -= 1
                state.idle.append(reader)
                return .idle
            }
            answer()
            switch next {
            case .job(let waiting): job = waiting
            case .idle: return
            case .closed:
                try? reader.connection.close()
                return
            }
        }
    }
}

/// Connections that read, those of them that are at work, and what waits for one.
package struct ReadCounts: Sendable {
    package let open: Int
    package let busy: Int
    package let waiting: Int
}

/// A connection that reads, used on one thread.
protocol ReaderConnection: Sendable {
    /// One moment of the database.
    func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T
    func close() throws
}

/// A read and who waits for it: it is answered once.
private protocol ReadJob: Sendable {
    /// - Returns: what answers it.
    func run(on connection: any ReaderConnection) -> @Sendable () -> Void
    func fail(_ error: any Error)
}

private final class PendingRead<T: Sendable>: ReadJob {
    private let body: @Sendable (any SQLConnection) throws -> T
    private let continuation: CheckedContinuation<T, any Error>

    init(
        body: @escaping @Sendable (any SQLConnection) throws -> T, continuation: CheckedContinuation<T, any Error>
    ) {
        (self.body, self.continuation) = (body, continuation)
    }

    func run(on connection: any ReaderConnection) -> @Sendable () -> Void {
        let result = Result { try connection.read(body) }
        return { [continuation] in continuation.resume(with: result) }
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
