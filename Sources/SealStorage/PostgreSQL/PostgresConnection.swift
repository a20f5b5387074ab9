import CPQ

/// A connection to PostgreSQL, used by one thread at a time. It is opened when it is first needed, and again after it
/// was lost.
///
/// What begins and ends transactions and savepoints is not sent by itself, but with the statement that follows.
final class PostgresConnection: SQLConnection {
    private let session: PostgresSession
    private let announcements: PendingAnnouncements?
    private let deadline: WriteDeadline?

    /// - Parameter deadline: of the writer alone.
    init(_ session: PostgresSession, announcements: PendingAnnouncements? = nil, deadline: WriteDeadline? = nil) {
        self.session = session
        self.announcements = announcements
        self.deadline = deadline
    }

    var dialect: SQLDialect { .postgres }
    var isWriter: Bool { deadline != nil }

    func checkBudget() throws(StorageError) {
        guard deadline?.hasPassed != true else { throw .overBudget }
    }

    func announce(_ announcement: Announcement) { announcements?.add(announcement) }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
        return try session.run(sql, values, eachRow: eachRow)
    }

    func stream(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws {
        guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
        // The server's limit is of each portion alone.
        try session.stream(sql, values) { row in
            guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
            return try eachRow(row)
        }
    }

    /// Another system, or another history of it, after a failover or a restore to a point in time; another start of the
    /// server, after which a copy of its files may be in their place; or tables that were made anew from a dump.
    func storeOpening() throws -> String? {
        try first(
            """
            SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
                left(pg_walfile_name(pg_current_wal_lsn()), 8), CAST(extract(epoch FROM pg_postmaster_start_time()) AS TEXT),
                (SELECT oid FROM pg_database WHERE datname = current_database()),
                CAST(to_regclass('settings') AS oid)) AS opening
            """
        ) { try $0.text("opening") }
    }

    func load(
        _ table: String, _ columns: [String], rows: (_ add: ([SQLValue]) throws -> Void) throws -> Void
    ) throws {
        try session.load(table, columns, rows: rows)
    }

    func runScript(_ sql: String) throws { try session.runScript(PostgresDialect.translate(sql)) }
}

extension PostgresConnection: WriterConnection {
    /// Of advisory locks that a transaction holds to its end: the first number says that they are such ones, the second
    /// is the home. There is one home so far.
    private static let everything = "SELECT pg_advisory_xact_lock(1396788556, 0)"

    static let beginning = "BEGIN ISOLATION LEVEL READ COMMITTED; \(everything)"

    func begin() throws {
        try session.connectAgain()
        session.begin(Self.beginning)
    }

    func beginWrite(limit: Int64?) throws { session.beginWrite(limit: limit) }

    func takeBackWrite() throws { session.takeBackWrite() }
    func endWrite() throws { session.defer("RELEASE job") }
    func commit() throws { try session.commit() }
    func rollBack() { session.rollBack() }

    var isInTransaction: Bool { session.isInTransaction }
    var failure: StorageError? { session.failure }
    var mayBeginAnew: Bool { session.mayBeginAnew }
}
