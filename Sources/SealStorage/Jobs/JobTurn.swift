import Synchronization

/// One run of a job. Its steps are transactions, and each makes sure that the job is this server's still.
package final class JobTurn: Sendable {
    /// When the run began, in microseconds since 1970.
    package let now: Int64
    private let database: any SQLDatabase
    private let lease: JobLease
    private let clock: @Sendable () -> Int64
    /// Between two looks at the lease while something takes long.
    private let pulse: Duration
    /// Until when the job is this server's, as far as it has made sure; 0 before the first step.
    private let until = Atomic<Int64>(0)
    /// When something was noted last.
    private let noted = Atomic<Int64>(0)
    private let taken = Atomic(0)

    package init(
        database: any SQLDatabase, lease: JobLease, now: Int64, pulse: Duration = .seconds(1),
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.database, self.lease, self.now, self.pulse, self.clock) = (database, lease, now, pulse, clock)
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
        let result = try await note(at: place, beside: others, leaving: JobLease.leastLeft, body)
        noted.store(clock(), ordering: .relaxed)
        return result
    }

    private func note<T: Sendable>(
        at place: Home, beside others: Set<Home>, leaving least: Int64,
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        let (lease, now) = (lease, clock())
        // No other server has the lease in hand meanwhile.
        let (result, end) = try await database.write(at: place, beside: others.union([home]).subtracting([place])) {
            connection in
            let end = try lease.hold(now: now, leaving: least, in: connection)
            return (try body(connection), end)
        }
        until.store(end, ordering: .relaxed)
        taken.add(1, ordering: .relaxed)
        return result
    }

    // MARK: Outside of the database

    /// Whether so little of the lease is left that what is done outside of the database might outlast it.
    private var isToBeKept: Bool {
        let left = until.load(ordering: .relaxed) - clock()
        // More than all of it: the clock was set back.
        return left < JobLease.leastOutside || left > JobLease.length
    }

    /// Makes sure of the job before something is done outside of the database: with a transaction only where the last
    /// one was a while ago.
    package func keep() async throws {
        try Task.checkCancellation()
        if isToBeKept { try await note(at: home, beside: [], leaving: JobLease.leastOutside) { _ in } }
    }

    /// The same, where the transaction notes what was done so far, every few seconds at least: so whoever has the job
    /// next does not do it again. A server that stops notes it too, and goes no further.
    /// - Returns: whether it was noted.
    package func keep(noting body: @escaping @Sendable (any SQLConnection) throws -> Void) async throws -> Bool {
        let now = clock()
        let isToBeNoted = abs(now - noted.load(ordering: .relaxed)) >= Self.notingInterval
        guard isToBeNoted || isToBeKept || Task.isCancelled else { return false }
        try await note(at: home, beside: [], leaving: JobLease.leastOutside, body)
        noted.store(now, ordering: .relaxed)
        try Task.checkCancellation()
        return true
    }

    private static let notingInterval: Int64 = 5_000_000

    /// Keeps the job, once it is this server's, while something takes long that takes no steps.
    package func keeping<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        let keeper = Task { [self] in
            while !Task.isCancelled {
                do { try await Task.sleep(for: pulse) } catch { return }
                guard until.load(ordering: .relaxed) > 0 else { continue }
                // Whoever has lost it hears of that in the next step.
                try? await keep()
            }
        }
        let result: Result<T, any Error>
        do {
            let value = try await withTaskCancellationHandler {
                try await body()
            } onCancel: {
                keeper.cancel()
            }
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        keeper.cancel()
        // What this server gives back when it stops is not taken again after that.
        await keeper.value
        return try result.get()
    }
}
