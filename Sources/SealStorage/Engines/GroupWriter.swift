import Dispatch
import Foundation
import Synchronization

/// Groups concurrent writes into one commit, so that they share one fsync.
///
/// Writes queue up while the one before them commits. The writer's own thread then opens one transaction, runs one
/// after the other in a savepoint, commits once and answers everybody. A write that throws takes back its savepoint and
/// gets its own error; if the commit fails, everybody in it gets that error and nothing was written. Where SQLite takes
/// back everything because one write was stopped, the others of its commit are run again, without it; and all of them
/// are where the engine lost the transaction before its commit.
///
/// Accounts take turns (`WriteTurn`). Each has one write in a commit before any has two, and whoever comes while
/// another one's are being run is next: beside its own write and its commit nobody waits for more than one write of
/// each other account.
final class GroupWriter<Engine: WriterEngine>: Sendable {
    private let engine: Engine
    private let budget: WriteBudget
    private let deadline: WriteDeadline
    /// Its own queue, so that waiting for a disk never holds a thread of Swift's cooperative pool.
    private let queue = DispatchQueue(label: "sealkit.storage.writer", qos: .userInitiated)
    private let state = Mutex(State())
    private let listener = Mutex<(@Sendable (Set<Announcement>) -> Void)?>(nil)
    /// Of the group that is being committed: used on the writer's thread only.
    private let announcements = PendingAnnouncements()

    /// Bounds how long the first write of a group waits for the last.
    private static var largestGroup: Int { 256 }
    /// Microseconds for which a group takes further writes in.
    private static var longestGroup: Int64 { 20_000 }
    /// The same for second writes, once several accounts are in it; or as long as a commit takes, where that is more:
    /// so the disk is waited for during half of the time at most, and nobody waits for more than twice a commit.
    private static var longestForSeconds: Int64 { 1_000 }
    /// Microseconds that the last commit took.
    private let lastCommit = Atomic<Int64>(0)
    /// One account fills that part of what may wait: others find room.
    private static var shareOfOne: Int { 4 }
    private let mostWaiting: Int

    /// Nil is the server itself.
    private typealias Payer = WriteTurn.Payer?

    private struct State {
        var waiting = TurnQueue<Payer, any WriteJob>()
        var isDraining = false
        var isClosed = false
    }

    /// The writes of one commit, as far as they have been begun.
    private struct Group {
        var jobs: [any WriteJob] = []
        var payers: Set<Payer> = []
        var began: Int64 = 0
    }

    init(engine: Engine, mostWaiting: Int, budget: WriteBudget) {
        self.engine = engine
        self.mostWaiting = mostWaiting
        self.budget = budget
        deadline = WriteDeadline(clock: budget.clock)
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let now = budget.metrics.isOn ? budget.clock() : 0
            enqueue(PendingWrite(body: body, turn: WriteTurn.current, enqueued: now, continuation: continuation))
        }
    }

    /// Runs one transaction on the calling thread: for start-up, before anybody else writes.
    func writeNow(_ body: (any SQLConnection) throws -> Void) throws {
        try engine.withConnection(announcing: nil, until: nil) { try $0.transaction { try body($0) } }
    }

    func outsideTransaction<T: Sendable>(_ body: @escaping @Sendable (Engine) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [engine] in continuation.resume(with: Result { try body(engine) }) }
        }
    }

    /// Refuses new writes, lets those that wait finish, then closes the engine on the writer's thread.
    func close() async throws {
        let wasOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard wasOpen else { return }
        try await withCheckedThrowingContinuation { continuation in
            // Behind the last drain: the queue is serial, and nobody can enqueue any more.
            queue.async {
                continuation.resume(with: Result { try self.engine.close() })
            }
        }
    }

    /// The same on the calling thread, where nobody has written yet.
    func closeNow() throws {
        state.withLock { $0.isClosed = true }
        try engine.close()
    }

    private func enqueue(_ job: any WriteJob) {
        let payer = job.turn?.payer
        let next = state.withLock { state -> AfterEnqueuing in
            guard !state.isClosed else { return .refuse(.closed) }
            guard state.waiting.count < mostWaiting,
                payer == nil || state.waiting.count(of: payer) < max(1, mostWaiting / Self.shareOfOne)
            else { return .refuse(.busy) }
            state.waiting.append(job, of: payer)
            guard !state.isDraining else { return .nothing }
            state.isDraining = true
            return .drain
        }
        switch next {
        case .nothing: break
        case .drain: queue.async { self.drain() }
        case .refuse(let reason):
            if reason == .busy { budget.metrics.count(.refusals, "writes-waiting") }
            job.answer(commitError: reason)
        }
    }

    private func drain() {
        while true {
            var group = Group()
            guard let first = next(for: &group) else { return }
            group.began = budget.clock()
            let commitError = commit(first, &group)
            let announced = announcements.takeAll()
            if commitError == nil, !announced.isEmpty, let listener = listener.withLock({ $0 }) { listener(announced) }
            for job in group.jobs { job.answer(commitError: commitError) }
        }
    }

    /// Takes the next write into the group; nil once it is to be committed. Where it is empty, and nothing waits,
    /// draining ends.
    private func next(for group: inout Group) -> (any WriteJob)? {
        let time = group.jobs.isEmpty ? 0 : budget.clock() - group.began
        guard group.jobs.count < Self.largestGroup, time < Self.longestGroup else { return nil }
        let longestForSeconds = max(Self.longestForSeconds, min(lastCommit.load(ordering: .relaxed), Self.longestGroup))
        let mayHaveTwo = group.payers.count < 2 || time < longestForSeconds
        let found = state.withLock { state in
            let found = state.waiting.next(passing: group.payers) ?? (mayHaveTwo ? state.waiting.next() : nil)
            if found == nil, group.jobs.isEmpty { state.isDraining = false }
            return found
        }
        guard let found else { return nil }
        group.payers.insert(found.payer)
        group.jobs.append(found.element)
        if budget.metrics.isOn {
            budget.metrics.time(.waitSeconds, microseconds: budget.clock() - found.element.enqueued)
        }
        return found.element
    }

    /// Runs a group, and again those of it whose work was lost with another one's; returns the error that took all of
    /// it back, if one did.
    private func commit(_ first: any WriteJob, _ group: inout Group) -> (any Error)? {
        do {
            try engine.withConnection(announcing: announcements, until: deadline) { connection in
                var first: (any WriteJob)? = first
                var anew = Anew()
                var lost = try transaction(in: connection, &anew) {
                    defer { first = nil }
                    return first ?? next(for: &group)
                }
                // Each time there are fewer, since those that were stopped are not among them, or less time.
                while !lost.isEmpty {
                    var again = lost[...]
                    let done = try transaction(in: connection, &anew) { again.popFirst() }
                    // Where one was stopped this time, those after it have not had their turn.
                    lost = done + again
                }
            }
            return nil
        } catch let error as StorageError {
            switch error {
            case .full, .closed, .unavailable, .unsuitable: return error
            default: return StorageError.commitFailed(message: "\(error)")
            }
        } catch {
            return StorageError.commitFailed(message: "\(type(of: error))")
        }
    }

    /// How often a group is begun anew: for less than a second.
    private struct Anew {
        /// Seconds.
        private var pauses: ArraySlice<Double> = [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32]

        mutating func next() -> Double? { pauses.popFirst() }
    }

    /// Runs writes in one transaction, each in a savepoint.
    /// - Returns: those that are to be run again: what was done and is lost, since SQLite took the transaction back
    ///   when it stopped the one after them, which knows why; or all of them, where the transaction may be begun anew.
    private func transaction(
        in connection: Engine.Connection, _ anew: inout Anew, _ next: () -> (any WriteJob)?
    ) throws -> [any WriteJob] {
        var done: [any WriteJob] = []
        do { try connection.begin() } catch {
            // The database is away: nothing is there to be taken back, and it was looked for just now.
            budget.metrics.count(.commits, connection.dialect.engine, "failed")
            throw error
        }
        do {
            while let job = next() {
                done.append(job)
                try connection.beginWrite(limit: job.turn == nil ? nil : budget.limit)
                let announced = announcements.count
                if let error = run(job, in: connection) {
                    done.removeLast()
                    // SQLite ends the whole transaction on some disk errors, and when it is stopped while it writes.
                    // Then the writes before this one are gone as well, and must not be acknowledged.
                    guard connection.isInTransaction else {
                        guard error as? StorageError == .overBudget else {
                            if connection.mayBeginAnew { done.append(job) }
                            throw error
                        }
                        announcements.rollBack(to: 0)
                        return done
                    }
                    try connection.takeBackWrite()
                    announcements.rollBack(to: announced)
                }
                try connection.endWrite()
            }
            let began = budget.clock()
            try connection.commit()
            let commit = budget.clock() - began
            lastCommit.store(commit, ordering: .relaxed)
            // Where all were taken back nothing was committed.
            if !done.isEmpty {
                budget.metrics.time(.commitSeconds, microseconds: commit)
                budget.metrics.record(.groupWrites, value: Double(done.count))
                budget.metrics.count(.commits, connection.dialect.engine, "done")
            }
            return []
        } catch {
            connection.rollBack()
            announcements.rollBack(to: 0)
            guard connection.mayBeginAnew, let pause = anew.next() else {
                budget.metrics.count(.commits, connection.dialect.engine, "failed")
                throw error
            }
            budget.metrics.count(.triesAgain, connection.dialect.engine)
            Thread.sleep(forTimeInterval: pause)
            return done
        }
    }

    /// Runs one write within its budget.
    /// - Returns: why nothing of it is to stay.
    private func run(_ job: any WriteJob, in connection: Engine.Connection) -> (any Error)? {
        let error = timed(job, in: connection)
        guard error == nil, let failure = connection.failure else { return error }
        // Its body went on after a statement that failed.
        job.fail(failure)
        return failure
    }

    private func timed(_ job: any WriteJob, in connection: Engine.Connection) -> (any Error)? {
        guard let turn = job.turn, budget.limit != nil || budget.times != nil else {
            guard budget.metrics.isOn else { return job.run(in: connection) }
            let start = budget.clock()
            defer { budget.metrics.time(.writeSeconds, microseconds: budget.clock() - start) }
            return job.run(in: connection)
        }
        let start = budget.clock()
        deadline.begin(budget.limit.map { start + $0 })
        var error = job.run(in: connection)
        let wasCutShort = deadline.finish()
        if wasCutShort {
            // Whatever the body made of it.
            job.fail(StorageError.overBudget)
            error = StorageError.overBudget
        }
        let time = budget.clock() - start
        budget.times?.note(turn, microseconds: time, wasCutShort: wasCutShort)
        budget.metrics.time(.writeSeconds, microseconds: time)
        if wasCutShort { budget.metrics.count(.refusals, "write-budget") }
        return error
    }
}

private enum AfterEnqueuing {
    case nothing, drain
    case refuse(StorageError)
}

/// A write that waits for its group. All calls come from the writer's thread, in this order.
private protocol WriteJob: Sendable {
    var turn: WriteTurn? { get }
    /// When it began to wait, where that is measured.
    var enqueued: Int64 { get }
    /// Runs the body and keeps its result; returns the error if it threw.
    func run(in connection: any SQLConnection) -> (any Error)?
    /// Puts an error in the place of what came of it.
    func fail(_ error: any Error)
    /// Answers the caller: with its own error, else with the commit's, else with its value.
    func answer(commitError: (any Error)?)
}

private final class PendingWrite<T: Sendable>: WriteJob {
    let turn: WriteTurn?
    let enqueued: Int64
    private let body: @Sendable (any SQLConnection) throws -> T
    private let continuation: CheckedContinuation<T, any Error>
    private let result = Mutex<Result<T, any Error>?>(nil)

    init(
        body: @escaping @Sendable (any SQLConnection) throws -> T, turn: WriteTurn?, enqueued: Int64,
        continuation: CheckedContinuation<T, any Error>
    ) {
        self.enqueued = enqueued
        self.body = body
        self.turn = turn
        self.continuation = continuation
    }

    func run(in connection: any SQLConnection) -> (any Error)? {
        let outcome = Result { try body(connection) }
        result.withLock { $0 = outcome }
        if case .failure(let error) = outcome { return error }
        return nil
    }

    func fail(_ error: any Error) { result.withLock { $0 = .failure(error) } }

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
