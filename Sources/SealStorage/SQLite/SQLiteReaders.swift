import Dispatch
import GRDB
import Synchronization

/// Connections for reading, each with a thread of its own: a read that takes long never holds a thread of Swift's
/// cooperative pool, which has as many as the machine has cores, and on which everything else runs.
///
/// Where all are at work reads wait, and whoever asked for them take turns.
final class SQLiteReaders: Sendable {
    private struct Reader {
        /// Serial queues have threads of their own for as long as they have something to do.
        let thread: DispatchQueue
        let database: DatabaseQueue
        let statements = SQLiteStatements()

        func close() throws {
            statements.removeAll()
            try database.close()
        }
    }

    /// Nil is the server itself.
    private typealias Payer = WriteTurn.Payer?

    private struct State {
        var idle: [Reader] = []
        var busy = 0
        var waiting = TurnQueue<Payer, any ReadJob>()
        var isClosed = false
    }

    private let state = Mutex(State())
    private let path: String
    private let configuration: Configuration
    /// How many read at once.
    private let most: Int

    /// - Parameter path: of a database that is there already and has a write-ahead log.
    init(path: String, configuration: Configuration, most: Int) {
        self.path = path
        self.configuration = configuration
        self.most = most
    }

    /// Runs `body` in one snapshot, which begins with its first statement.
    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let job = PendingRead(body: body, continuation: continuation)
            do {
                guard let reader = try self.reader(for: job) else { return }
                reader.thread.async { self.run(job, on: reader) }
            } catch {
                job.fail(error)
            }
        }
    }

    var counts: (busy: Int, waiting: Int) { state.withLock { ($0.busy, $0.waiting.count) } }

    /// Refuses new reads, and those that wait; those under way close their connections when they are done.
    func close() throws {
        let (idle, waiting) = state.withLock { state in
            state.isClosed = true
            var waiting: [any ReadJob] = []
            while let next = state.waiting.next() { waiting.append(next.element) }
            defer { state.idle = [] }
            return (state.idle, waiting)
        }
        for job in waiting { job.fail(StorageError.closed) }
        for reader in idle { try reader.close() }
    }

    /// - Returns: nil where the job has to wait.
    private func reader(for job: any ReadJob) throws -> Reader? {
        enum Found {
            case idle(Reader)
            case room, none
        }
        let found = try state.withLock { state throws(StorageError) -> Found in
            guard !state.isClosed else { throw .closed }
            if let reader = state.idle.popLast() {
                state.busy += 1
                return .idle(reader)
            }
            guard state.busy < most else {
                state.waiting.append(job, of: WriteTurn.current?.payer)
                return .none
            }
            state.busy += 1
            return .room
        }
        switch found {
        case .idle(let reader): return reader
        case .none: return nil
        case .room:
            do {
                return Reader(
                    thread: DispatchQueue(label: "sealkit.storage.reader", qos: .userInitiated),
                    database: try DatabaseQueue(path: path, configuration: configuration))
            } catch {
                state.withLock { $0.busy -= 1 }
                throw error
            }
        }
    }

    /// Runs one read, and those that wait after it.
    private func run(_ first: any ReadJob, on reader: Reader) {
        enum Next {
            case job(any ReadJob)
            case idle, closed
        }
        var job = first
        while true {
            job.run(on: reader.database, reader.statements)
            // One look decides: a read that comes between two would find nobody idle, and wait for nobody.
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
            switch next {
            case .job(let waiting): job = waiting
            case .idle: return
            case .closed:
                try? reader.close()
                return
            }
        }
    }
}

/// A read and who waits for it: it is answered once.
private protocol ReadJob: Sendable {
    func run(on database: DatabaseQueue, _ statements: SQLiteStatements)
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

    func run(on database: DatabaseQueue, _ statements: SQLiteStatements) {
        continuation.resume(
            with: Result {
                try database.unsafeRead { database in
                    let connection = SQLiteConnection(database: database, statements: statements)
                    try connection.execute("BEGIN")
                    // It has written nothing: ending the snapshot is all that this does.
                    defer { connection.rollBack() }
                    return try body(connection)
                }
            })
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
