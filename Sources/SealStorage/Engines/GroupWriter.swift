import Dispatch
import Foundation
import Synchronization

/// Groups concurrent writes into one commit, so that they share one fsync.
///
/// Writes queue up while the one before them commits. The writer's own thread then opens one transaction, runs one
/// after the other in a savepoint, commits once and answers everybody. A write that throws takes back its savepoint and
/// gets its own error; if the commit fails, everybody in it gets that error and nothing was written, whoever threw
/// after another one's write included: what it saw of that never came to be. Where SQLite takes back everything because
/// one write was stopped, the others of its commit are run again, without it; and all of them are where the engine lost
/// the transaction before its commit.
///
/// Accounts take turns (`WriteTurn`). Each has one write in a commit before any has two, and whoever comes while
/// another one's are being run is next: beside its own write and its commit nobody waits for more than one write of
/// each other account.
final class GroupWriter<Engine: WriterEngine>: Sendable {
    private let group: GroupRun<Engine>
    private let budget: WriteBudget
    /// Its own queue, so that waiting for a disk never holds a thread of Swift's cooperative pool.
    private let queue = DispatchQueue(label: "sealkit.storage.writer", qos: .userInitiated)
    private let state = Mutex(State())
    private let listener = AnnouncementListener()

    /// Bounds how long the first write of a group waits for the last.
    private static var largestGroup: Int { 256 }
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
        group = GroupRun(engine: engine, budget: budget)
        self.mostWaiting = mostWaiting
        self.budget = budget
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        self.listener.listen(listener)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let now = budget.metrics.isOn ? budget.clock() : 0
            enqueue(PendingWrite(body: body, turn: WriteTurn.current, enqueued: now, continuation: continuation))
        }
    }

    /// Runs one transaction on the calling thread: for start-up, before anybody else writes.
    func writeNow(_ body: (any SQLConnection) throws -> Void) throws {
        try group.runNow(body)
    }

    func outsideTransaction<T: Sendable>(_ body: @escaping @Sendable (Engine) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [group] in continuation.resume(with: Result { try body(group.engine) }) }
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
                continuation.resume(with: Result { try self.group.engine.close() })
            }
        }
    }

    /// The same on the calling thread, where nobody has written yet.
    func closeNow() throws {
        state.withLock { $0.isClosed = true }
        try group.engine.close()
    }

    private func enqueue(_ job: any WriteJob) {
        let payer = job.turn?.payer
        let next = state.withLock { state -> AfterEnqueuing in
            guard !state.isClosed else { return .refuse(.closed) }
            guard state.waiting.count < mostWaiting,
                payer == nil || state.waiting.count(of: payer) < WriteBudget.mostOfOne(of: mostWaiting)
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
            var taken = Group()
            guard let first = next(for: &taken) else { return }
            taken.began = budget.clock()
            var begun: (any WriteJob)? = first
            let end = group.run(at: Homes(.everything)) {
                defer { begun = nil }
                return begun ?? next(for: &taken)
            }
            listener.tell(end.announced)
            for job in taken.jobs { job.answer(commitError: end.error) }
        }
    }

    /// Takes the next write into the group; nil once it is to be committed. Where it is empty, and nothing waits,
    /// draining ends.
    private func next(for taken: inout Group) -> (any WriteJob)? {
        let time = taken.jobs.isEmpty ? 0 : budget.clock() - taken.began
        guard taken.jobs.count < Self.largestGroup, time < group.longest else { return nil }
        let mayHaveTwo = taken.payers.count < 2 || time < group.longestForSeconds
        let found = state.withLock { state in
            let found = state.waiting.next(passing: taken.payers) ?? (mayHaveTwo ? state.waiting.next() : nil)
            if found == nil, taken.jobs.isEmpty { state.isDraining = false }
            return found
        }
        guard let found else { return nil }
        taken.payers.insert(found.payer)
        taken.jobs.append(found.element)
        if budget.metrics.isOn {
            budget.metrics.time(.waitSeconds, microseconds: budget.clock() - found.element.enqueued)
        }
        return found.element
    }
}

private enum AfterEnqueuing {
    case nothing, drain
    case refuse(StorageError)
}
