import Foundation
import GRDB
import GRDBSQLite
import SealSystem

/// The SQLite implementation: one writer that groups commits, readers beside it, a write-ahead log, and
/// `synchronous=FULL`: what was acknowledged survives a power cut.
package final class SQLiteDatabase: EngineDatabase {
    /// What a server's database is called in its data folder.
    package static let fileName = "sealkit.sqlite"

    /// The database file.
    package let path: String
    private let writer: GroupWriter<SQLiteWriter>
    private let readers: Readers
    package let peers = Peers.none()
    package let damage = DatabaseDamage()

    /// Opens or creates the file (mode 0600) and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - mostWaitingWrites: how many may wait for the writer before further ones are refused as `busy`.
    ///   - budget: of the writes that have a turn (`WriteTurn`).
    ///   - admit: looks at what is there before anything of it is changed.
    package init(
        path: String, migrations: [Migration], mostWaitingWrites: Int = WriteBudget.defaultMostWaiting,
        budget: WriteBudget = WriteBudget(), admit: Admission? = nil
    ) throws {
        self.path = path
        try Self.requireKnown(path, migrations)
        // SQLite gives its journal files the mode of the database file, so it is made first, for its owner alone.
        try PrivateFiles.createFile(at: path)

        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            try database.execute(
                // Pages of 4 KiB: a save of one record writes three index pages of its own, whatever their size. It
                // counts for new databases. A checkpoint comes after 32 MiB.
                sql: """
                    PRAGMA page_size = 4096;
                    PRAGMA mmap_size = 268435456;
                    PRAGMA cache_size = -16384;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA wal_autocheckpoint = 8000;
                    PRAGMA trusted_schema = OFF;
                    """)
        }
        let pool: DatabasePool
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            // Opening the pool sets the writer to NORMAL after `prepareDatabase` has run, so this comes after it.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        } catch let error as DatabaseError {
            throw StorageError(
                code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: errno)
        }
        configuration.readonly = true
        configuration.prepareDatabase { database in
            // The file is mapped, and what comes from the log is void with the next commit: a large cache of each
            // reader would be memory that is full of what nobody asks for again.
            try database.execute(sql: "PRAGMA cache_size = -2048")
        }
        let readers = Readers(most: max(4, ProcessInfo.processInfo.activeProcessorCount * 2)) {
            [configuration] in try SQLiteReader(path: path, configuration: configuration)
        }
        self.readers = readers
        let engine = SQLiteWriter(pool: pool) {
            do {
                try readers.close()
                _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try pool.close()
            } catch let error as DatabaseError {
                throw StorageError(
                    code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: 0)
            }
        }
        writer = GroupWriter(engine: engine, mostWaiting: mostWaitingWrites, budget: budget)
        try writer.writeNow { [migrations, path] connection in
            try Migrator(migrations: migrations).migrate(connection, file: path, admit: admit)
        }
    }

    /// Another program's file stays as it is: opened for writing it would get a write-ahead log.
    private static func requireKnown(_ path: String, _ migrations: [Migration]) throws {
        guard let status = FileStatus(path: path), status.size > 0 else { return }
        func look() throws {
            let file = try SQLiteFile(reading: path)
            defer { file.close() }
            try file.read { connection in
                _ = try Migrator(migrations: migrations).requireKnown(connection, file: path)
            }
        }
        do { try look() } catch StorageError.unsettled {
            // Whoever was killed had not a write-ahead log yet. Nobody sees what is in the file before that transaction
            // is taken back, as its own program would do at its next start; the file stays what it is otherwise.
            try SQLiteFile.settle(path)
            try look()
        }
    }

    @discardableResult
    package func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        do { return try await readers.read(body) } catch { throw noted(error) }
    }

    @discardableResult
    package func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        do { return try await writer.write(body) } catch { throw noted(error) }
    }

    private func noted(_ error: any Error) -> any Error {
        var told = error
        if let error = error as? DatabaseError {
            told = StorageError(code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: 0)
        }
        damage.note(told)
        return told
    }

    /// Bytes that SQLite has asked for, in this process.
    package static var memoryUsed: Int { Int(clamping: sqlite3_memory_used()) }

    /// One process has the file to itself.
    package func join() {}

    package func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { writer.listen(listener) }

    /// The file stays open.
    package func whenReopened(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) {}

    package func close() async throws { try await writer.close() }

    /// A pragma of the writer's connection, for tests that check the durability settings.
    func writerPragma(_ name: String) async throws -> String? {
        try await writer.outsideTransaction { engine in
            try engine.pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") }
        }
    }

    package var waitingWrites: Int { writer.waitingCount }
    package var reads: ReadCounts { readers.counts }

    /// How many read, and how many wait for that: for tests.
    var busyReaders: Int { readers.counts.busy }
    var waitingReads: Int { readers.counts.waiting }

    /// Limits the file's size, for tests of a full disk.
    func limitPages(to count: Int) async throws {
        try await writer.outsideTransaction { engine in
            try engine.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
        }
    }
}
