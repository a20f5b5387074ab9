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

    static func prepareReader(_ session: PostgresSession) throws { try session.runScript(settings) }

    /// - Throws: `unsuitable`.
    static func prepareWriter(_ session: PostgresSession) throws {
        guard session.serverVersion >= oldest else {
            let version = "\(session.serverVersion / 10_000).\(session.serverVersion % 10_000)"
            throw StorageError.unsuitable(
                message: "\(session.name) is of PostgreSQL \(version); it takes 15 or later.")
        }
        try session.runScript(settings)
        try requireForm(session)
        try requireDurability(session)
        guard try first("SELECT pg_is_in_recovery() AS standby", session, { try $0.bool("standby") }) == false else {
            throw StorageError.unsuitable(message: "\(session.name) is a standby. Name the primary, or all hosts.")
        }
        guard try first(lock, session, { try $0.bool("locked") }) == true else {
            throw StorageError.unsuitable(
                message: "Another server runs on \(session.name): one process a database is what there may be so far. "
                    + "Stop that one, or give this one a database of its own.")
        }
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
        guard let form, form.encoding == "UTF8", form.provider == "c", ["C", "POSIX"].contains(form.collation) else {
            throw StorageError.unsuitable(
                message: "\(session.name) has the encoding \(form?.encoding ?? "?") and the collation "
                    + "\(form?.collation ?? "?"); it needs UTF8 and C. Make one by: "
                    + "createdb --template=template0 --encoding=UTF8 --locale=C --locale-provider=libc NAME")
        }
    }

    /// What was acknowledged is on the disk.
    private static func requireDurability(_ session: PostgresSession) throws {
        if try first("SHOW synchronous_commit", session, { try $0.text("synchronous_commit") }) == "off" {
            try session.runScript("SET synchronous_commit = on")
        }
    }

    private static func first<T>(
        _ sql: String, _ session: PostgresSession, _ decode: (any SQLRow) throws -> T
    ) throws -> T? {
        var found: T?
        _ = try session.run(sql, []) { row in
            found = try decode(row)
            return false
        }
        return found
    }
}
