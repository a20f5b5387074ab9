import Synchronization

@testable import SealServer
@testable import SealStorage

/// Does something of its own before the next transaction that the server begins, durably: what others may do between a
/// request's checks and its transaction. It knows where each was at home.
final class WriteHook: Sendable {
    typealias Work = @Sendable (any SQLConnection) throws -> Void

    private let work = Mutex<Work?>(nil)
    private let homes = Mutex<[(home: Home, job: String?)]>([])

    /// Of all writes since this was asked for the last time; those of jobs are not.
    func takeHomes() -> [Home] { take { $0 == nil } }

    /// The same of a job's.
    func takeHomes(of job: Job.Name) -> [Home] { take { $0 == job.rawValue } }

    private func take(_ isWanted: (String?) -> Bool) -> [Home] {
        homes.withLock { homes in
            defer { homes.removeAll { isWanted($0.job) } }
            return homes.filter { isWanted($0.job) }.map(\.home)
        }
    }

    fileprivate func note(_ home: Home, beside others: Set<Home>) {
        let jobs = ([home] + others).compactMap { if case .job(let name) = $0 { name } else { nil } }
        homes.withLock { $0.append((home, jobs.first)) }
    }

    var isArmed: Bool { work.withLock { $0 != nil } }

    func arm(_ work: @escaping Work) { self.work.withLock { $0 = work } }

    /// What `RunningServer.with(hook:)` puts around the real one.
    var hooking: @Sendable (any SQLDatabase) -> any SQLDatabase {
        { [self] database in HookedDatabase(base: database, hook: self) }
    }

    fileprivate func take() -> Work? {
        work.withLock { work in
            defer { work = nil }
            return work
        }
    }
}

private struct HookedDatabase: SQLDatabase {
    let base: any SQLDatabase
    let hook: WriteHook

    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await base.read(body)
    }

    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        hook.note(home, beside: others)
        if let work = hook.take() { try await base.write(at: .everything, work) }
        return try await base.write(at: home, beside: others, body)
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { base.listen(listener) }

    func close() async throws { try await base.close() }
}
