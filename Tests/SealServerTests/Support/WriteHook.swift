import Synchronization

@testable import SealServer
@testable import SealStorage

/// Does something of its own before the next transaction that the server begins, durably: what others may do between a
/// request's checks and its transaction.
final class WriteHook: Sendable {
    typealias Work = @Sendable (any SQLConnection) throws -> Void

    private let state = Mutex<(work: Work?, isKept: Bool)>((nil, false))

    var isArmed: Bool { state.withLock { $0.work != nil } }

    /// Before the next write, whose ever it is.
    func arm(_ work: @escaping Work) { state.withLock { $0 = (work, false) } }

    /// Before every write until `disarm()`: the server writes beside requests as well.
    func keep(_ work: @escaping Work) { state.withLock { $0 = (work, true) } }

    func disarm() { state.withLock { $0 = (nil, false) } }

    /// What `RunningServer.with(hook:)` puts around the real one.
    var hooking: @Sendable (any SQLDatabase) -> any SQLDatabase {
        { [self] database in HookedDatabase(base: database, hook: self) }
    }

    fileprivate func take() -> Work? {
        state.withLock { state in
            defer { if !state.isKept { state.work = nil } }
            return state.work
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
        at home: Home, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        if let work = hook.take() { try await base.write(at: home, work) }
        return try await base.write(at: home, body)
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { base.listen(listener) }

    func close() async throws { try await base.close() }
}
