/// Where the server keeps everything but blobs: a small face that SQLite implements today and PostgreSQL can implement
/// tomorrow.
///
/// SQL is written once, in what both dialects share: parameters are numbered `$1`, `$2`, … (they may repeat and come in any
/// order), `ON CONFLICT`, `RETURNING`.
protocol SQLDatabase: Sendable {
    /// Reads from one consistent snapshot, beside other readers and the writer.
    @discardableResult
    func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T

    /// Runs `body` as one transaction and returns once it is durable.
    ///
    /// Writes that wait at the same time share one commit, each inside a savepoint of its own: one that throws takes only
    /// its own changes back. `body` runs on the writer's thread and must not block on anything but the database.
    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T

    /// Hears what transactions announce, once they are durable and before they are answered. It is called on the writer's
    /// thread: it must be quick. One listener; a later one takes its place.
    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void)

    /// Finishes what waits, moves the journal into the database file and closes it. Later calls throw `closed`.
    func close() async throws
}

/// A connection inside a transaction. It is valid inside the closure that received it and nowhere else.
protocol SQLConnection {
    /// Runs one statement, hands over its rows until `eachRow` returns false, and returns how many rows it changed.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int

    /// Runs several statements without parameters, separated by semicolons: for migrations.
    func runScript(_ sql: String) throws

    /// Tells the database's listener, if this transaction becomes durable. Without effect in a read.
    func announce(_ announcement: Announcement)
}

extension SQLConnection {
    /// Runs a statement for its effect; returns how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try run(sql, values) { _ in true }
    }

    /// All rows, decoded.
    func rows<T>(_ sql: String, _ values: [SQLValue] = [], _ decode: (any SQLRow) throws -> T) throws -> [T] {
        var result: [T] = []
        try run(sql, values) { row in
            result.append(try decode(row))
            return true
        }
        return result
    }

    /// The first row, decoded; nil when there is none.
    func first<T>(_ sql: String, _ values: [SQLValue] = [], _ decode: (any SQLRow) throws -> T) throws -> T? {
        var result: T?
        try run(sql, values) { row in
            result = try decode(row)
            return false
        }
        return result
    }

    /// Whether the query has any row.
    func exists(_ sql: String, _ values: [SQLValue] = []) throws -> Bool {
        try first(sql, values) { _ in true } ?? false
    }
}
