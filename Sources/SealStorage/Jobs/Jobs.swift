import Logging
import ServiceLifecycle
import Synchronization

/// The server's jobs: they begin when it listens, each on a task of its own so that none waits for another, and end
/// before its database is closed.
package final class Jobs: Service {
    private let runners: [Job.Name: JobRunner]
    private let around: JobRunner.Surroundings
    private let running = Mutex(0)
    private let starts: AsyncStream<Void>
    private let start: AsyncStream<Void>.Continuation

    /// How long a stopping server waits for steps under way.
    private static let patience: Duration = .seconds(5)

    package init(_ jobs: [Job], _ around: JobRunner.Surroundings) {
        runners = Dictionary(jobs.map { ($0.name, JobRunner($0, around)) }) { first, _ in first }
        self.around = around
        (starts, start) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Once the server listens: some of them need its address.
    package func begin() { start.yield() }

    /// There may be something for this job to do.
    package func wake(_ name: Job.Name) { runners[name]?.wake() }

    /// There may be something for any of them to do.
    package func wakeAll() { for runner in runners.values { runner.wake() } }

    /// Runs a job now, due or not, and waits for it.
    ///
    /// Throws what the job throws.
    /// - Parameter now: another time than the clock's, which the run goes by.
    package func run(_ name: Job.Name, now: Int64? = nil) async throws {
        guard let runner = runners[name] else { return }
        try await runner.once(now: now)
        wakeFollowers(of: runner.job)
    }

    /// Whose last run here failed.
    package var failing: [Job.Name] { runners.filter { $0.value.hasFailed }.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Whether all have looked, and none has anything to do.
    var areIdle: Bool { runners.values.allSatisfy(\.isIdle) }

    private func wakeFollowers(of job: Job) {
        for name in job.leavesWork { wake(name) }
    }

    /// Runs them all until the server stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown { [starts] in
            for await _ in starts { break }
        }
        guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
        running.withLock { $0 = runners.count }
        // Tasks of their own: one that hangs must not hold a server that stops.
        let tasks = runners.values.map { runner in
            Task.detached { [self] in
                await runner.run { self.wakeFollowers(of: runner.job) }
                running.withLock { $0 -= 1 }
            }
        }
        // Also where it was cancelled.
        try? await gracefulShutdown()
        for task in tasks { task.cancel() }
        let end = ContinuousClock.now + Self.patience
        while running.withLock({ $0 }) > 0 {
            guard ContinuousClock.now < end else {
                around.logger.warning("a job has not ended; the server stops without waiting for it")
                break
            }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
        }
    }

    /// Gives back what this server holds, so that another one need not wait for it.
    package func release() async {
        let holder = around.holder
        do {
            try await around.database.write(at: .everything) { try JobLease.release(holder, in: $0) }
        } catch {
            // They end by themselves.
            around.logger.debug("the jobs could not be given back", metadata: ["error": "\(error)"])
        }
    }
}
