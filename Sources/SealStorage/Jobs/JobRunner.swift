package import Logging
import Synchronization

/// Runs one job, time and again, and never twice at the same time.
package final class JobRunner: Sendable {
    /// What all jobs have in common.
    package struct Surroundings: Sendable {
        package let database: any SQLDatabase
        /// Of `JobLease`.
        package let holder: [UInt8]
        /// Between two looks whether there is something to do, where nobody says so.
        package let look: Duration
        /// After a failure nothing is tried for as long as between two looks, whoever asks for it; after each further
        /// one for twice as long as before, and at most for so long.
        package let patience: Duration
        package let clock: @Sendable () -> Int64
        package let metrics: ServerMetrics
        package let logger: Logger

        package init(
            database: any SQLDatabase,
            holder: [UInt8],
            look: Duration,
            patience: Duration,
            clock: @escaping @Sendable () -> Int64,
            metrics: ServerMetrics,
            logger: Logger
        ) {
            self.database = database
            self.holder = holder
            self.look = look
            self.patience = patience
            self.clock = clock
            self.metrics = metrics
            self.logger = logger
        }
    }

    /// How a run ended.
    private enum Outcome: String, CaseIterable {
        case done, failed, stopped
        /// Another server has the job.
        case elsewhere
    }

    private struct State {
        /// Since the last look.
        var isWoken = true
        var isBusy = false
        /// The last time that it ran, or looked whether it is due, by what is about the job itself. For all that is
        /// known it is due still.
        var hasFailed = false
    }

    let job: Job
    private let around: Surroundings
    private let lease: JobLease
    private let slot = AsyncSlots(count: 1)
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// Between two looks of every other server, by the design of several.
    package static let look: Duration = .seconds(5)
    package static let patience: Duration = .seconds(60)
    private static let shortestPause: Duration = .milliseconds(10)

    package init(_ job: Job, _ around: Surroundings) {
        (self.job, self.around) = (job, around)
        lease = JobLease(job: job.name, holder: around.holder)
        // From the start on: of a counter that appears with its first failure nobody sees that it has grown.
        for outcome in Outcome.allCases { around.metrics.count(.jobRuns, job.name.rawValue, outcome.rawValue, by: 0) }
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether it has looked, and waits to be woken or for its time.
    package var isIdle: Bool { state.withLock { !$0.isWoken && !$0.isBusy } }

    package var hasFailed: Bool { state.withLock(\.hasFailed) }

    /// There may be something to do.
    package func wake() {
        state.withLock { $0.isWoken = true }
        signal.yield()
    }

    /// Runs the job whenever it is due, until cancelled.
    /// - Parameter whenDone: called after each run that was done.
    package func run(whenDone: @Sendable () -> Void) async {
        signal.yield()
        var timer: Task<Void, Never>?
        var (notBefore, failures) = (ContinuousClock.now, 0)
        for await _ in signals {
            timer?.cancel()
            state.withLock { ($0.isWoken, $0.isBusy) = (false, true) }
            defer { state.withLock { $0.isBusy = false } }
            var pause = notBefore - ContinuousClock.now
            if pause <= .zero {
                do {
                    pause = try await runIfDue(whenDone)
                    failures = 0
                } catch is JobLease.HeldElsewhere {
                    // No failure: another server has just begun it.
                    pause = around.look
                } catch StorageError.unavailable {
                    // It was nothing about the job: once the database is back, whoever waits for it waits no longer.
                    pause = around.look
                } catch {
                    // It has been said. A run that is due stays so. Most of what fails is over soon, as where another
                    // server of the database has taken over.
                    pause = min(around.look * (1 << min(failures, 20)), around.patience)
                    failures += 1
                    notBefore = ContinuousClock.now + pause
                }
            }
            timer = Task { [signal] in
                do { try await Task.sleep(for: max(pause, Self.shortestPause)) } catch { return }
                signal.yield()
            }
        }
        timer?.cancel()
    }

    /// - Returns: how long until the next look.
    private func runIfDue(_ whenDone: @Sendable () -> Void) async throws -> Duration {
        if let wait = try await untilDue() {
            // Whatever failed here, somebody has done it, or it is gone.
            state.withLock { $0.hasFailed = false }
            return wait
        }
        let next = try await once()
        whenDone()
        guard let next else { return pause }
        return min(.microseconds(next - around.clock()), pause)
    }

    /// Where nothing else is known: of a schedule its interval.
    private var pause: Duration {
        switch job.schedule {
        case .every(let interval): interval
        case .whenThereIs: around.look
        }
    }

    /// Nil where the job is due now.
    func untilDue() async throws -> Duration? {
        let lease = lease
        do {
            switch job.schedule {
            case .every(let interval):
                let finished = try await around.database.read { try lease.finished(in: $0) }
                // Also by another server, or before this one was started.
                if finished > 0 {
                    around.metrics.record(.jobLastDone, job.name.rawValue, value: Double(finished / 1_000_000))
                }
                let left = finished + interval.microseconds - around.clock()
                // It was done later than now: a clock was set back, which must not put it off.
                return left <= 0 || left > interval.microseconds ? nil : .microseconds(left)
            case .whenThereIs(let isThere):
                let (now, stay) = (around.clock(), job.stay.microseconds)
                let isDue = try await around.database.read { connection in
                    // Its server is told of what there is, or looks by itself.
                    try isThere(connection) && !lease.isHeldElsewhere(now: now, staying: stay, in: connection)
                }
                return isDue ? nil : around.look
            }
        } catch {
            say(error, after: 0)
            throw error
        }
    }

    /// Runs it now, due or not, once the run under way is over.
    ///
    /// Throws what the job throws.
    /// - Parameter now: another time than the clock's, which the run goes by.
    /// - Returns: when the next one is due, where the job knows.
    @discardableResult
    package func once(now: Int64? = nil) async throws -> Int64? {
        try await slot.run {
            let (name, metrics) = (job.name.rawValue, around.metrics)
            let turn = JobTurn(database: around.database, lease: lease, now: now ?? around.clock(), clock: around.clock)
            let start = ContinuousClock.now
            metrics.record(.jobsRunning, name, value: 1)
            defer {
                metrics.record(.jobsRunning, name, value: 0)
                metrics.time(.jobSeconds, name, microseconds: (ContinuousClock.now - start).microseconds)
            }
            do {
                let next = try await job.work(turn)
                if case .every = job.schedule {
                    let lease = lease
                    try await turn.note(at: turn.home) { try lease.finish(now: turn.now, in: $0) }
                }
                state.withLock { $0.hasFailed = false }
                metrics.count(.jobRuns, name, Outcome.done.rawValue)
                metrics.record(.jobLastDone, name, value: Double(around.clock() / 1_000_000))
                around.logger.log(
                    level: job.name.isNotable ? .info : .debug, "a job is done",
                    metadata: [
                        "job": "\(name)", "steps": .stringConvertible(turn.steps),
                        "milliseconds": .stringConvertible(Int((ContinuousClock.now - start).microseconds / 1000)),
                    ])
                return next
            } catch {
                say(error, after: turn.steps)
                throw error
            }
        }
    }

    /// - Parameter steps: that it took before.
    private func say(_ error: any Error, after steps: Int) {
        let metadata: Logger.Metadata = ["job": "\(job.name.rawValue)", "steps": .stringConvertible(steps)]
        switch error {
        case StorageError.closed, is CancellationError:
            // The server stops; the next start goes on.
            around.metrics.count(.jobRuns, job.name.rawValue, Outcome.stopped.rawValue)
            around.logger.debug("a job was stopped", metadata: metadata)
        case is JobLease.HeldElsewhere:
            // It is another server's matter now.
            state.withLock { $0.hasFailed = false }
            around.metrics.count(.jobRuns, job.name.rawValue, Outcome.elsewhere.rawValue)
            around.logger.debug("another server runs a job", metadata: metadata)
        default:
            // A database that is away says nothing about the job.
            let isAway = if case StorageError.unavailable = error { true } else { false }
            if !isAway { state.withLock { $0.hasFailed = true } }
            around.metrics.count(.jobRuns, job.name.rawValue, Outcome.failed.rawValue)
            around.logger.warning(
                "a job failed; it is tried again", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        }
    }
}
