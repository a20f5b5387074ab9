import Foundation
import Synchronization

/// Runs the writes of one commit after the other, each in a savepoint, on a writer's connection. Used on its thread
/// only.
final class GroupRun<Engine: WriterEngine>: Sendable {
    let engine: Engine
    private let budget: WriteBudget
    private let deadline: WriteDeadline
    /// What the deadline had paused for when the group under way began.
    private let pausedBefore = Atomic<Int64>(0)
    /// Of the group that is being committed.
    private let announcements = PendingAnnouncements()
    private let commitTime = Atomic<Int64>(0)

    /// What became of a group.
    struct End {
        /// What took all of it back, if something did.
        let error: (any Error)?
        /// Once it is durable.
        let announced: Set<Announcement>
    }

    init(engine: Engine, budget: WriteBudget) {
        self.engine = engine
        self.budget = budget
        deadline = WriteDeadline(clock: budget.clock)
    }

    /// Microseconds after which a group begins no further write.
    let longest: Int64 = 20_000

    /// The same for second writes of an account, once several are in it; or as long as the last commit took, where that
    /// is more: so the disk is waited for during half of the time at most, and nobody waits for more than twice a
    /// commit.
    var longestForSeconds: Int64 { max(1_000, min(commitTime.load(ordering: .relaxed), longest)) }

    /// Microseconds that the group under way has waited for its homes.
    var waited: Int64 { deadline.paused - pausedBefore.load(ordering: .relaxed) }

    /// One transaction on the calling thread: for start-up, before anybody else writes.
    func runNow(_ body: (any SQLConnection) throws -> Void) throws {
        try engine.withConnection(announcing: nil, until: nil) { try $0.transaction { try body($0) } }
    }

    /// - Parameters:
    ///   - homes: of all writes of the group.
    ///   - next: the group's next write.
    func run(at homes: Homes, _ next: () -> (any WriteJob)?) -> End {
        pausedBefore.store(deadline.paused, ordering: .relaxed)
        let error = commit(at: homes, next)
        let announced = announcements.takeAll()
        return End(error: error, announced: error == nil ? announced : [])
    }

    /// Runs a group, and again those of it whose work was lost with another one's; returns the error that took all of
    /// it back, if one did.
    private func commit(at homes: Homes, _ next: () -> (any WriteJob)?) -> (any Error)? {
        do {
            try engine.withConnection(announcing: announcements, until: deadline) { connection in
                var anew = Anew()
                var lost = try transaction(in: connection, at: homes, &anew, next)
                // Each time there are fewer, since those that were stopped are not among them, or less time.
                while !lost.isEmpty {
                    var again = lost[...]
                    let some = try transaction(in: connection, at: homes, &anew) { again.popFirst() }
                    // Where one was stopped this time, those after it have not had their turn.
                    lost = some + again
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
    /// - Returns: those that are to be run again: what hung on the transaction and is lost, since SQLite took that back
    ///   when it stopped the one after them, which knows why; or all of them, where the transaction may be begun anew.
    private func transaction(
        in connection: Engine.Connection, at homes: Homes, _ anew: inout Anew, _ next: () -> (any WriteJob)?
    ) throws -> [any WriteJob] {
        // Whose outcome hangs on the commit: what was done, and what found a reason to fail after that. The reason may
        // be another one's change, which nobody else will ever have seen where the commit fails.
        var hanging: [any WriteJob] = []
        var done = 0
        do { try connection.begin(at: homes) } catch {
            // The database is away: nothing is there to be taken back, and it was looked for just now.
            budget.metrics.count(.commits, connection.dialect.engine, "failed")
            throw error
        }
        do {
            while let job = next() {
                hanging.append(job)
                try connection.beginWrite(limit: job.turn == nil ? nil : budget.limit)
                let announced = announcements.count
                if let error = run(job, in: connection) {
                    // SQLite ends the whole transaction on some disk errors, and when it is stopped while it writes.
                    // Then the writes before this one are gone as well, and must not be acknowledged.
                    guard connection.isInTransaction else {
                        guard error as? StorageError == .overBudget else {
                            if !connection.mayBeginAnew { hanging.removeLast() }
                            throw connection.failure ?? error
                        }
                        hanging.removeLast()
                        announcements.rollBack(to: 0)
                        for job in hanging { job.forget() }
                        return hanging
                    }
                    // How long it took is its own.
                    if done == 0 || error as? StorageError == .overBudget { hanging.removeLast() }
                    try connection.takeBackWrite()
                    announcements.rollBack(to: announced)
                } else {
                    done += 1
                }
                try connection.endWrite()
            }
            let began = budget.clock()
            try connection.commit()
            let commit = budget.clock() - began
            commitTime.store(commit, ordering: .relaxed)
            // Where all were taken back nothing was committed.
            if done > 0 {
                budget.metrics.time(.commitSeconds, microseconds: commit)
                budget.metrics.record(.groupWrites, value: Double(done))
                budget.metrics.count(.commits, connection.dialect.engine, "done")
            }
            return []
        } catch {
            connection.rollBack()
            announcements.rollBack(to: 0)
            for job in hanging { job.forget() }
            guard connection.mayBeginAnew, let pause = anew.next() else {
                budget.metrics.count(.commits, connection.dialect.engine, "failed")
                throw error
            }
            budget.metrics.count(.triesAgain, connection.dialect.engine)
            Thread.sleep(forTimeInterval: pause)
            return hanging
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
            let (start, paused) = (budget.clock(), deadline.paused)
            defer {
                let time = budget.clock() - start - (deadline.paused - paused)
                budget.metrics.time(.writeSeconds, microseconds: time)
            }
            return job.run(in: connection)
        }
        let (start, paused) = (budget.clock(), deadline.paused)
        deadline.begin(budget.limit.map { start + $0 })
        var error = job.run(in: connection)
        // What took the whole transaction with it is no matter of time, however long that took to be noticed.
        let isLost = if case .unavailable = connection.failure { true } else { false }
        let wasCutShort = deadline.finish() && !isLost
        if wasCutShort {
            // Whatever the body made of it.
            job.fail(StorageError.overBudget)
            error = StorageError.overBudget
        }
        // Who waits for others' homes holds nobody up by that.
        let time = budget.clock() - start - (deadline.paused - paused)
        budget.times?.note(turn, microseconds: time, wasCutShort: wasCutShort)
        budget.metrics.time(.writeSeconds, microseconds: time)
        if wasCutShort { budget.metrics.count(.refusals, "write-budget") }
        return error
    }
}
