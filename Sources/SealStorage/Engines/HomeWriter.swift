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
    private let mostWaiting: Int
    private let state: Mutex<State>
    private let listener = Mutex<(@Sendable (Set<Announcement>) -> Void)?>(nil)

    /// PostgreSQL becomes slow with more savepoints in a transaction.
    private static var largestGroup: Int { 64 }
    /// Microseconds after which a group begins no further write.
    private static var longestGroup: Int64 { 20_000 }
    /// The same for second writes of an account, once several are in it; or as long as a commit takes (`GroupWriter`).
    private static var longestForSeconds: Int64 { 1_000 }
    /// Microseconds before another connection is tried for, after there was none to be had.
    private static var pause: Int64 { 5_000_000 }
    /// One account fills that part of what may wait: others find room.
    private static var shareOfOne: Int { 4 }

    /// Nil is the server itself.
    private typealias Payer = WriteTurn.Payer?

    private struct Waiting {
        let job: any WriteJob
        let beside: Set<Home>

        var payer: Payer { job.turn?.payer }
    }

    /// What is written at one home, in one transaction.
    private struct Batch {
        let home: Home
        let jobs: [Waiting]

        var bills: Set<Home> {
            jobs.reduce(into: []) { bills, job in bills.formUnion(job.beside.filter { !$0.isShared }) }
        }
    }

    /// What waits at a home.
    private struct Lane {
        var waiting = TurnQueue<Payer, Waiting>()
        /// Whether something is being written there.
        var isTaken = false
        /// In whose line in `ready` the home stands.
        var listed: Set<Payer> = []
    }

    private struct State {
        var lanes: [Home: Lane] = [:]
        /// Those whose turn has to come, for each who waits there: else all who wait at a home would wait for what one
        /// of them has elsewhere.
        var ready = TurnQueue<Payer, Home>()
        /// Homes at which something waits and nobody writes.
        var due = 0
        /// Connected, and at rest. The one that wrote last is first again: its connection knows the most statements.
        var idle: [Int] = []
        /// Not connected.
        var unopened: [Int]
        /// What each writer has to itself beside a home.
        var billsAtWork: [Int: Set<Home>] = [:]
        /// How many are called and have not taken anything yet: each is to find a home of its own.
        var coming = 0
        /// How many are at work, or connect again after their connection was lost.
        var busy = 0
        /// One at a time: two that come for a server's last connection can be refused both.
        var isOpening = false
        /// Before which no further one is opened, where there are others.
        var opensFrom = Int64.min
        var count = 0
        var counts: [Payer: Int] = [:]
        var isClosed = false
        var closing: CheckedContinuation<Void, Never>?

        /// - Returns: whether somebody may have to be called for it.
        mutating func append(_ job: Waiting, at home: Home) -> Bool {
            add(job.payer)
            lanes[home, default: Lane()].waiting.append(job, of: job.payer)
            guard lanes[home]?.isTaken == false else { return false }
            list(home, of: job.payer)
            if lanes[home]?.waiting.count == 1 { due += 1 }
            return true
        }

        /// What is to be written at the home whose turn it is, by a writer; nil where nothing waits, or what waits
        /// would wait on, with a connection, for a bill that another writer has.
        mutating func take(atMost most: Int, by index: Int? = nil) -> Batch? {
            let held = index == nil ? [] : bills
            while let payer = ready.payer(where: { isStale($1, of: $0) || isFree($1, of: $0, held) }),
                let home = ready.next(of: payer)
            {
                lanes[home]?.listed.remove(payer)
                guard !isStale(home, of: payer) else {
                    forget(home)
                    continue
                }
                lanes[home]?.isTaken = true
                due -= 1
                var jobs: [Waiting] = []
                while jobs.count < most, let next = nextJob(at: home, held) { jobs.append(next) }
                for job in jobs { subtract(job.payer) }
                let batch = Batch(home: home, jobs: jobs)
                if let index { billsAtWork[index] = batch.bills }
                return batch
            }
            return nil
        }

        /// Those that writers have.
        private var bills: Set<Home> { billsAtWork.values.reduce(into: Set<Home>()) { $0.formUnion($1) } }

        /// What a payer had at a home went in another's turn, or goes with what is written there now.
        private func isStale(_ home: Home, of payer: Payer) -> Bool {
            guard let lane = lanes[home], !lane.isTaken else { return true }
            return lane.waiting.count(of: payer) == 0
        }

        private func isFree(_ home: Home, of payer: Payer, _ held: Set<Home>) -> Bool {
            lanes[home]?.waiting.first(of: payer)?.beside.isDisjoint(with: held) ?? false
        }

        private mutating func nextJob(at home: Home, _ held: Set<Home>) -> Waiting? {
            guard let payer = lanes[home]?.waiting.payer(where: { $1.beside.isDisjoint(with: held) }) else {
                return nil
            }
            return lanes[home]?.waiting.next(of: payer)
        }

        /// - Parameter begun: how many of the batch are done; the others wait again.
        mutating func giveBack(_ batch: Batch, begun: Int, by index: Int) {
            billsAtWork[index] = nil
            let home = batch.home
            let served = Set(batch.jobs[..<begun].map(\.payer))
            var payers: [Payer] = []
            var left: [Payer: [Waiting]] = [:]
            for job in batch.jobs[begun...] {
                if left[job.payer] == nil { payers.append(job.payer) }
                left[job.payer, default: []].append(job)
                add(job.payer)
            }
            // Whoever had no turn in this group has the first ones in the next, before all who came meanwhile.
            let (again, next) = (payers.filter(served.contains), payers.filter { !served.contains($0) })
            for payer in again + next.reversed() {
                for job in left[payer, default: []].reversed() {
                    lanes[home]?.waiting.putBack(job, of: payer, isNext: !served.contains(payer))
                }
            }
            lanes[home]?.isTaken = false
            let waiting = lanes[home]?.waiting.payers ?? []
            if !waiting.isEmpty { due += 1 }
            for payer in waiting { list(home, of: payer) }
            forget(home)
        }

        private mutating func list(_ home: Home, of payer: Payer) {
            guard lanes[home]?.listed.insert(payer).inserted == true else { return }
            ready.append(home, of: payer)
        }

        /// Where nothing waits any more.
        private mutating func forget(_ home: Home) {
            guard let lane = lanes[home], !lane.isTaken, lane.waiting.count == 0, lane.listed.isEmpty else { return }
            lanes[home] = nil
        }

        /// All that waits for its turn, where nobody is there to write it.
        mutating func takeAll() -> [Waiting] {
            var all: [Waiting] = []
            while let batch = take(atMost: .max) {
                all += batch.jobs
                lanes[batch.home] = nil
            }
            return all
        }

        private mutating func add(_ payer: Payer) {
            count += 1
            counts[payer, default: 0] += 1
        }

        private mutating func subtract(_ payer: Payer) {
            count -= 1
            counts[payer, default: 1] -= 1
            if counts[payer] == 0 { counts[payer] = nil }
        }

        /// Who is to do what waits, if somebody has to be called for it.
        mutating func call(now: Int64) -> Call? {
            let held = bills
            guard due > coming, ready.payer(where: { !isStale($1, of: $0) && isFree($1, of: $0, held) }) != nil else {
                return nil
            }
            if let index = idle.popLast() {
                busy += 1
                coming += 1
                return .drain(index)
            }
            guard !isOpening, busy == 0 || now >= opensFrom, let index = unopened.popLast() else { return nil }
            isOpening = true
            coming += 1
            return .open(index)
        }

        /// Whoever waits for all to be at rest.
        mutating func takeClosing() -> CheckedContinuation<Void, Never>? {
            guard busy == 0, !isOpening else { return nil }
            defer { closing = nil }
            return closing
        }
    }

    private enum Call {
        case drain(Int)
        /// Connects first.
        case open(Int)
    }

    /// - Parameter engines: as many as may write at the same time.
    init(engines: [Engine], mostWaiting: Int, budget: WriteBudget) {
        writers = engines.enumerated().map { index, engine in
            Writer(
                group: GroupRun(engine: engine, budget: budget),
                queue: DispatchQueue(label: "sealkit.storage.writer.\(index)", qos: .userInitiated))
        }
        state = Mutex(State(unopened: Array(engines.indices.reversed())))
        self.mostWaiting = mostWaiting
        self.budget = budget
    }

    var waitingCount: Int { state.withLock { $0.count } }

    /// How many are connected.
    var openCount: Int { state.withLock { $0.idle.count + $0.busy } }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let now = budget.metrics.isOn ? budget.clock() : 0
            let job = PendingWrite(body: body, turn: WriteTurn.current, enqueued: now, continuation: continuation)
            enqueue(Waiting(job: job, beside: others), at: home)
        }
    }

    /// Runs one transaction on the calling thread, by the first connection: for start-up, before anybody else writes.
    func writeNow(_ body: (any SQLConnection) throws -> Void) throws { try writers.first?.group.runNow(body) }

    /// Refuses new writes, lets those that wait finish, then closes the engines.
    func close() async throws {
        let wasOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard wasOpen else { return }
        await withCheckedContinuation { continuation in
            let atRest = state.withLock { state in
                state.closing = continuation
                return state.takeClosing()
            }
            atRest?.resume()
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
        state.withLock { $0.isClosed = true }
        for result in writers.map({ writer in Result { try writer.group.engine.close() } }) { try result.get() }
    }

    private func enqueue(_ job: Waiting, at home: Home) {
        let now = budget.clock()
        let (refusal, call) = state.withLock { state -> (StorageError?, Call?) in
            guard !state.isClosed else { return (.closed, nil) }
            guard state.count < mostWaiting,
                job.payer == nil || state.counts[job.payer, default: 0] < max(1, mostWaiting / Self.shareOfOne)
            else { return (.busy, nil) }
            return (nil, state.append(job, at: home) ? state.call(now: now) : nil)
        }
        follow(call)
        guard let refusal else { return }
        if refusal == .busy { budget.metrics.count(.refusals, "writes-waiting") }
        job.job.answer(commitError: refusal)
    }

    // MARK: Writers

    private func follow(_ call: Call?) {
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
        state.withLock { state in
            state.isOpening = false
            state.busy += 1
        }
        drain(index)
    }

    /// There is no connection for it: those that have one do what waits.
    private func giveUp(_ index: Int, after error: any Error, wasOpening: Bool) {
        let now = budget.clock()
        let (call, stranded, closing) = state.withLock { state in
            if wasOpening {
                state.isOpening = false
                state.coming -= 1
            } else {
                state.busy -= 1
            }
            // The first one is the first again: it is the one that has to be.
            state.unopened.append(index)
            state.unopened.sort(by: >)
            state.opensFrom = now + Self.pause
            var call: Call?
            var stranded: [Waiting] = []
            if !state.idle.isEmpty {
                call = state.call(now: now)
            } else if state.busy == 0, !state.isOpening {
                stranded = state.takeAll()
            }
            return (call, stranded, state.takeClosing())
        }
        follow(call)
        for job in stranded { job.job.answer(commitError: error) }
        closing?.resume()
    }

    /// Writes at one home after the other, until none waits.
    private func drain(_ index: Int) {
        let group = writers[index].group
        var batch = next(index, isCalled: true)
        while let taken = batch {
            let (count, error) = write(taken, by: group)
            let isConnected = group.engine.isConnected
            // Where there was no connection to begin with, others may have one.
            let begun = isConnected ? max(1, count) : count
            // Before the answers: whoever is answered and writes again finds this writer, and opens no other one.
            batch = next(index, after: taken, begun: begun, isConnected: isConnected)
            for job in taken.jobs[..<begun] { job.job.answer(commitError: error) }
            guard !isConnected else { continue }
            // At once, whether something waits or not: what the lost connection held others may wait for.
            do { try group.engine.connect() } catch {
                giveUp(index, after: error, wasOpening: false)
                return
            }
            batch = next(index)
        }
    }

    /// What is to be written next; where there is nothing, the writer is at rest.
    /// - Parameters:
    ///   - isConnected: where it is not, it takes nothing, and is at work still.
    ///   - isCalled: it has just come.
    private func next(
        _ index: Int, after done: Batch? = nil, begun: Int = 0, isConnected: Bool = true, isCalled: Bool = false
    ) -> Batch? {
        let now = budget.clock()
        let (batch, call, closing) = state.withLock {
            state -> (Batch?, Call?, CheckedContinuation<Void, Never>?) in
            if isCalled { state.coming -= 1 }
            if let done { state.giveBack(done, begun: begun, by: index) }
            guard isConnected else { return (nil, state.call(now: now), nil) }
            if let batch = state.take(atMost: Self.largestGroup, by: index) {
                return (batch, state.call(now: now), nil)
            }
            state.busy -= 1
            state.idle.append(index)
            return (nil, nil, state.takeClosing())
        }
        follow(call)
        closing?.resume()
        return batch
    }

    private func hasOthers(at home: Home, than payers: Set<Payer>) -> Bool {
        state.withLock { $0.lanes[home]?.waiting.hasOthers(than: payers) ?? false }
    }

    /// - Returns: how many of the batch were begun, and what took all of them back, if something did.
    private func write(_ batch: Batch, by group: GroupRun<Engine>) -> (begun: Int, error: (any Error)?) {
        let jobs = batch.jobs
        // All of its homes at once: nobody who has some of them waits for others.
        let homes = Homes(batch.home, beside: jobs.reduce(into: []) { $0.formUnion($1.beside) })
        let began = budget.clock()
        let longestForSeconds = max(Self.longestForSeconds, min(group.lastCommit, Self.longestGroup))
        var begun = 0
        var payers: Set<Payer> = []
        let end = group.run(at: homes) {
            guard begun < jobs.count else { return nil }
            let (job, payer) = (jobs[begun].job, jobs[begun].payer)
            if begun > 0 {
                let time = budget.clock() - began - group.waited
                guard time < Self.longestGroup else { return nil }
                if payers.contains(payer) {
                    guard payers.count < 2 || time < longestForSeconds, !hasOthers(at: batch.home, than: payers) else {
                        return nil
                    }
                }
            }
            payers.insert(payer)
            begun += 1
            if budget.metrics.isOn { budget.metrics.time(.waitSeconds, microseconds: budget.clock() - job.enqueued) }
            return job
        }
        if !end.announced.isEmpty, let listener = listener.withLock({ $0 }) { listener(end.announced) }
        return (begun, end.error)
    }
}
