@testable import SealStorage

/// Runs the body of every write twice and takes the first run back: `SQLDatabase.write` may run one again, and no body
/// may have kept anything of the first time, in memory or elsewhere.
struct TwiceRunDatabase: SQLDatabase {
    let base: any SQLDatabase

    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await base.read(body)
    }

    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await base.write(at: home, beside: others) { connection in
            try connection.execute("SAVEPOINT twice")
            var failure: (any Error)?
            do { _ = try body(UnheardConnection(base: connection, home: home, others: others)) } catch {
                failure = error
            }
            do {
                try connection.execute("ROLLBACK TO twice")
                try connection.execute("RELEASE twice")
            } catch {
                // A full disk takes everything back by itself, and a budget that has passed lets nothing more be run.
                throw failure ?? error
            }
            return try body(connection)
        }
    }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { base.listen(listener) }

    func close() async throws { try await base.close() }
}

/// What is taken back is not announced. What it changes is looked at.
private struct UnheardConnection: SQLConnection {
    let base: any SQLConnection
    let home: Home
    let others: Set<Home>

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        HomeLint.check(sql, at: home, beside: others)
        return try base.run(sql, values, eachRow: eachRow)
    }

    func runScript(_ sql: String) throws { try base.runScript(sql) }
    func announce(_ announcement: Announcement) {}
    var dialect: SQLDialect { base.dialect }
    var isWriter: Bool { base.isWriter }
    func checkBudget() throws(StorageError) { try base.checkBudget() }
}
