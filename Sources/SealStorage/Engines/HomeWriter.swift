import Dispatch
import Synchronization

/// Lets several write at the same time, each at its home: writes of one home come one after the other, and those that
/// wait together share one commit, as in `GroupWriter`.
///
/// Waiting costs no connection: a home gets one when its turn comes. There are as many as are needed, up to the number
/// of engines; where the database has no further one, work goes on with those that there are.
///
/// Accounts take turns (`WriteTurn`): a home's turn comes with that of any account that waits there, and at a home they
/// go as with one writer. But a group's writes are chosen before it begins, by which it has all of its homes at once:
/// who comes meanwhile is in the next one, and no account has a second write before that.
final class HomeWriter<Engine: PooledEngine>: Sendable {
    /// A writer's connection, with a thread of its own.
    private struct Writer: Sendable {
        let group: GroupRun<Engine>
        let queue: DispatchQueue
    }

    private let writers: [Writer]
    private let budget: WriteBudget
    private let state: Mutex<HomeQueue>
    private let listener = AnnouncementListener()

    /// - Parameter engines: as many as may write at the same time.
    init(engines: [Engine], mostWaiting: Int, budget: WriteBudget) {
        writers = engines.enumerated().map { index, engine in
            Writer(
                group: GroupRun(engine: engine, budget: budget),
                queue: DispatchQueue(label: "sealkit.storage.writer.\(index)", qos: .userInitiated))
        }
        state = Mutex(HomeQueue(writers: engines.indices, mostWaiting: mostWaiting))
        self.budget = budget
    }

    var waitingCount: Int { state.withLock { $0.count } }

    /// How many are connected.
    var openCount: Int { state.withLock { $0.openCount } }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        self.listener.listen(listener)
    }

    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let now = budget.metrics.isOn ? budget.clock() : 0
            let job = PendingWrite(body: body, turn: WriteTurn.current, enqueued: now, continuation: continuation)
            enqueue(.init(job: job, beside: others), at: home)
        }
    }

    /// Runs one transaction on the calling thread, by the first connection: for start-up, before anybody else writes.
    func writeNow(_ body: (any SQLConnection) throws -> Void) throws { try writers.first?.group.runNow(body) }

    /// Refuses new writes, lets those that wait finish, then closes the engines.
    func close() async throws {
        guard state.withLock({ $0.close() }) else { return }
        await withCheckedContinuation { continuation in
            state.withLock { $0.wait(continuation) }?.resume()
        }
        var closed: [Result<Void, any Error>] = []
        for writer in writers {
            closed.append(
                await withCheckedContinuation { continuation in
                    writer.queue.async { continuation.resume(returning: Result { try writer.group.engine.close() }) }
                })
        }
        for result in closed { try result.get() }
    }

    /// The same on the calling thread, where nobody has written yet.
    func closeNow() throws {
        _ = state.withLock { $0.close() }
        for result in writers.map({ writer in Result { try writer.group.engine.close() } }) { try result.get() }
    }

    private func enqueue(_ job: HomeQueue.Waiting, at home: Home) {
        let now = budget.clock()
        do throws(StorageError) {
            follow(try state.withLock { (queue) throws(StorageError) in try queue.enqueue(job, at: home, now: now) })
        } catch {
            if error == .busy { budget.metrics.count(.refusals, "writes-waiting") }
            job.job.answer(commitError: error)
        }
    }

    // MARK: Writers

    private func follow(_ call: HomeQueue.Call?) {
        switch call {
        case .drain(let index): writers[index].queue.async { self.drain(index) }
        case .open(let index): writers[index].queue.async { self.open(index) }
        case nil: break
        }
    }

    private func open(_ index: Int) {
        do { try writers[index].group.engine.connect() } catch {
            giveUp(index, after: error, wasOpening: true)
            return
        }
        state.withLock { $0.didOpen() }
        drain(index)
    }

    private func giveUp(_ index: Int, after error: any Error, wasOpening: Bool) {
        let stranded = step { $0.giveUp(index, wasOpening: wasOpening, now: $1) }.stranded
        for job in stranded { job.job.answer(commitError: error) }
    }

    /// Writes at one home after the other, until none waits.
    private func drain(_ index: Int) {
        let group = writers[index].group
        var batch = step { $0.arrive(index, now: $1) }.batch
        while let taken = batch {
            let (count, error) = write(taken, by: group)
            let isConnected = group.engine.isConnected
            // Where there was no connection to begin with, others may have one.
            let begun = isConnected ? max(1, count) : count
            // Before the answers: whoever is answered and writes again finds this writer, and opens no other one.
            batch = step { $0.finish(taken, begun: begun, by: index, isConnected: isConnected, now: $1) }.batch
            for job in taken.jobs[..<begun] { job.job.answer(commitError: error) }
            guard !isConnected else { continue }
            // At once, whether something waits or not: what the lost connection held others may wait for.
            do { try group.engine.connect() } catch {
                giveUp(index, after: error, wasOpening: false)
                return
            }
            batch = step { $0.next(index, now: $1) }.batch
        }
    }

    private func step(_ change: (inout HomeQueue, _ now: Int64) -> HomeQueue.Next) -> HomeQueue.Next {
        let now = budget.clock()
        let next = state.withLock { change(&$0, now) }
        follow(next.call)
        next.closing?.resume()
        return next
    }

    /// - Returns: how many of the batch were begun, and what took all of them back, if something did.
    private func write(_ batch: HomeQueue.Batch, by group: GroupRun<Engine>) -> (begun: Int, error: (any Error)?) {
        let jobs = batch.jobs
        // All of its homes at once: nobody who has some of them waits for others.
        let homes = Homes(batch.home, beside: jobs.reduce(into: []) { $0.formUnion($1.beside) })
        let began = budget.clock()
        let longestForSeconds = group.longestForSeconds
        var begun = 0
        var payers: Set<HomeQueue.Payer> = []
        let end = group.run(at: homes) {
            guard begun < jobs.count else { return nil }
            let (job, payer) = (jobs[begun].job, jobs[begun].payer)
            if begun > 0 {
                let time = budget.clock() - began - group.waited
                guard time < group.longest else { return nil }
                if payers.contains(payer) {
                    guard payers.count < 2 || time < longestForSeconds,
                        !state.withLock({ $0.hasOthers(at: batch.home, than: payers) })
                    else { return nil }
                }
            }
            payers.insert(payer)
            begun += 1
            if budget.metrics.isOn { budget.metrics.time(.waitSeconds, microseconds: budget.clock() - job.enqueued) }
            return job
        }
        listener.tell(end.announced)
        return (begun, end.error)
    }
}
