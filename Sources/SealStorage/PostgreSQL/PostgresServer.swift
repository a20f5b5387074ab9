import Foundation

/// What a PostgreSQL server and its database have to be for SealKit servers to run on them.
struct PostgresServer {
    /// Whether it is to have the database to itself, which it has for as long as it is connected.
    let isAlone: Bool

    /// 15: what this was tried with first.
    private static let oldest = 150_000

    /// Of advisory locks, each of two numbers. All that servers write by share this one: who holds it alone has the
    /// database to itself.
    private static let use = "(1396788557, 0)"
    /// Each process that serves the database holds one of these, by its own number.
    private static let presence: Int32 = 1_396_788_558

    /// What every connection begins with: settings of the operator's that must not hold for this one.
    ///
    /// - Parameter version: of the server: 17 was the first to end transactions for their length.
    static func settings(of version: Int) -> String {
        """
        SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
        SET default_transaction_read_only = off; SET jit = off; SET search_path = public;
        """ + (version >= 170_000 ? "SET transaction_timeout = 0;" : "")
    }

    /// That a connection which is gone is noticed there too, and what it holds given back. Without effect for sockets.
    ///
    /// The last is not to be had on every system that PostgreSQL runs on, and refused there.
    private static let vigilance = """
        SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = 20000;
        DO $$ BEGIN
            SET client_connection_check_interval = 5000;
        EXCEPTION WHEN invalid_parameter_value THEN NULL;
        END $$;
        """

    /// A process that stands still in the middle of a transaction, and whose machine answers for it, is noticed by that
    /// alone: no write leaves its transaction alone for so long.
    private static let wakefulness = "SET idle_in_transaction_session_timeout = \(mostIdle * 1_000);"
    /// Seconds.
    static let mostIdle = 15

    /// - Throws: `unsuitable`.
    static func prepareReader(_ session: PostgresSession) throws {
        try session.runScript(settings(of: session.serverVersion))
        try requirePrimary(session)
    }

    /// Nothing that it writes has to outlive a crash.
    /// - Throws: `unsuitable`.
    static func prepareNotices(_ session: PostgresSession) throws {
        try session.runScript(settings(of: session.serverVersion) + vigilance + "SET synchronous_commit = off;")
        try requirePrimary(session)
        try session.runScript("LISTEN sealkit")
    }

    /// - Throws: `unsuitable`.
    func prepareWriter(_ session: PostgresSession) throws {
        guard session.serverVersion >= Self.oldest else {
            let version = "\(session.serverVersion / 10_000).\(session.serverVersion % 10_000)"
            throw StorageError.unsuitable(
                message: "\(session.name) is of PostgreSQL \(version); it takes 15 or later.")
        }
        let settings = Self.settings(of: session.serverVersion)
        try session.runScript(settings + Self.vigilance + (isAlone ? "" : Self.wakefulness))
        try Self.requireForm(session)
        try Self.requireDurability(session)
        try Self.requirePrimary(session)
        try takeLock(session)
    }

    /// Whatever the URL says of it: a standby does not show what was just acknowledged.
    private static func requirePrimary(_ session: PostgresSession) throws {
        let isStandby = try first("SELECT pg_is_in_recovery() AS standby", session) { try $0.bool("standby") }
        guard isStandby == false else {
            throw StorageError.unsuitable(message: "\(session.name) is a standby. Name the primary, or all hosts.")
        }
    }

    /// That further connections are left when this one is there, of those that the server, the database and the role
    /// may have.
    /// - Throws: `unavailable`.
    static func requireRoom(_ count: Int, _ session: PostgresSession) throws {
        // Of other roles' sessions this one may see no more than that they are there.
        let room = """
            SELECT CAST(LEAST(
                CAST(current_setting('max_connections') AS BIGINT)
                    - CAST(current_setting('superuser_reserved_connections') AS BIGINT)
                    - CAST(COALESCE(current_setting('reserved_connections', true), '0') AS BIGINT)
                    - (SELECT COUNT(*) FROM pg_stat_activity WHERE datid IS NOT NULL),
                (SELECT NULLIF(d.datconnlimit, -1) - COUNT(a.pid) FROM pg_database d
                    LEFT JOIN pg_stat_activity a ON a.datid = d.oid
                    WHERE d.datname = current_database() GROUP BY d.oid, d.datconnlimit),
                (SELECT NULLIF(r.rolconnlimit, -1) - COUNT(a.pid) FROM pg_roles r
                    LEFT JOIN pg_stat_activity a ON a.usesysid = r.oid
                    WHERE r.rolname = session_user GROUP BY r.oid, r.rolconnlimit)) AS BIGINT) AS room
            """
        guard let left = try first(room, session, { try $0.int64("room") }), left >= Int64(count) else {
            throw StorageError.unavailable(message: "there are no further connections to be had")
        }
    }

    /// What tells the server from every other one: its system, its history, and when it was started.
    static let started = """
        concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
            left(pg_walfile_name(pg_current_wal_lsn()), 8), CAST(extract(epoch FROM pg_postmaster_start_time()) AS TEXT))
        """

    /// Makes the session one of the era that its server has, which begins with it where it is another server than the
    /// one that was connected to last.
    /// - Throws: `unavailable` where that one, or another one meanwhile, is the primary.
    static func enter(_ era: PostgresEra, _ session: PostgresSession) throws {
        let text = try first("SELECT \(started) AS started", session) { try $0.text("started") }
        guard let number = era.begin(at: PostgresStart(text ?? ""), since: session.seen) else {
            throw StorageError.unavailable(message: "another server is the primary by now")
        }
        session.enter(number)
    }

    private func takeLock(_ session: PostgresSession) throws {
        if let former = session.former { try Self.end(former, session) }
        var pauses = Peers.patience[...]
        while try !takeLockOnce(session) {
            guard let pause = pauses.popFirst() else { throw StorageError.unsuitable(message: inUse(session.name)) }
            Thread.sleep(forTimeInterval: pause / .seconds(1))
        }
        session.note(
            try Self.first(Self.own, session) {
                PostgresSession.Process(id: try $0.int64("pid"), began: try $0.text("began"))
            })
    }

    private func takeLockOnce(_ session: PostgresSession) throws -> Bool {
        // One that writes nothing at the moment may have no connection to write by.
        if isAlone, try !Self.processes(session).isEmpty { return false }
        let take = "SELECT pg_try_advisory_lock\(isAlone ? "" : "_shared")\(Self.use) AS taken"
        return try Self.first(take, session) { try $0.bool("taken") } == true
    }

    private func inUse(_ name: String) -> String {
        isAlone
            ? "A server runs on \(name). Stop all that do, and try again."
            : "Somebody has \(name) to themselves, to move it. Start the server once that is done."
    }

    private static let own = """
        SELECT pid, CAST(backend_start AS TEXT) AS began FROM pg_stat_activity WHERE pid = pg_backend_pid()
        """

    /// The process of a connection that was lost, which the server may have for as long as it takes that to be a slow
    /// one. It holds locks; whatever it has not committed nobody waits for any more.
    private static func end(_ former: PostgresSession.Process, _ session: PostgresSession) throws {
        _ = try first(
            """
            SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity
            WHERE pid = $1 AND CAST(backend_start AS TEXT) = $2
            """, with: [.integer(former.id), .text(former.began)], session, { try $0.bool("ended") })
    }

    /// Texts have the order of their bytes, as in SQLite: pages of names go by it.
    private static func requireForm(_ session: PostgresSession) throws {
        let sql = """
            SELECT pg_encoding_to_char(encoding) AS encoding, datcollate AS collation,
                datctype AS ctype, CAST(datlocprovider AS TEXT) AS provider
            FROM pg_database WHERE datname = current_database()
            """
        let form = try first(sql, session) { row in
            (
                encoding: try row.text("encoding"), collation: try row.text("collation"), ctype: try row.text("ctype"),
                provider: try row.text("provider")
            )
        }
        let plain = ["C", "POSIX"]
        guard let form, form.encoding == "UTF8", form.provider == "c", plain.contains(form.collation),
            plain.contains(form.ctype)
        else {
            throw StorageError.unsuitable(
                message: "\(session.name) has the encoding \(form?.encoding ?? "?") and the collation "
                    + "\(form?.collation ?? "?"); it needs UTF8 and C. Make one by: "
                    + "createdb --template=template0 --encoding=UTF8 --locale=C --locale-provider=libc NAME")
        }
    }

    /// What was acknowledged is on the disk. A database of tests, which nobody keeps, says so by a setting of its own.
    private static func requireDurability(_ session: PostgresSession) throws {
        let durability = """
            SELECT current_setting('fsync') AS fsync, COALESCE(current_setting('sealkit.may_lose', true), '') AS lose
            """
        let isKept = try first(durability, session) { try $0.text("fsync") == "on" || $0.text("lose") == "on" }
        guard isKept == true else {
            throw StorageError.unsuitable(
                message:
                    "\(session.name) runs with fsync = off: what was acknowledged would be lost with the machine's "
                    + "power. Switch it on.")
        }
        if try first("SHOW synchronous_commit", session, { try $0.text("synchronous_commit") }) == "off" {
            try session.runScript("SET synchronous_commit = on")
        }
    }

    // MARK: Who serves the database

    /// Makes a session show that its process serves the database, for as long as it is connected.
    static func show(_ process: Int64, by session: PostgresSession) throws {
        try session.runScript(showing(process))
    }

    static func showing(_ process: Int64) -> String { "SELECT pg_advisory_lock_shared(\(presence), \(process))" }

    /// Whose sessions show that.
    static func processes(_ session: PostgresSession) throws -> Set<Int64> {
        let sql = """
            SELECT DISTINCT CAST(objid AS BIGINT) AS process FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 2 AND classid = \(presence) AND granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        var found: Set<Int64> = []
        _ = try session.run(sql, []) { row in
            found.insert(try row.int64("process"))
            return true
        }
        return found
    }

    private static func first<T>(
        _ sql: String, with values: [SQLValue] = [], _ session: PostgresSession, _ decode: (any SQLRow) throws -> T
    ) throws -> T? {
        var found: T?
        _ = try session.run(sql, values) { row in
            found = try decode(row)
            return false
        }
        return found
    }
}
