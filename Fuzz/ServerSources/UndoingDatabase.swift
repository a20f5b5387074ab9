import SealStorage
import Synchronization

/// Does what it is told and takes it back.
final class UndoingDatabase: SQLDatabase {
    let isUndoing = Mutex(true)
    private let base: any SQLDatabase

    private struct Undo: Error {}

    private final class Kept<T: Sendable>: Sendable {
        let value = Mutex<T?>(nil)
    }

    init(base: any SQLDatabase) { self.base = base }

    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await base.read(body)
    }

    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        guard isUndoing.withLock({ $0 }) else { return try await base.write(at: home, beside: others, body) }
        let kept = Kept<T>()
        do {
            return try await base.write(at: home, beside: others) { connection in
                let value = try body(connection)
                kept.value.withLock { $0 = value }
                throw Undo()
            }
        } catch is Undo {
            guard let value = kept.value.withLock({ $0 }) else { throw StorageError.closed }
            return value
        }
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { base.listen(listener) }

    func close() async throws { try await base.close() }
}
