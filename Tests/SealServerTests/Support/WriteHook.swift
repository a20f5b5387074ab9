import Synchronization

@testable import SealServer
@testable import SealStorage

/// Does something of its own before the next transaction that the server begins, durably: what others may do between a
/// request's checks and its transaction. It knows where each was at home.
final class WriteHook: Sendable {
    typealias Work = @Sendable (any SQLConnection) throws -> Void

    private let work = Mutex<Work?>(nil)
    private let homes = Mutex<[Home]>([])

    /// Of all writes since this was asked for the last time.
    func takeHomes() -> [Home] {
        homes.withLock { homes in
            defer { homes = [] }
            return homes
        }
    }

    fileprivate func note(_ home: Home) { homes.withLock { $0.append(home) } }

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
        hook.note(home)
        if let work = hook.take() { try await base.write(at: .everything, work) }
        return try await base.write(at: home, beside: others, body)
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { base.listen(listener) }

    func close() async throws { try await base.close() }
}
