import Synchronization

/// One run of a job. Its steps are transactions, and each makes sure that the job is this server's still.
package final class JobTurn: Sendable {
    /// When the run began, in microseconds since 1970.
    package let now: Int64
    private let database: any SQLDatabase
    private let lease: JobLease
    private let clock: @Sendable () -> Int64
    /// When the lease was last made sure of.
    private let held = Atomic<Int64>(.min)
    private let taken = Atomic(0)

    package init(database: any SQLDatabase, lease: JobLease, now: Int64, clock: @escaping @Sendable () -> Int64) {
        (self.database, self.lease, self.now, self.clock) = (database, lease, now, clock)
    }

    /// What is the job's own while it takes a step: where one is at home that changes nothing of others'.
    package var home: Home { .job(lease.job.rawValue) }

    /// How many steps it took.
    package var steps: Int { taken.load(ordering: .relaxed) }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await database.read(body)
    }

    /// What there is to be done next; nil for nothing.
    package func next<C: Collection & Sendable>(
        _ find: @escaping @Sendable (any SQLConnection) throws -> C
    ) async throws -> C? {
        let found = try await read(find)
        return found.isEmpty ? nil : found
    }

    /// One transaction. None is begun any more once the server stops.
    ///
    /// Throws `JobLease.HeldElsewhere` and `CancellationError`.
    /// - Parameter place: where it is at home. One that has everything to itself waits for every write under way, and
    ///   whoever comes meanwhile waits for it.
    /// - Parameter others: what it has beside that and the job's lease.
    @discardableResult
    package func step<T: Sendable>(
        at place: Home, beside others: Set<Home> = [], _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        return try await note(at: place, beside: others, body)
    }

    /// Takes steps for as long as each says that there is more to do.
    package func steps(
        at place: Home, _ body: @escaping @Sendable (any SQLConnection) throws -> Bool
    ) async throws {
        while try await step(at: place, body) {}
    }

    /// The same as one step, also while the server stops: notes what was done outside of the database, which would be
    /// done again else.
    @discardableResult
    package func note<T: Sendable>(
        at place: Home, beside others: Set<Home> = [], _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        let (lease, now) = (lease, clock())
        // No other server has the lease in hand meanwhile.
        let result = try await database.write(at: place, beside: others.union([home]).subtracting([place])) {
            connection in
            try lease.hold(now: now, in: connection)
            return try body(connection)
        }
        held.store(now, ordering: .relaxed)
        taken.add(1, ordering: .relaxed)
        return result
    }

    /// Makes sure of the job before something is done outside of the database: with a transaction only where the last
    /// one was a while ago.
    package func keep() async throws {
        try Task.checkCancellation()
        let (now, held) = (clock(), held.load(ordering: .relaxed))
        guard held > now || now - JobLease.renewal >= held else { return }
        try await step(at: home) { _ in }
    }
}
