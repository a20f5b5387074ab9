/// What waits to be written, home by home, and who writes what: the judgement of `HomeWriter`, under its lock.
///
/// What is looked at and cannot be taken yet, since a writer has one of the bills that it needs, keeps its place, and
/// nothing that comes after it takes another one of them meanwhile: else whoever needs several might never find them
/// all free at the same time.
struct HomeQueue {
    /// PostgreSQL becomes slow with more savepoints in a transaction.
    private static let largestGroup = 64

    /// Nil is the server itself.
    typealias Payer = WriteTurn.Payer?

    struct Waiting {
        let job: any WriteJob
        let beside: Set<Home>

        var payer: Payer { job.turn?.payer }
        var bills: Set<Home> { beside.filter { !$0.isShared } }
    }

    /// What is written at one home, in one transaction.
    struct Batch {
        let home: Home
        let jobs: [Waiting]

        var bills: Set<Home> {
            jobs.reduce(into: []) { bills, job in bills.formUnion(job.bills) }
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

    enum Call {
        case drain(Int)
        /// Connects first.
        case open(Int)
    }

    private var lanes: [Home: Lane] = [:]
    /// Those whose turn has to come, for each who waits there: else all who wait at a home would wait for what one
    /// of them has elsewhere.
    private var ready = TurnQueue<Payer, Home>()
    /// Homes at which something waits and nobody writes.
    private var due = 0
    /// Connected, and at rest. The one that wrote last is first again: its connection knows the most statements.
    private var idle: [Int] = []
    /// Not connected.
    private var unopened: [Int]
    /// What each writer has to itself beside a home.
    private var billsAtWork: [Int: Set<Home>] = [:]
    /// How many are called and have not taken anything yet: each is to find a home of its own.
    private var coming = 0
    /// How many are at work, or connect again after their connection was lost.
    private var busy = 0
    /// One at a time: two that come for a server's last connection can be refused both.
    private var isOpening = false
    /// Before which no further one is opened, where there are others.
    private var opensFrom = Int64.min
    private(set) var count = 0
    private var counts: [Payer: Int] = [:]
    private var isClosed = false
    private var closing: CheckedContinuation<Void, Never>?

    private let mostWaiting: Int

    init(writers: Range<Int>, mostWaiting: Int) {
        unopened = writers.reversed()
        self.mostWaiting = mostWaiting
    }

    /// How many are connected.
    var openCount: Int { idle.count + busy }

    /// Whether others than these wait at a home.
    func hasOthers(at home: Home, than payers: Set<Payer>) -> Bool {
        lanes[home]?.waiting.hasOthers(than: payers) ?? false
    }

    // MARK: What waits

    /// - Throws: `closed`, `busy`.
    /// - Returns: who is to be called for it, if anybody.
    mutating func enqueue(_ job: Waiting, at home: Home, now: Int64) throws(StorageError) -> Call? {
        guard !isClosed else { throw .closed }
        guard count < mostWaiting,
            job.payer == nil || counts[job.payer, default: 0] < WriteBudget.mostOfOne(of: mostWaiting)
        else { throw .busy }
        return append(job, at: home) ? call(now: now) : nil
    }

    /// - Returns: whether somebody may have to be called for it.
    private mutating func append(_ job: Waiting, at home: Home) -> Bool {
        add(job.payer)
        lanes[home, default: Lane()].waiting.append(job, of: job.payer)
        guard lanes[home]?.isTaken == false else { return false }
        list(home, of: job.payer)
        if lanes[home]?.waiting.count == 1 { due += 1 }
        return true
    }

    /// What is to be written at the home whose turn it is, by a writer; nil where nothing waits, or what waits
    /// would wait on, with a connection, for a bill that another writer has.
    private mutating func take(atMost most: Int, by index: Int? = nil) -> Batch? {
        guard var turn = nextTurn(without: index == nil ? [] : bills) else { return nil }
        let home = turn.home
        lanes[home]?.isTaken = true
        due -= 1
        var jobs: [Waiting] = []
        while jobs.count < most, let payer = nextPayer(at: home, &turn.passing),
            let job = lanes[home]?.waiting.next(of: payer)
        {
            jobs.append(job)
        }
        for job in jobs {
            subtract(job.payer)
            // What a payer had there went in another's turn.
            if lanes[home]?.waiting.count(of: job.payer) == 0 { unlist(home, of: job.payer) }
        }
        // Whoever comes after another one there who is waited for has their turn still.
        if !turn.passing.payers.contains(turn.payer) {
            unlist(home, of: turn.payer)
            ready.putLast(turn.payer)
        }
        let batch = Batch(home: home, jobs: jobs)
        if let index { billsAtWork[index] = batch.bills }
        return batch
    }

    /// Those that writers have.
    private var bills: Set<Home> { billsAtWork.values.reduce(into: Set<Home>()) { $0.formUnion($1) } }

    private struct Turn {
        let payer: Payer
        let home: Home
        var passing: Passing
    }

    /// Those who are passed over at a home, and what nobody may take who comes after them.
    private struct Passing {
        var held: Set<Home>
        var payers: Set<Payer> = []
    }

    /// Whose turn it is, and where: at the first home of theirs at which they can write.
    ///
    /// Of what a payer has waiting, the first that was passed over is waited for by all after it, its other homes
    /// included, also while somebody else writes at its home; a second one by nobody: whoever has much waiting delays
    /// others by one piece of it.
    /// - Parameter bills: that writers have.
    private func nextTurn(without bills: Set<Home>) -> Turn? {
        var held = bills
        // Nothing becomes free on the way.
        var blocked: Set<Home> = []
        for payer in ready.payers {
            var hasPassed = false
            for case let home? in ready.elements(of: payer) {
                guard let lane = lanes[home], let job = lane.waiting.first(of: payer) else { continue }
                if !lane.isTaken, !blocked.contains(home), job.beside.isDisjoint(with: held) {
                    var passing = Passing(held: held)
                    if nextPayer(at: home, &passing) != nil {
                        return Turn(payer: payer, home: home, passing: passing)
                    }
                    blocked.insert(home)
                }
                if !hasPassed { held.formUnion(job.bills) }
                hasPassed = true
            }
        }
        return nil
    }

    /// Whose job is the next one at a home.
    private func nextPayer(at home: Home, _ passing: inout Passing) -> Payer? {
        guard let waiting = lanes[home]?.waiting else { return nil }
        for payer in waiting.payers where !passing.payers.contains(payer) {
            guard let job = waiting.first(of: payer) else { continue }
            if job.beside.isDisjoint(with: passing.held) { return payer }
            passing.payers.insert(payer)
            passing.held.formUnion(job.bills)
        }
        return nil
    }

    /// - Parameter begun: how many of the batch are done; the others wait again.
    private mutating func giveBack(_ batch: Batch, begun: Int, by index: Int) {
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

    private mutating func unlist(_ home: Home, of payer: Payer) {
        guard lanes[home]?.listed.remove(payer) != nil else { return }
        ready.removeFirst(of: payer) { $0 == home }
    }

    /// Where nothing waits any more.
    private mutating func forget(_ home: Home) {
        guard let lane = lanes[home], !lane.isTaken, lane.waiting.count == 0, lane.listed.isEmpty else { return }
        lanes[home] = nil
    }

    /// All that waits for its turn, where nobody is there to write it.
    private mutating func takeAll() -> [Waiting] {
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

    // MARK: Writers

    /// Microseconds before another connection is tried for, after there was none to be had.
    private static let pause: Int64 = 5_000_000

    /// Who is to do what waits, if somebody has to be called for it.
    private mutating func call(now: Int64) -> Call? {
        let mayOpen = !isOpening && (busy == 0 || now >= opensFrom) && !unopened.isEmpty
        guard due > coming, !idle.isEmpty || mayOpen, nextTurn(without: bills) != nil else { return nil }
        if let index = idle.popLast() {
            busy += 1
            coming += 1
            return .drain(index)
        }
        guard let index = unopened.popLast() else { return nil }
        isOpening = true
        coming += 1
        return .open(index)
    }

    /// What is to be done after a writer's step, outside of the lock.
    struct Next {
        /// What the writer is to write; nil where it takes nothing.
        var batch: Batch?
        var call: Call?
        /// What nobody can write.
        var stranded: [Waiting] = []
        /// Whoever waited for all to be at rest.
        var closing: CheckedContinuation<Void, Never>?
    }

    /// A writer that was called to connect has done so.
    mutating func didOpen() {
        isOpening = false
        busy += 1
    }

    /// A writer that was called has come.
    mutating func arrive(_ index: Int, now: Int64) -> Next {
        coming -= 1
        return next(index, now: now)
    }

    /// What a writer has written is done with, but for those of it that were not begun.
    ///
    /// Without a connection it takes nothing, and is at work still.
    mutating func finish(_ batch: Batch, begun: Int, by index: Int, isConnected: Bool, now: Int64) -> Next {
        giveBack(batch, begun: begun, by: index)
        return isConnected ? next(index, now: now) : Next(call: call(now: now))
    }

    /// Where nothing waits for it, the writer is at rest.
    mutating func next(_ index: Int, now: Int64) -> Next {
        if let batch = take(atMost: Self.largestGroup, by: index) { return Next(batch: batch, call: call(now: now)) }
        busy -= 1
        idle.append(index)
        return Next(closing: takeClosing())
    }

    /// There is no connection for a writer: those that have one do what waits.
    mutating func giveUp(_ index: Int, wasOpening: Bool, now: Int64) -> Next {
        if wasOpening {
            isOpening = false
            coming -= 1
        } else {
            busy -= 1
        }
        // The first one is the first again: it is the one that has to be.
        unopened.append(index)
        unopened.sort(by: >)
        opensFrom = now + Self.pause
        var next = Next()
        if !idle.isEmpty {
            next.call = call(now: now)
        } else if busy == 0, !isOpening {
            next.stranded = takeAll()
        }
        next.closing = takeClosing()
        return next
    }

    // MARK: Closing

    /// Nothing more is taken.
    /// - Returns: whether something was until now.
    mutating func close() -> Bool {
        defer { isClosed = true }
        return !isClosed
    }

    /// - Returns: whoever waits, where all are at rest.
    mutating func wait(_ waiting: CheckedContinuation<Void, Never>) -> CheckedContinuation<Void, Never>? {
        closing = waiting
        return takeClosing()
    }

    private mutating func takeClosing() -> CheckedContinuation<Void, Never>? {
        guard busy == 0, !isOpening else { return nil }
        defer { closing = nil }
        return closing
    }
}
