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

    /// The transaction's first statement: it waits until nobody else has what is this one's.
    private func waitForHomes() throws {
        guard let deadline, !session.isBegun else { return }
        try deadline.pause { try session.start() }
    }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        try waitForHomes()
        guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
        return try session.run(sql, values, eachRow: eachRow)
    }

    /// In one flight.
    private static let setsAtOnce = 128

    func runEach(_ sql: String, _ sets: [[SQLValue]], eachRow: (_ set: Int, any SQLRow) throws -> Void) throws {
        try waitForHomes()
        for first in stride(from: 0, to: sets.count, by: Self.setsAtOnce) {
            guard deadline?.hasPassedBeforeStatement != true else { throw StorageError.overBudget }
            let end = min(first + Self.setsAtOnce, sets.count)
            try session.runEach(sql, sets[first..<end], eachRow: eachRow)
        }
    }

    func stream(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws {
        try waitForHomes()
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
            SELECT concat_ws('/', \(PostgresServer.started), (SELECT oid FROM pg_database WHERE datname = current_database()),
                CAST(to_regclass('settings') AS oid)) AS opening
            """
        ) { try $0.text("opening") }
    }

    func processes() throws -> Set<Int64> { try PostgresServer.processes(session) }

    func load(
        _ table: String, _ columns: [String], rows: (_ add: ([SQLValue]) throws -> Void) throws -> Void
    ) throws {
        try session.load(table, columns, rows: rows)
    }

    func runScript(_ sql: String) throws { try session.runScript(PostgresDialect.translate(sql)) }
}

extension PostgresConnection: WriterConnection {
    func begin(at homes: Homes) throws {
        try session.connectAgain()
        session.begin(PostgresHomes.begin(homes))
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
