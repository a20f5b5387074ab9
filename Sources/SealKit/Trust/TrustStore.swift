public import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// What a device has verified and must never see undone: rosters, of every record the newest statement's revision, hash
/// and what the next one keeps, how far each feed was read without a gap, and the keys that people are known by; and
/// what did not verify. It holds no secret key and no plaintext.
///
/// Losing it loses protection against rollback until everything was seen again, so keep it beside the key file. While
/// it is open, SQLite keeps what was written last in a file beside it (`-wal`): copy it when it is closed.
public final class TrustStore: Sendable {
    private let database: DatabaseQueue
    private let file: URL?
    /// Nothing was kept here before this was opened.
    package let isNew: Bool

    /// Kept in a file, mode 0600; nil for one that lasts as long as the process.
    /// - Throws: `internalError` when the file is damaged, or it or its folder cannot be written to; `storageFull`;
    ///   `incompatibleVersion` for one that another version made.
    public init(file: URL? = nil) throws(SealKitError) {
        self.file = file
        do {
            if let file {
                try PrivateFile.makeEmpty(at: file)
                // SQLite opens one that may only be read without a word, and leaves a file of the same mode beside it.
                if let reason = TrustStore.refusal(toWrite: file) { throw TrustStore.unwritable(reason) }
                var configuration = Configuration()
                configuration.busyMode = .timeout(TrustStore.patience)
                configuration.prepareDatabase { try TrustStore.keepLog($0) }
                database = try DatabaseQueue(path: file.path, configuration: configuration)
            } else {
                database = try DatabaseQueue()
            }
            isNew = try database.write { [file] db in try TrustStore.migrate(db, file) }
        } catch {
            throw TrustStore.failure(error, file)
        }
    }

    /// Seconds that others of this device are waited for.
    private static let patience = 10.0

    /// Two that open a new file at once would wait for each other here, which SQLite sees and ends at once, whatever
    /// its patience: the one that it ended tries again.
    private static func keepLog(_ db: GRDB.Database) throws {
        let end = ContinuousClock.now + .seconds(patience)
        while true {
            do {
                return try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    /// Puts what was written into the file itself, and closes it: whole, it can be copied or moved then, unless another
    /// process of this device has it open. Calls that need it fail from now on with `internalError`.
    /// - Throws: `internalError`, `storageFull`; what was written is not lost, and in the file beside it until it is
    ///   next opened.
    public func close() throws(SealKitError) {
        do {
            if file != nil {
                // As far as that goes without waiting for others; the last one to close it does the rest.
                _ = try database.writeWithoutTransaction { try $0.checkpoint(.passive) }
            }
            try database.close()
        } catch { throw TrustStore.failure(error, file) }
    }

    static let schema = """
        CREATE TABLE entry (
            scope BLOB NOT NULL, sequence INTEGER NOT NULL, bytes BLOB NOT NULL, signature BLOB NOT NULL,
            PRIMARY KEY (scope, sequence)) WITHOUT ROWID;
        CREATE TABLE seen (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL,
            hash BLOB NOT NULL, kind INTEGER NOT NULL, type TEXT NOT NULL, creator BLOB NOT NULL, roster INTEGER NOT NULL,
            -- Null for the zone's own scope.
            place BLOB,
            -- The moments of the newest statement and of the first.
            noted INTEGER NOT NULL, met INTEGER NOT NULL, PRIMARY KEY (zone, incarnation, name)) WITHOUT ROWID;
        CREATE TABLE feed (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, token BLOB NOT NULL, caughtUpEpoch INTEGER,
            PRIMARY KEY (zone, incarnation)) WITHOUT ROWID;
        CREATE TABLE went (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, name TEXT NOT NULL, hash BLOB NOT NULL,
            noted INTEGER NOT NULL, PRIMARY KEY (zone, incarnation, name)) WITHOUT ROWID;
        """

    func reading<T: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> T) async throws(SealKitError) -> T {
        do { return try await database.read(body) } catch { throw TrustStore.failure(error, file) }
    }

    /// One transaction, which no other process of this device comes between.
    func writing<T: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> T) async throws(SealKitError) -> T {
        do { return try await database.write(body) } catch { throw TrustStore.failure(error, file) }
    }

    /// As `writing`, and on the disk when it returns: for what must outlast a power cut that a key file outlasts.
    func writingDurably(_ body: @escaping @Sendable (GRDB.Database) throws -> Void) async throws(SealKitError) {
        do {
            try await database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                defer { try? db.execute(sql: "PRAGMA synchronous = NORMAL") }
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
            }
        } catch { throw TrustStore.failure(error, file) }
    }

    // MARK: Rosters

    /// - Parameter first: the sequence of the first one.
    func entries(scope: Digest, from first: UInt64 = 0) async throws(SealKitError) -> [SignedRosterEntry] {
        let (key, first) = (Data(scope.bytes), Int64(clamping: first))
        return try await reading { db in
            try Row.fetchAll(
                db, sql: "SELECT bytes, signature FROM entry WHERE scope = ? AND sequence >= ? ORDER BY sequence",
                arguments: [key, first]
            ).map { SignedRosterEntry(bytes: [UInt8]($0[0] as Data), signature: [UInt8]($0[1] as Data)) }
        }
    }

    /// `roster`: the scopes of the rosters that this device has, from one to the next by the index, past all their
    /// entries. A last row is NULL.
    static let rosterScopes = """
        WITH RECURSIVE roster (scope) AS (
            SELECT MIN(scope) FROM entry
            UNION ALL SELECT (SELECT MIN(scope) FROM entry WHERE scope > roster.scope) FROM roster WHERE roster.scope IS NOT NULL)
        """

    /// The first entry of every roster that this device has.
    func openings() async throws(SealKitError) -> [[UInt8]] {
        try await reading { db in
            try Data.fetchAll(
                db,
                sql: """
                    \(TrustStore.rosterScopes)
                    SELECT bytes FROM roster JOIN entry ON entry.scope = roster.scope AND sequence = 0
                    """
            ).map { [UInt8]($0) }
        }
    }

    static let differentRosters = SealKitError(
        .rollback, "two processes of this device were shown different rosters",
        remedy: "do not trust this server's answers; compare with the owner")

    /// Adds verified entries from `sequence` on. What is there stays: a log is only ever appended to.
    /// - Parameter absences: the entries by which this account went out of a zone as a whole: with the first process
    ///   that adds one, what was met there before ceases to count as there.
    /// - Parameter share: how far a hierarchical share has come with them; nil for a zone's own scope.
    func append(
        _ entries: [SignedRosterEntry], scope: Digest, from sequence: UInt64, absences: Set<UInt64>, share: ShareMarks?
    ) async throws(SealKitError) {
        guard !entries.isEmpty else { return }
        let key = Data(scope.bytes)
        try await writing { db in
            var wasOut = false
            for (offset, entry) in entries.enumerated() {
                let position = Int64(sequence) + Int64(offset)
                try db.execute(
                    sql:
                        "INSERT INTO entry (scope, sequence, bytes, signature) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    arguments: [key, position, Data(entry.bytes), Data(entry.signature)])
                guard db.changesCount == 0 else {
                    wasOut = wasOut || absences.contains(sequence + UInt64(offset))
                    continue
                }
                // Another process was faster: with the same entry, or with that of a fork.
                let held = try Data.fetchOne(
                    db, sql: "SELECT bytes FROM entry WHERE scope = ? AND sequence = ?", arguments: [key, position])
                guard held == Data(entry.bytes) else { throw TrustStore.differentRosters }
            }
            if wasOut { try TrustStore.noteAbsence(from: key, db) }
            if let share { try TrustStore.note(share, db) }
        }
    }
}
