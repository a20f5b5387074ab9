import Foundation

/// What a PostgreSQL server and its database have to be for a SealKit server to run on them.
enum PostgresServer {
    /// 15: what this was tried with first.
    private static let oldest = 150_000

    /// Of advisory locks that a process holds for as long as it is connected: one server a database.
    private static let lock = "SELECT pg_try_advisory_lock(6004171849) AS locked"

    /// What every connection begins with: settings of the operator's that must not hold for this one.
    private static let settings = """
        SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
        SET default_transaction_read_only = off; SET jit = off; SET search_path = public;
        """

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

    static func prepareReader(_ session: PostgresSession) throws { try session.runScript(settings) }

    /// - Throws: `unsuitable`.
    static func prepareWriter(_ session: PostgresSession) throws {
        guard session.serverVersion >= oldest else {
            let version = "\(session.serverVersion / 10_000).\(session.serverVersion % 10_000)"
            throw StorageError.unsuitable(
                message: "\(session.name) is of PostgreSQL \(version); it takes 15 or later.")
        }
        try session.runScript(settings + vigilance)
        try requireForm(session)
        try requireDurability(session)
        guard try first("SELECT pg_is_in_recovery() AS standby", session, { try $0.bool("standby") }) == false else {
            throw StorageError.unsuitable(message: "\(session.name) is a standby. Name the primary, or all hosts.")
        }
        guard try takeLock(session) else {
            throw StorageError.unsuitable(
                message: "Another server runs on \(session.name): one process a database is what there may be so far. "
                    + "Stop that one, or give this one a database of its own.")
        }
    }

    /// Of a process that was killed, the database has to notice that first.
    private static let patience: [TimeInterval] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.5]

    private static func takeLock(_ session: PostgresSession) throws -> Bool {
        if let former = session.former { try end(former, session) }
        var pauses = patience[...]
        while try first(lock, session, { try $0.bool("locked") }) != true {
            guard let pause = pauses.popFirst() else { return false }
            Thread.sleep(forTimeInterval: pause)
        }
        session.note(
            try first(own, session) {
                PostgresSession.Process(id: try $0.int64("pid"), began: try $0.text("began"))
            })
        return true
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
