import Dispatch
import GRDB
import Synchronization

/// Groups concurrent writes into one commit, so that they share one fsync.
///
/// Writes queue up while the one before them commits. The writer's own thread then takes all that wait, opens one
/// transaction, runs each in a savepoint, commits once and answers everybody. A write that throws takes back its savepoint
/// and gets its own error; if the commit fails, everybody in it gets that error and nothing was written.
final class SQLiteGroupWriter: Sendable {
    private let pool: DatabasePool
    /// Its own queue, so that waiting for a disk never holds a thread of Swift's cooperative pool.
    private let queue = DispatchQueue(label: "sealkit.storage.writer", qos: .userInitiated)
    private let state = Mutex(State())
    private let listener = Mutex<(@Sendable (Set<Announcement>) -> Void)?>(nil)
    /// Of the group that is being committed: used on the writer's thread only.
    private let announcements = PendingAnnouncements()

    /// Bounds how long the first write of a group waits for the last.
    private static let largestGroup = 256
    /// Writes that may wait at once: less than a second's work. Behind more of them nobody would get an answer in time.
    static let defaultMostWaiting = 4096
    private let mostWaiting: Int

    private struct State {
        var waiting: [any WriteJob] = []
        var isDraining = false
        var isClosed = false
    }

    init(pool: DatabasePool, mostWaiting: Int = defaultMostWaiting) {
        self.pool = pool
        self.mostWaiting = mostWaiting
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(PendingWrite(body: body, continuation: continuation))
        }
    }

    /// Runs one transaction on the calling thread: for start-up, before anybody else writes.
    func writeNow(_ body: (any SQLConnection) throws -> Void) throws {
        try pool.writeWithoutTransaction { database in
            let connection = SQLiteConnection(database: database)
            try connection.execute("BEGIN IMMEDIATE")
            do {
                try body(connection)
                try connection.execute("COMMIT")
            } catch {
                if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
                throw error
            }
        }
    }

    func outsideTransaction<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [pool] in
                continuation.resume(with: Result { try pool.writeWithoutTransaction(body) })
            }
        }
    }

    /// Refuses new writes, lets those that wait finish, then runs `last` on the writer's thread.
    func close(_ last: @escaping @Sendable () throws -> Void) async throws {
        let wasOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard wasOpen else { return }
        try await withCheckedThrowingContinuation { continuation in
            // Behind the last drain: the queue is serial, and nobody can enqueue any more.
            queue.async { continuation.resume(with: Result { try last() }) }
        }
    }

    private func enqueue(_ job: any WriteJob) {
        enum Next { case nothing, drain, refuse(StorageError) }
        let next = state.withLock { state -> Next in
            guard !state.isClosed else { return .refuse(.closed) }
            guard state.waiting.count < mostWaiting else { return .refuse(.busy) }
            state.waiting.append(job)
            guard !state.isDraining else { return .nothing }
            state.isDraining = true
            return .drain
        }
        switch next {
        case .nothing: break
        case .drain: queue.async { self.drain() }
        case .refuse(let reason): job.answer(commitError: reason)
        }
    }

    private func drain() {
        while true {
            let group = state.withLock { state -> [any WriteJob] in
                guard !state.waiting.isEmpty else {
                    state.isDraining = false
                    return []
                }
                if state.waiting.count <= Self.largestGroup {
                    defer { state.waiting.removeAll(keepingCapacity: true) }
                    return state.waiting
                }
                defer { state.waiting.removeFirst(Self.largestGroup) }
                return Array(state.waiting.prefix(Self.largestGroup))
            }
            if group.isEmpty { return }
            let commitError = commit(group)
            let announced = announcements.takeAll()
            if commitError == nil, !announced.isEmpty, let listener = listener.withLock({ $0 }) { listener(announced) }
            for job in group { job.answer(commitError: commitError) }
        }
    }

    /// Runs a group in one transaction; returns the error that took all of it back, if one did.
    private func commit(_ group: [any WriteJob]) -> (any Error)? {
        do {
            try pool.writeWithoutTransaction { database in
                let connection = SQLiteConnection(database: database, announcements: announcements)
                try connection.execute("BEGIN IMMEDIATE")
                do {
                    for job in group {
                        try connection.execute("SAVEPOINT job")
                        let announced = announcements.count
                        if let error = job.run(in: connection) {
                            // SQLite ends the whole transaction on some disk errors. Then the writes before this one are
                            // gone as well, and must not be acknowledged.
                            guard connection.isInTransaction else { throw error }
                            try connection.execute("ROLLBACK TO job")
                            announcements.rollBack(to: announced)
                        }
                        try connection.execute("RELEASE job")
                    }
                    try connection.execute("COMMIT")
                } catch {
                    if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
                    throw error
                }
            }
            return nil
        } catch let error as StorageError {
            switch error {
            case .full, .closed: return error
            default: return StorageError.commitFailed(message: "\(error)")
            }
        } catch {
            return StorageError.commitFailed(message: "\(type(of: error))")
        }
    }
}

/// A write that waits for its group. Both calls come from the writer's thread, in this order.
private protocol WriteJob: Sendable {
    /// Runs the body and keeps its result; returns the error if it threw.
    func run(in connection: SQLiteConnection) -> (any Error)?
    /// Answers the caller: with its own error, else with the commit's, else with its value.
    func answer(commitError: (any Error)?)
}

private final class PendingWrite<T: Sendable>: WriteJob {
    private let body: @Sendable (any SQLConnection) throws -> T
    private let continuation: CheckedContinuation<T, any Error>
    private let result = Mutex<Result<T, any Error>?>(nil)

    init(body: @escaping @Sendable (any SQLConnection) throws -> T, continuation: CheckedContinuation<T, any Error>) {
        self.body = body
        self.continuation = continuation
    }

    func run(in connection: SQLiteConnection) -> (any Error)? {
        let outcome = Result { try body(connection) }
        result.withLock { $0 = outcome }
        if case .failure(let error) = outcome { return error }
        return nil
    }

    func answer(commitError: (any Error)?) {
        switch result.withLock({ $0 }) {
        case .failure(let error): continuation.resume(throwing: error)
        case .success(let value):
            if let commitError {
                continuation.resume(throwing: commitError)
            } else {
                continuation.resume(returning: value)
            }
        case nil: continuation.resume(throwing: commitError ?? StorageError.closed)
        }
    }
}
