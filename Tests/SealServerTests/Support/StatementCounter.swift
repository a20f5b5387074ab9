import Synchronization

@testable import SealServer
@testable import SealStorage

/// Counts every statement that reaches a database, and the rows that they read and change, and notes the longest text
/// and bytes that came with one.
final class StatementCounter: Sendable {
    private struct Seen {
        var statements = 0
        var rows = 0
        var rowsInWrites = 0
        var changed = 0
        var longestText = 0
        var longestBytes = 0
    }
    private let seen = Mutex(Seen())
    fileprivate let note: (@Sendable (_ sql: String, _ values: [SQLValue]) -> Void)?

    /// - Parameter note: gets each statement with its values.
    init(noting note: (@Sendable (_ sql: String, _ values: [SQLValue]) -> Void)? = nil) { self.note = note }

    var count: Int { seen.withLock { $0.statements } }
    /// Rows that were handed over.
    var rows: Int { seen.withLock { $0.rows } }
    /// Of these, those for which everybody else's writes waited.
    var rowsInWrites: Int { seen.withLock { $0.rowsInWrites } }
    /// Rows that were written.
    var changed: Int { seen.withLock { $0.changed } }
    var longestText: Int { seen.withLock { $0.longestText } }
    var longestBytes: Int { seen.withLock { $0.longestBytes } }

    /// What `RunningServer.with(counter:)` puts around the real one.
    var counting: @Sendable (any SQLDatabase) -> any SQLDatabase {
        { [self] database in CountingDatabase(base: database, counter: self) }
    }

    fileprivate func add(rows: Int, changed: Int, inWrite: Bool) {
        seen.withLock { seen in
            seen.rows += rows
            if inWrite { seen.rowsInWrites += rows }
            seen.changed += changed
        }
    }

    fileprivate func add(_ values: [SQLValue] = []) {
        seen.withLock { seen in
            seen.statements += 1
            for value in values {
                switch value {
                case .text(let text): seen.longestText = max(seen.longestText, text.utf8.count)
                case .blob(let bytes): seen.longestBytes = max(seen.longestBytes, bytes.count)
                case .data(let bytes): seen.longestBytes = max(seen.longestBytes, bytes.count)
                case .null, .integer, .real: break
                }
            }
        }
    }
}

private struct CountingDatabase: SQLDatabase {
    let base: any SQLDatabase
    let counter: StatementCounter

    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await base.read { [counter] in try body(CountingConnection(base: $0, counter: counter)) }
    }

    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await base.write(at: home, beside: others) { [counter] in
            try body(CountingConnection(base: $0, counter: counter))
        }
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { base.listen(listener) }

    func close() async throws { try await base.close() }
}

private struct CountingConnection: SQLConnection {
    let base: any SQLConnection
    let counter: StatementCounter

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        counter.add(values)
        counter.note?(sql, values)
        var rows = 0
        let changed = try base.run(sql, values) { row in
            rows += 1
            return try eachRow(row)
        }
        let isWrite = ["INSERT", "UPDATE", "DELETE"].contains(String(sql.drop(while: \.isWhitespace).prefix(6)))
        counter.add(rows: rows, changed: isWrite ? changed : 0, inWrite: base.isWriter)
        return changed
    }

    func runScript(_ sql: String) throws {
        counter.add()
        try base.runScript(sql)
    }

    func announce(_ announcement: Announcement) { base.announce(announcement) }

    var dialect: SQLDialect { base.dialect }
    var isWriter: Bool { base.isWriter }

    func checkBudget() throws(StorageError) { try base.checkBudget() }
}
