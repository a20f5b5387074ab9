import CPQ

/// What a connection to PostgreSQL has on both of its ends: its statements there, and how its transaction stands.
///
/// Rows come one by one. Those of an answer that nobody has read yet are taken in before another statement is run, and
/// where nobody wants them: an answer that may be long, and be left, comes in portions (`stream`).
final class PostgresSession {
    enum Kind { case reader, writer }

    private let kind: Kind
    private let address: PostgresAddress
    /// What a new connection does before anything else.
    private let prepare: (PostgresSession) throws -> Void
    /// Nil for who is the only one that is connected.
    private let era: PostgresEra?
    /// The one that it is connected in; while it connects, the one in which that began.
    private(set) var seen = 0
    /// Whether the connection has become what it is to be.
    private var isPrepared = false
    private let statements = PostgresStatements()
    private var connection: OpaquePointer?
    /// The server is about to end the connection, or is no primary any more.
    private var isStale = false
    /// What is to be sent before the next statement.
    private var deferred: [String] = []
    /// Whether the transaction under way has reached the server.
    private(set) var isBegun = false
    /// The answer whose rows come.
    private var incoming: Incoming?
    /// Whether the transaction under way has ended, all of it.
    private var isLost = false
    private var lastFailure: StorageError?
    private(set) var mayBeginAnew = false
    /// How many are open, one within another.
    private var cursors = 0
    /// Whether the server ends statements that take too long.
    private var hasLimit = false
    /// The server's process for the connection before this one, and when that began.
    private(set) var former: Process?

    struct Process {
        let id: Int64
        let began: String
    }

    /// - Parameters:
    ///   - era: with which the connection ends.
    ///   - prepare: looks at the server, and makes the session what it is to be.
    init(
        _ kind: Kind, _ address: PostgresAddress, of era: PostgresEra? = nil,
        prepare: @escaping (PostgresSession) throws -> Void
    ) {
        self.kind = kind
        self.address = address
        self.era = era
        self.prepare = prepare
    }

    deinit { PQfinish(connection) }

    func close() {
        PQfinish(connection)
        connection = nil
        isPrepared = false
        isStale = false
        statements.forget()
    }

    // MARK: Connecting

    /// Whether there is a connection that may be used, as far as anybody knows.
    var isConnected: Bool {
        guard let connection, !isStale, isCurrent else { return false }
        return PQstatus(connection) == CONNECTION_OK && PQtransactionStatus(connection) == PQTRANS_IDLE
    }

    /// Whether nobody has been connected to another server since.
    private var isCurrent: Bool { era.map { $0.current == seen } ?? true }

    /// The server that it is connected to has that era.
    func enter(_ number: Int) { seen = number }

    /// Opens the connection where there is none.
    /// - Throws: `unavailable`, `unsuitable`.
    func connectAgain() throws {
        if isConnected {
            reset()
            return
        }
        close()
        reset()
        seen = era?.current ?? 0
        guard let new = address.connect() else { throw StorageError.unavailable(message: "there is no memory") }
        guard PQstatus(new) == CONNECTION_OK else {
            defer { PQfinish(new) }
            let message = address.withoutSecret(
                PQerrorMessage(new).map { String(cString: $0) } ?? ""
            ).split(separator: "\n").joined(separator: " ")
            if message.contains("read-only") || message.contains("hot standby") {
                throw StorageError.unsuitable(
                    message: "\(address.name) is a standby, or does not let itself be written to. "
                        + "Name the primary, or all hosts: the one that can be written to is found.")
            }
            throw StorageError.unavailable(message: message)
        }
        // Notices would go to standard error.
        _ = PQsetNoticeProcessor(new, { _, _ in }, nil)
        connection = new
        do { try prepare(self) } catch {
            close()
            throw error
        }
        isPrepared = true
    }

    private func reset() {
        deferred = []
        incoming = nil
        isBegun = false
        isLost = false
        lastFailure = nil
        mayBeginAnew = false
    }

    /// The server's number: 150018 for 15.18.
    var serverVersion: Int { Int(PQserverVersion(connection)) }

    var name: String { address.name }

    /// What the server does for this connection is done by that process.
    func note(_ process: Process?) { former = process }

    // MARK: Transactions

    func begin(_ sql: String) {
        deferred = [sql]
        isBegun = false
    }

    func `defer`(_ sql: String) { deferred.append(sql) }

    /// - Parameter limit: microseconds for each statement of the write that begins, nil for as long as it takes. The
    ///   server ends those that take longer; and those that wait for a quarter of it until another transaction is over,
    ///   which is no fault of theirs, and may be long where a standby is waited for.
    func beginWrite(limit: Int64?) {
        hasLimit = limit != nil
        lastFailure = nil
        let (statement, lock) = limit.map { (max(1, $0 / 1_000), max(1, $0 / 4_000)) } ?? (0, 0)
        deferred.append(
            "SET LOCAL statement_timeout = \(statement); SET LOCAL lock_timeout = \(lock); SAVEPOINT job")
    }

    func takeBackWrite() {
        // Its cursors go with it, and after a statement that failed none can be closed; those of the write before stay.
        let own = deferred.lastIndex { $0.hasSuffix("SAVEPOINT job") } ?? deferred.startIndex
        deferred[own...].removeAll { $0.hasPrefix("CLOSE") }
        deferred.append("ROLLBACK TO job")
    }

    private static let connectionLost = StorageError.unavailable(message: "the connection was lost")

    var isInTransaction: Bool { !isLost }

    /// Of the statement that the write under way cannot go on after.
    var failure: StorageError? {
        if isLost { return lastFailure ?? Self.connectionLost }
        guard isBegun, let connection, PQtransactionStatus(connection) == PQTRANS_INERROR else { return nil }
        return deferred.contains { $0.hasPrefix("ROLLBACK TO") }
            ? nil : lastFailure ?? .failed(code: 0, message: "a statement failed")
    }

    func commit() throws {
        guard isBegun else {
            // Nothing was asked of the server, so there is nothing to commit.
            deferred = []
            return
        }
        guard let connection else { throw StorageError.unavailable(message: "there is no connection") }
        let script = (deferred + ["SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = 0", "COMMIT"]).joined(
            separator: "; ")
        deferred = []
        isBegun = false
        let result = PQexec(connection, script)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else {
            let failure = PostgresFailure(result, of: connection)
            isLost = true
            guard failure.isConflict else {
                guard isAboutConnection(failure) else { throw failure.error }
                isStale = true
                throw StorageError.unavailable(
                    message: "\(failure.message); whether what was being committed is there is not known")
            }
            mayBeginAnew = true
            throw failure.error
        }
        // The commit of a transaction that has failed is answered as what it does.
        guard let tag = PQcmdStatus(result), String(cString: tag) == "COMMIT" else {
            throw StorageError.commitFailed(message: "the database took the transaction back")
        }
        // Where several connect again at once, the first of them begins the others' era.
        guard isCurrent || !isPrepared else {
            throw StorageError.unavailable(
                message: "another server is the primary by now; whether it has what was being committed is not known")
        }
    }

    func rollBack() {
        deferred = []
        incoming = nil
        guard isBegun, let connection else { return }
        isBegun = false
        guard PQstatus(connection) == CONNECTION_OK else { return }
        PQclear(PQexec(connection, "ROLLBACK"))
    }

    // MARK: Statements

    /// Several statements without parameters.
    func runScript(_ sql: String) throws {
        // It changes the schema.
        do throws(PostgresError) {
            try send()
            if let connection { try statements.removeAll(of: connection) }
        } catch { throw noted(error) }
        try runSimple(sql)
    }

    private func runSimple(_ sql: String) throws {
        do throws(PostgresError) { try simple(sql) } catch { throw noted(error) }
    }

    private func simple(_ sql: String) throws(PostgresError) {
        guard let connection else { throw .told(.unavailable(message: "there is no connection")) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
        default: throw .failed(.init(result, of: connection))
        }
    }

    /// Sends what was deferred.
    private func send() throws(PostgresError) {
        if isLost { throw .told(Self.connectionLost) }
        incoming?.keep()
        guard !deferred.isEmpty else { return }
        let script = deferred.joined(separator: "; ")
        deferred = []
        isBegun = true
        try simple(script)
    }

    /// Begins the transaction at the server, with what is sent with its beginning.
    func start() throws {
        do throws(PostgresError) { try send() } catch { throw noted(error) }
    }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        let encoded = try PostgresValues(values)
        let columns: SQLColumns
        let mine: Incoming
        do throws(PostgresError) {
            try send()
            guard let connection else { throw .told(.unavailable(message: "there is no connection")) }
            let statement = try statements.statement(sql, for: values, of: connection)
            columns = statement.columns
            guard statement.send(encoded, on: connection) else { throw .failed(.init(nil, of: connection)) }
            _ = PQsetSingleRowMode(connection)
            mine = Incoming(connection)
        } catch { throw noted(error) }
        let outer = incoming
        incoming = mine
        defer {
            mine.drop()
            incoming = outer
        }
        while let result = mine.next() {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_SINGLE_TUPLE:
                columns.begin()
                guard try eachRow(PostgresRow(result: result, row: 0, columns: columns)) else {
                    return try finish(mine)
                }
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: mine.changed = Self.changed(result)
            default: throw noted(.failed(.init(result, of: mine.connection)))
            }
        }
        return mine.changed
    }

    /// One statement for each set, all sent before the first is answered.
    func runEach(
        _ sql: String, _ sets: ArraySlice<[SQLValue]>, eachRow: (_ set: Int, any SQLRow) throws -> Void
    ) throws {
        let encoded = try sets.map { try PostgresValues($0) }
        var answers: [PostgresFlight.Answer] = []
        defer { for answer in answers { PQclear(answer.result) } }
        let prepared: [PostgresStatements.Prepared]
        do throws(PostgresError) {
            try send()
            guard let connection else { throw .told(.unavailable(message: "there is no connection")) }
            prepared = try statements.statements(sql, for: sets, of: connection)
            answers = try PostgresFlight(connection).run(prepared, encoded)
        } catch {
            let told = noted(error)
            if let connection, PostgresFlight(connection).isUnderWay { isStale = true }
            throw told
        }
        for answer in answers {
            let columns = prepared[answer.statement].columns
            for row in 0..<PQntuples(answer.result) {
                columns.begin()
                try eachRow(
                    sets.startIndex + answer.statement,
                    PostgresRow(result: answer.result, row: row, columns: columns))
            }
        }
    }

    /// Rows by `COPY`.
    func load(
        _ table: String, _ columns: [String], rows: (_ add: ([SQLValue]) throws -> Void) throws -> Void
    ) throws {
        do throws(PostgresError) { try send() } catch { throw noted(error) }
        guard let connection else { throw StorageError.unavailable(message: "there is no connection") }
        var copy = PostgresCopy(connection, into: table, columns)
        do {
            try rows { values in
                do throws(PostgresError) { try copy.add(values) } catch { throw noted(error) }
            }
        } catch {
            copy.giveUp()
            throw error
        }
        do throws(PostgresError) { try copy.finish() } catch { throw noted(error) }
    }

    // MARK: Notices

    /// What a wait for notices looks at; nil where there is no connection.
    var socket: CInt? {
        guard let connection, isConnected else { return nil }
        return PQsocket(connection)
    }

    /// What came since, of channels that it listens to.
    func notices() throws -> [String] {
        guard let connection, PQconsumeInput(connection) == 1 else { throw Self.connectionLost }
        var texts: [String] = []
        while let notice = PQnotifies(connection) {
            defer { PQfreemem(notice) }
            if let text = notice.pointee.extra { texts.append(String(cString: text)) }
        }
        return texts
    }

    // MARK: Portions

    private static let firstPortion = 8
    /// A row may have a megabyte, whatever those before it had.
    private static let largestPortion = 16
    /// Bytes: a portion that has more makes the next one smaller, one that has fewer a larger one.
    private static let portionBytes = 1 << 18

    /// By a cursor, whose rows are asked for in portions. Between two of them the connection is free.
    func stream(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws {
        let name = "c\(cursors)"
        cursors += 1
        defer { cursors -= 1 }
        _ = try run("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", values) { _ in true }
        defer { deferred.append("CLOSE \(name)") }
        var count = Self.firstPortion
        while true {
            let portion = try fetch(count, of: name)
            defer { PQclear(portion) }
            let (rows, fields) = (PQntuples(portion), PQnfields(portion))
            let columns = try SQLColumns(
                (0..<fields).map { PQfname(portion, $0).map { String(cString: $0) } ?? "" })
            var bytes = 0
            for row in 0..<rows {
                for field in 0..<fields { bytes += Int(PQgetlength(portion, row, field)) }
                columns.begin()
                guard try eachRow(PostgresRow(result: portion, row: row, columns: columns)) else { return }
            }
            guard rows == count else { return }
            count = bytes > Self.portionBytes ? max(1, count / 2) : min(count * 2, Self.largestPortion)
        }
    }

    /// - Returns: the rows, which the caller clears.
    private func fetch(_ count: Int, of cursor: String) throws -> OpaquePointer {
        do throws(PostgresError) {
            try send()
            guard let connection else { throw .told(.unavailable(message: "there is no connection")) }
            let result = PQexecParams(connection, "FETCH \(count) FROM \(cursor)", 0, nil, nil, nil, nil, 1)
            guard let result, PQresultStatus(result) == PGRES_TUPLES_OK else {
                defer { PQclear(result) }
                throw .failed(.init(result, of: connection))
            }
            return result
        } catch { throw noted(error) }
    }

    /// Takes in what is left of an answer that nobody wants to have.
    private func finish(_ answer: Incoming) throws -> Int {
        while let result = answer.next() {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_SINGLE_TUPLE: break
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: answer.changed = Self.changed(result)
            default: throw noted(.failed(.init(result, of: answer.connection)))
            }
        }
        return answer.changed
    }

    private static func changed(_ result: OpaquePointer) -> Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Whether another connection may do. A server that writers were connected to, and that only reads, has become a
    /// standby.
    private func isAboutConnection(_ failure: PostgresFailure) -> Bool {
        failure.isAboutConnection || (kind == .writer && failure.isReadOnly)
    }

    /// Keeps in mind what a failure means for the transaction.
    private func noted(_ error: PostgresError) -> StorageError {
        switch error {
        case .told(let error): return error
        case .failed(let failure):
            let isAboutConnection = isAboutConnection(failure)
            if isAboutConnection || failure.isConflict {
                isLost = true
                // Nothing of it is there.
                mayBeginAnew = true
                isStale = isAboutConnection
            }
            let told: StorageError =
                if isAboutConnection { .unavailable(message: failure.message) } else if failure.isCanceled, hasLimit {
                    .overBudget
                } else { failure.error }
            lastFailure = told
            return told
        }
    }
}

/// The rows of an answer that are on their way.
private final class Incoming {
    let connection: OpaquePointer
    var changed = 0
    private var kept: ArraySlice<OpaquePointer> = []
    private var isComplete = false

    init(_ connection: OpaquePointer) { self.connection = connection }

    /// The caller clears it.
    func next() -> OpaquePointer? {
        if let first = kept.popFirst() { return first }
        guard !isComplete else { return nil }
        let result = PQgetResult(connection)
        if result == nil { isComplete = true }
        return result
    }

    /// Takes in all that is to come: the connection is needed for something else.
    func keep() {
        while !isComplete {
            if let result = PQgetResult(connection) { kept.append(result) } else { isComplete = true }
        }
    }

    /// What nobody has read.
    func drop() {
        while let result = next() { PQclear(result) }
    }
}
