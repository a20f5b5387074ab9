/// Where the server keeps everything but blobs: a small face of SQLite and of PostgreSQL.
///
/// SQL is written once, in what both dialects share: parameters are numbered `$1`, `$2`, … (they may repeat and come in
/// any order), `ON CONFLICT`, `RETURNING`. No text has the character U+0000: PostgreSQL refuses it (`zeroCharacter`). A
/// statement that failed ends the transaction: no body catches its error and goes on.
package protocol SQLDatabase: Sendable {
    /// Reads from one consistent snapshot, beside other readers and the writer. `body` may be run again, in another
    /// one, where the connection to the database was lost.
    @discardableResult
    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T

    /// Runs `body` as one transaction and returns once it is durable.
    ///
    /// Writes that wait at the same time share one commit, each inside a savepoint of its own: one that throws takes
    /// only its own changes back. `body` runs on the writer's thread and must not block on anything but the database.
    /// It may be run again, in a transaction that knows nothing of the first time: where that was lost with another
    /// write's.
    ///
    /// It has its home to itself, and of those beside it nobody has one to itself meanwhile.
    ///
    /// Who writes is told by `WriteTurn.current`: payers take turns, and what goes on for longer than the budget is
    /// taken back whole (`overBudget`), also where `body` catches the error. Without a turn nothing is cut short.
    @discardableResult
    func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T

    /// Hears what transactions announce, once they are durable and before they are answered. It is called on a writer's
    /// thread, on several at once where several write: it must be quick. One listener; a later one takes its place.
    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void)

    /// Finishes what waits and closes the database. Later calls throw `closed`.
    func close() async throws
}

extension SQLDatabase {
    /// The same with nothing beside it.
    @discardableResult
    package func write<T: Sendable>(
        at home: Home, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await write(at: home, beside: [], body)
    }
}

/// A connection inside a transaction. It is valid inside the closure that received it and nowhere else.
package protocol SQLConnection {
    /// Runs one statement, hands over its rows until `eachRow` returns false, and returns how many rows it changed.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int

    /// Runs one statement for each set of values, in their order. To an engine that is another process they go
    /// together: many cost about what one does of ways there and back. Rows come with the place of their set, and may
    /// all be in memory by then: it is for statements that have one of each set, and not a long one.
    func runEach(_ sql: String, _ sets: [[SQLValue]], eachRow: (_ set: Int, any SQLRow) throws -> Void) throws

    /// Runs a `SELECT` of whose rows many may be left unread, where `eachRow` returns false: an engine that does not
    /// read them one by one takes no more of them than a portion.
    func stream(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws

    /// Runs several statements without parameters, separated by semicolons: for migrations.
    func runScript(_ sql: String) throws

    var dialect: SQLDialect { get }

    /// Adds many rows to a table, as `rows` hands them over, and keeps none of them in memory.
    /// - Parameter columns: in the order of each row's values.
    func load(_ table: String, _ columns: [String], rows: (_ add: ([SQLValue]) throws -> Void) throws -> Void) throws

    /// Tells the database's listener, if this transaction becomes durable. Without effect in a read.
    func announce(_ announcement: Announcement)

    /// Whether everybody else who writes waits for this transaction.
    var isWriter: Bool { get }

    /// For work that runs no statements for long, which look by themselves.
    /// - Throws: `overBudget`.
    func checkBudget() throws(StorageError)

    /// What tells this opening of the store from every other one, a copy's and a restored one's too; nil where each
    /// process that opens it is one. Of a writer.
    func storeOpening() throws -> String?

    /// The numbers of the server processes that serve the database now (`Peers.own`), where several may.
    func processes() throws -> Set<Int64>
}

/// Of `dropSome`.
package let droppedAtOnce: Int64 = 100

extension SQLConnection {
    package var isWriter: Bool { false }

    package func checkBudget() throws(StorageError) {}

    /// A file that was copied back with all that lies beside it says nothing of that: whoever opens it begins anew.
    package func storeOpening() throws -> String? { nil }

    /// One process has a file to itself.
    package func processes() throws -> Set<Int64> { [] }

    package func runEach(
        _ sql: String, _ sets: [[SQLValue]], eachRow: (_ set: Int, any SQLRow) throws -> Void
    ) throws {
        for (set, values) in sets.enumerated() {
            try run(sql, values) { row in
                try eachRow(set, row)
                return true
            }
        }
    }

    package func stream(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws {
        try run(sql, values, eachRow: eachRow)
    }

    package func load(
        _ table: String, _ columns: [String], rows: (_ add: ([SQLValue]) throws -> Void) throws -> Void
    ) throws {
        let places = (1...max(1, columns.count)).map { "$\($0)" }.joined(separator: ", ")
        let sql = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
        try rows { values in try execute(sql, values) }
    }

    /// Runs a statement for its effect; returns how many rows it changed.
    @discardableResult
    package func execute(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try run(sql, values) { _ in true }
    }

    /// Runs a statement for its effect, for each set of values.
    package func executeEach(_ sql: String, _ sets: [[SQLValue]]) throws { try runEach(sql, sets) { _, _ in } }

    /// All rows, decoded.
    package func rows<T>(_ sql: String, _ values: [SQLValue] = [], _ decode: (any SQLRow) throws -> T) throws -> [T] {
        var result: [T] = []
        try run(sql, values) { row in
            result.append(try decode(row))
            return true
        }
        return result
    }

    /// The first row, decoded; nil when there is none.
    package func first<T>(_ sql: String, _ values: [SQLValue] = [], _ decode: (any SQLRow) throws -> T) throws -> T? {
        var result: T?
        try run(sql, values) { row in
            result = try decode(row)
            return false
        }
        return result
    }

    /// Clears away what has expired, as far as the next one to come by need not wait for it: more than any request
    /// adds, and seldom all that has gathered.
    /// - Parameters:
    ///   - key: what a row of the table is told by.
    ///   - condition: with its values; nothing may go by whether such a row is still there.
    ///   - count: how many at once: fewer where rows are large.
    /// - Returns: how many there were.
    @discardableResult
    package func dropSome(
        of table: String, key: String, where condition: String, _ values: [SQLValue], count: Int64 = droppedAtOnce
    ) throws -> Int {
        try execute(
            """
            DELETE FROM \(table) WHERE (\(key)) IN
                (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT $\(values.count + 1)\(skippingHeld))
            """, values + [.integer(count)])
    }

    /// At the end of a query for what is to be deleted: what another home's write holds, it leaves out. So it waits for
    /// nobody, whatever it holds itself, and what somebody changes just then is not deleted.
    package var skippingHeld: String { dialect == .postgres ? " FOR UPDATE SKIP LOCKED" : "" }

    /// Holds rows until the transaction ends, in the order in which the query names them: whoever changes several by
    /// one statement, which another home's write may change too, holds them first, or the two could wait for each
    /// other.
    package func hold(_ select: String, _ values: [SQLValue] = []) throws {
        // SQLite has one writer, and no such words.
        guard dialect == .postgres else { return }
        try execute("\(select) FOR UPDATE", values)
    }

    /// Makes the commit of this transaction wait for what the commits of those wait for that write: for the disk, and
    /// the standby, and so for all that this one has seen. Else it would wait for nobody where it writes nothing, and
    /// who acknowledges what it has found, because it was done before, might acknowledge what a failover loses.
    package func ensureKept() throws {
        // SQLite shows nothing that is not on the disk, and has no standby.
        guard dialect == .postgres else { return }
        // A message to nobody. A number of its own does not do: the transaction has to have written to the log.
        _ = try exists("SELECT pg_logical_emit_message(true, 'sealkit', '')")
    }

    /// Whether the query has any row.
    package func exists(_ sql: String, _ values: [SQLValue] = []) throws -> Bool {
        try first(sql, values) { _ in true } ?? false
    }
}
