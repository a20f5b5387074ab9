public import Foundation
import GRDB
import SealPrimitives
import Synchronization

/// The long-lived operations of an account on this device, each until its results were told (<doc:LongLived>).
///
/// What they are about and what has become of them is sealed by a key of the account's: the file alone tells how many
/// there are, how large, and whose. It is one process's as long as that has it open, and belongs beside the account's
/// keys. Losing it loses what was not sent yet.
public final class OperationJournal: Sendable {
    /// What a test looks at, or stops: each change of the file, before and after it is durable.
    package enum Moment: Sendable { case before, after }
    package typealias Observer = @Sendable (Moment) throws(SealKitError) -> Void

    /// A row as it is kept.
    struct Row: Sendable {
        let name: String
        let sealed: [UInt8]
    }

    static let mostOperations = 1_000
    static let mostBytes: Int64 = 256 << 20
    /// A server keeps answers, and uploads that no record names, for a day; the rest of it is for requests that take
    /// long, and clocks that differ.
    static let serversDayHours: Int64 = 20

    private let database: DatabaseQueue
    private let file: URL
    private let observer: Observer?
    /// Those that somebody waits for in this process.
    private let running = Mutex<Set<ID16>>([])

    /// Kept in a file of mode 0600, which is made where there is none.
    /// - Throws: `constraintViolation` while another process has it open; `internalError` when it is damaged, or cannot
    ///   be written to; `storageFull`; `incompatibleVersion` for one that another version made.
    public convenience init(file: URL) throws(SealKitError) { try self.init(file: file, observer: nil) }

    package init(file: URL, observer: Observer?) throws(SealKitError) {
        self.file = file
        self.observer = observer
        do {
            try PrivateFile.makeEmpty(at: file)
            var configuration = Configuration()
            configuration.busyMode = .immediateError
            configuration.prepareDatabase {
                // What was promised is on the disk; what was removed leaves no bytes behind; the lock goes with the
                // process.
                try $0.execute(
                    sql: """
                        PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                        PRAGMA secure_delete = ON
                        """)
            }
            database = try DatabaseQueue(path: file.path, configuration: configuration)
            try database.write { [file] db in try OperationJournal.prepare(db, file) }
        } catch {
            throw OperationJournal.failure(error, file)
        }
    }

    /// Lets another process have it. Calls that need it fail from now on with `internalError`.
    /// - Throws: `internalError`, `storageFull`.
    public func close() throws(SealKitError) {
        do { try database.close() } catch { throw OperationJournal.failure(error, file) }
    }

    /// Forgets every operation, also of a file that is damaged in places: what was sent of them may or may not have
    /// been made.
    /// - Throws: `internalError`, `storageFull`.
    public func removeAll() throws(SealKitError) {
        try observer?(.before)
        do { try database.write { try $0.execute(sql: "DELETE FROM row; DELETE FROM operation") } } catch {
            throw OperationJournal.failure(error, file)
        }
        try observer?(.after)
    }

    private static let version = 2

    private static func prepare(_ db: GRDB.Database, _ file: URL) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let isEmpty = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0
        if version == Self.version { return }
        guard version == 0, isEmpty else {
            throw SealKitError(
                .incompatibleVersion, "the journal of operations was made by another version (\(file.path))",
                remedy: "use the version that made it, or move it away: what was not sent is lost then")
        }
        try db.execute(
            sql: """
                CREATE TABLE operation (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, account BLOB NOT NULL);
                CREATE TABLE row (
                    id BLOB NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (id, name)) WITHOUT ROWID;
                PRAGMA user_version = \(Self.version)
                """)
    }

    /// Whether the server still has what it had at `noted`, in microseconds since 1970. Where the clock was set back
    /// since, nothing is known.
    static func isWithinServersDay(_ noted: Int64, at now: Int64) -> Bool {
        noted <= now && now - noted < serversDayHours * 3_600_000_000
    }

    // MARK: Whose turn it is

    /// - Throws: `constraintViolation` while somebody else in this process waits for the operation.
    func claim(_ id: ID16) throws(SealKitError) {
        guard running.withLock({ $0.insert(id).inserted }) else {
            throw SealKitError(
                .constraintViolation, "the operation is under way already", remedy: "wait for that instead")
        }
    }

    func release(_ id: ID16) { _ = running.withLock { $0.remove(id) } }

    // MARK: Rows

    /// A new operation.
    /// - Parameter account: by its root key.
    /// - Throws: `limitExceeded` where there is no room for it.
    func add(_ id: ID16, of account: VerificationKey, _ row: Row) async throws(SealKitError) {
        try await write { db in
            let (count, size) =
                try GRDB.Row.fetchOne(
                    db,
                    sql: "SELECT (SELECT COUNT(*) FROM operation), (SELECT COALESCE(SUM(LENGTH(sealed)), 0) FROM row)"
                ).map { ($0[0] as Int, $0[1] as Int64) } ?? (0, 0)
            guard count < Self.mostOperations, size + Int64(row.sealed.count) <= Self.mostBytes else {
                throw SealKitError(
                    .limitExceeded,
                    "the journal holds \(count) operations of \(size) bytes; \(Self.mostOperations) and \(Self.mostBytes) are allowed",
                    remedy: "wait for those that were begun, and end each once its results are told")
            }
            try db.execute(
                sql: "INSERT INTO operation (id, account) VALUES (?, ?)",
                arguments: [Data(id.bytes), Data(account.bytes)])
            try Self.put(row, id, db)
        }
    }

    /// Writes a row, in the place of one of its name, and takes others away, in one step.
    /// - Throws: `operationCancelled` where the operation was ended meanwhile.
    func put(_ row: Row, removing names: [String] = [], of id: ID16) async throws(SealKitError) {
        try await write { db in
            guard
                try Int.fetchOne(db, sql: "SELECT 1 FROM operation WHERE id = ?", arguments: [Data(id.bytes)]) != nil
            else {
                throw SealKitError(
                    .operationCancelled, "the operation was ended meanwhile; its changes may or may not have been made",
                    remedy: "fetch what it was about to see which")
            }
            try Self.put(row, id, db)
            for name in names {
                try db.execute(
                    sql: "DELETE FROM row WHERE id = ? AND name = ?", arguments: [Data(id.bytes), name])
            }
        }
    }

    private static func put(_ row: Row, _ id: ID16, _ db: GRDB.Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO row (id, name, sealed) VALUES (?, ?, ?)",
            arguments: [Data(id.bytes), row.name, Data(row.sealed)])
    }

    /// One that is not there is removed already.
    func remove(_ id: ID16) async throws(SealKitError) {
        try await write { db in
            try db.execute(sql: "DELETE FROM row WHERE id = ?", arguments: [Data(id.bytes)])
            try db.execute(sql: "DELETE FROM operation WHERE id = ?", arguments: [Data(id.bytes)])
        }
    }

    /// In the order in which they began.
    func operations(of account: VerificationKey) async throws(SealKitError) -> [ID16] {
        try await read { db in
            try Data.fetchAll(
                db, sql: "SELECT id FROM operation WHERE account = ? ORDER BY number",
                arguments: [Data(account.bytes)]
            ).map { try ID16($0) }
        }
    }

    func rows(of id: ID16) async throws(SealKitError) -> [Row] {
        try await read { db in
            try GRDB.Row.fetchAll(db, sql: "SELECT name, sealed FROM row WHERE id = ?", arguments: [Data(id.bytes)])
                .map { Row(name: $0[0], sealed: [UInt8]($0[1] as Data)) }
        }
    }

    func row(_ name: String, of id: ID16) async throws(SealKitError) -> Row? {
        try await read { db in
            try Data.fetchOne(
                db, sql: "SELECT sealed FROM row WHERE id = ? AND name = ?", arguments: [Data(id.bytes), name]
            ).map { Row(name: name, sealed: [UInt8]($0)) }
        }
    }

    /// What an account's operations began with. It waits for the file: of one that signs out, or makes way.
    func inputs(of account: VerificationKey) throws(SealKitError) -> [(id: ID16, row: Row)] {
        do {
            return try database.read { db in
                try GRDB.Row.fetchAll(
                    db,
                    sql: """
                        SELECT operation.id, row.name, row.sealed FROM operation JOIN row ON row.id = operation.id
                        WHERE operation.account = ? AND row.name = ?
                        """, arguments: [Data(account.bytes), JournaledInput.name]
                ).map { (try ID16($0[0] as Data), Row(name: $0[1], sealed: [UInt8]($0[2] as Data))) }
            }
        } catch { throw OperationJournal.failure(error, file) }
    }

    /// Another account's have no business on a device that has gone over to this one.
    func keepOnly(_ account: VerificationKey) throws(SealKitError) {
        do {
            try database.write { db in
                let others = "SELECT id FROM operation WHERE account != ?"
                try db.execute(sql: "DELETE FROM row WHERE id IN (\(others))", arguments: [Data(account.bytes)])
                try db.execute(sql: "DELETE FROM operation WHERE account != ?", arguments: [Data(account.bytes)])
            }
        } catch { throw OperationJournal.failure(error, file) }
    }

    private func read<T: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> T) async throws(SealKitError)
        -> T
    {
        do { return try await database.read(body) } catch { throw OperationJournal.failure(error, file) }
    }

    private func write(_ body: @escaping @Sendable (GRDB.Database) throws -> Void) async throws(SealKitError) {
        try observer?(.before)
        do { try await database.write(body) } catch { throw OperationJournal.failure(error, file) }
        try observer?(.after)
    }

    private static func failure(_ error: any Error, _ file: URL) -> SealKitError {
        if let error = error as? SealKitError { return error }
        if error.isOfCancelledTransaction { return .cancelled }
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_BUSY?, .SQLITE_LOCKED?:
            return SealKitError(
                .constraintViolation, "another process has the journal of operations open (\(file.path))",
                remedy: "let that one go on with them, or end it")
        case .SQLITE_FULL?:
            return SealKitError(
                .storageFull, "this device's disk is full; the journal of operations was not written (\(file.path))",
                remedy: "free some space and try again")
        case .SQLITE_CORRUPT?, .SQLITE_NOTADB?: return damaged(file)
        case let code:
            return SealKitError(
                .internalError,
                "the journal of operations cannot be used (\(file.path)): \(code.map { "SQLite's error \($0.rawValue)" } ?? "\(type(of: error))")",
                remedy: "make the file and its folder writable for you, or keep them elsewhere")
        }
    }

    private static func damaged(_ file: URL) -> SealKitError {
        SealKitError(
            .internalError, "the journal of operations is damaged (\(file.path)); nothing of it was sent",
            remedy: "remove its operations, or move it away: fetch what they were about to see what was made of them")
    }

    var damaged: SealKitError { OperationJournal.damaged(file) }
}
