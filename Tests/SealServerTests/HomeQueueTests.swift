import Testing

@testable import SealStorage

/// Whose write is taken next, and at which home, where several are written at the same time.
@Suite(.timeLimit(.minutes(60))) struct HomeQueueTests {
    private final class Job: WriteJob {
        let turn: WriteTurn?
        var enqueued: Int64 { 0 }

        /// - Parameter account: nil for the server's own.
        init(of account: Int64?) {
            turn = account.map { WriteTurn(payer: .account($0), route: .init(method: "POST", path: "/")) }
        }

        func run(in connection: any SQLConnection) -> (any Error)? { nil }
        func fail(_ error: any Error) {}
        func forget() {}
        func answer(commitError: (any Error)?) {}
    }

    /// A queue, and what its writers have.
    private struct Desk {
        var queue: HomeQueue
        var batches: [Int: HomeQueue.Batch] = [:]
        private let writers: Int

        init(writers: Int) {
            self.writers = writers
            queue = HomeQueue(writers: 0..<writers, mostWaiting: 4_096)
        }

        /// - Returns: the job.
        @discardableResult
        mutating func add(_ account: Int64?, at zone: Int64, bills: [Int64]) throws -> Job {
            let job = Job(of: account)
            let waiting = HomeQueue.Waiting(job: job, beside: Set(bills.map { .bill($0) }))
            follow(try queue.enqueue(waiting, at: .zone(owner: 0, zone: zone), now: 0))
            return job
        }

        private mutating func follow(_ call: HomeQueue.Call?) {
            switch call {
            case .drain(let index): note(queue.arrive(index, now: 0), index)
            case .open(let index):
                queue.didOpen()
                note(queue.arrive(index, now: 0), index)
            case nil: break
            }
        }

        private mutating func note(_ next: HomeQueue.Next, _ index: Int) {
            batches[index] = next.batch
            follow(next.call)
        }

        /// A writer is done with what it has, and takes what comes next.
        mutating func finish(_ index: Int) {
            guard let batch = batches.removeValue(forKey: index) else { return }
            let next = queue.finish(batch, begun: batch.jobs.count, by: index, isConnected: true, now: 0)
            note(next, index)
        }

        /// The first of them is done.
        mutating func finishFirst(_ index: Int) {
            guard let batch = batches.removeValue(forKey: index) else { return }
            note(queue.finish(batch, begun: 1, by: index, isConnected: true, now: 0), index)
        }

        func isAtWork(_ job: Job) -> Bool {
            batches.values.contains { $0.jobs.contains { $0.job as? Job === job } }
        }

        /// How many writes two writers end until a job is at work, by turns, where two accounts always have something
        /// else to be written; 100 for never.
        mutating func turns(until job: Job) throws -> Int {
            var turns = 0
            while !isAtWork(job), turns < 100 {
                let account = Int64(turns % 2) + 1
                try add(account, at: account, bills: [account])
                finishFirst(turns % 2)
                turns += 1
            }
            return turns
        }
    }

    /// Two bills that are never free at the same time, where nobody waits for anybody.
    @Test func whoNeedsTwoBillsFindsThem() throws {
        // At a zone of its own, and at the one that is written all the time.
        for zone in [Int64(3), 1] {
            var desk = Desk(writers: 2)
            for account in Int64(1)...2 { for _ in 0..<2 { try desk.add(account, at: account, bills: [account]) } }
            let guest = try desk.add(3, at: zone, bills: [1, 2, 3])
            #expect(!desk.isAtWork(guest))
            let turns = try desk.turns(until: guest)
            #expect(turns <= 6, "zone \(zone)")
        }
    }

    /// Whoever comes after it and needs nothing of what it waits for is not held up.
    @Test func whatNeedsSomethingElseGoesOn() throws {
        var desk = Desk(writers: 3)
        try desk.add(1, at: 1, bills: [1])
        let guest = try desk.add(3, at: 3, bills: [1, 3])
        let other = try desk.add(2, at: 2, bills: [2])
        #expect(desk.isAtWork(other) && !desk.isAtWork(guest))
        // At the guest's home too, but not with its bill.
        let owner = try desk.add(4, at: 3, bills: [3])
        let visitor = try desk.add(5, at: 3, bills: [5])
        #expect(desk.isAtWork(visitor) && !desk.isAtWork(owner))
        desk.finish(2)
        #expect(!desk.isAtWork(owner))
        desk.finish(0)
        #expect(desk.isAtWork(guest))
        #expect(desk.queue.count == 0)
    }

    /// The server's own writes wait for what they need, and not for each other.
    @Test func theServersOwnWritesDoNotWaitForEachOther() throws {
        var desk = Desk(writers: 2)
        try desk.add(1, at: 1, bills: [1])
        let sweep = try desk.add(nil, at: 2, bills: [1, 2])
        let lookout = try desk.add(nil, at: 3, bills: [])
        #expect(desk.isAtWork(lookout) && !desk.isAtWork(sweep))
        desk.finish(1)
        desk.finish(0)
        #expect(desk.isAtWork(sweep))
        #expect(desk.queue.count == 0)
    }

    /// Of what an account has waiting in vain, the first piece alone is waited for.
    @Test func muchOfOneAccountIsWaitedForByOnePiece() throws {
        var desk = Desk(writers: 2)
        try desk.add(1, at: 1, bills: [1])
        for zone in Int64(10)..<20 { try desk.add(3, at: zone, bills: [1, zone]) }
        let first = try desk.add(10, at: 30, bills: [10])
        #expect(!desk.isAtWork(first))
        let second = try desk.add(11, at: 31, bills: [11])
        #expect(desk.isAtWork(second))
    }

    /// While others write at its home, which needs nothing that it waits for, nobody takes that elsewhere.
    @Test func whoWasPassedOverAtAHomeIsWaitedForMeanwhile() throws {
        var desk = Desk(writers: 2)
        for account in Int64(1)...2 { for _ in 0..<2 { try desk.add(account, at: account, bills: [account]) } }
        let guest = try desk.add(3, at: 1, bills: [2])
        let turns = try desk.turns(until: guest)
        #expect(turns <= 6)
    }
}
