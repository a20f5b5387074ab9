import GRDB
import Synchronization

/// Connections for reading: a read takes one for itself and runs where it was asked for. Handing it to another thread
/// and waiting for it costs several times what most reads do, which is to copy some pages that are in memory.
final class SQLiteReaders: Sendable {
    private struct Reader {
        let queue: DatabaseQueue
        let statements = SQLiteStatements()

        func close() throws {
            statements.removeAll()
            try queue.close()
        }
    }

    private struct State {
        var idle: [Reader] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let path: String
    private let configuration: Configuration
    /// How many are kept while nobody reads.
    private let capacity: Int

    /// - Parameter path: of a database that is there already and has a write-ahead log.
    init(path: String, configuration: Configuration, capacity: Int) {
        self.path = path
        self.configuration = configuration
        self.capacity = capacity
    }

    /// Runs `body` in one snapshot, which begins with its first statement.
    func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        let reader = try take()
        defer { giveBack(reader) }
        return try reader.queue.unsafeRead { database in
            let connection = SQLiteConnection(database: database, statements: reader.statements)
            try connection.execute("BEGIN")
            // It has written nothing: ending the snapshot is all that this does.
            defer { connection.rollBack() }
            return try body(connection)
        }
    }

    /// Refuses new reads; those under way close their connections when they are done.
    func close() throws {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { try reader.close() }
    }

    private func take() throws -> Reader {
        let found = try state.withLock { state throws(StorageError) -> Reader? in
            guard !state.isClosed else { throw .closed }
            return state.idle.popLast()
        }
        return try found ?? Reader(queue: DatabaseQueue(path: path, configuration: configuration))
    }

    private func giveBack(_ reader: Reader) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle.count < capacity else { return false }
            state.idle.append(reader)
            return true
        }
        if !isKept { try? reader.close() }
    }
}
