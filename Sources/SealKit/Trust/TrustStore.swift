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

    /// Kept in a file, mode 0600; nil for one that lasts as long as the process.
    /// - Throws: `internalError` when the file is damaged, or it or its folder cannot be written to; `storageFull`;
    ///   `incompatibleVersion` for one that another version made.
    public init(file: URL? = nil) throws(SealKitError) {
        self.file = file
        do {
            if let file {
                if !FileManager.default.fileExists(atPath: file.path) {
                    _ = FileManager.default.createFile(
                        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
                }
                var configuration = Configuration()
                configuration.busyMode = .timeout(10)
                configuration.prepareDatabase {
                    try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
                }
                database = try DatabaseQueue(path: file.path, configuration: configuration)
            } else {
                database = try DatabaseQueue()
            }
            try database.write { [file] db in try TrustStore.migrate(db, file) }
        } catch {
            throw TrustStore.failure(error, file)
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

    func entries(scope: Digest) async throws(SealKitError) -> [SignedRosterEntry] {
        let key = Data(scope.bytes)
        return try await reading { db in
            try Row.fetchAll(
                db, sql: "SELECT bytes, signature FROM entry WHERE scope = ? ORDER BY sequence", arguments: [key]
            ).map { SignedRosterEntry(bytes: [UInt8]($0[0] as Data), signature: [UInt8]($0[1] as Data)) }
        }
    }

    /// The first entry of every roster that this device has: from one to the next by the index, past all their other
    /// entries.
    func openings() async throws(SealKitError) -> [[UInt8]] {
        try await reading { db in
            try Data.fetchAll(
                db,
                sql: """
                    WITH RECURSIVE roster (scope) AS (
                        SELECT MIN(scope) FROM entry
                        UNION ALL SELECT (SELECT MIN(scope) FROM entry WHERE scope > roster.scope) FROM roster WHERE roster.scope IS NOT NULL)
                    SELECT bytes FROM roster JOIN entry ON entry.scope = roster.scope AND sequence = 0
                    """
            ).map { [UInt8]($0) }
        }
    }

    /// Adds verified entries from `sequence` on. What is there stays: a log is only ever appended to.
    /// - Parameter absences: the entries by which this account went out of a zone as a whole: with the first process
    ///   that adds one, what was met there before ceases to count as there.
    func append(
        _ entries: [SignedRosterEntry], scope: Digest, from sequence: UInt64, absences: Set<UInt64>
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
                guard held == Data(entry.bytes) else {
                    throw SealKitError(
                        .rollback, "two processes of this device were shown different rosters",
                        remedy: "do not trust this server's answers; compare with the owner")
                }
            }
            if wasOut { try TrustStore.noteAbsence(from: key, db) }
        }
    }

    // MARK: Records

    /// An object: it goes through many hands, and a statement is much to copy.
    final class Sighting: Sendable {
        let statement: SealStatements.Statement
        let hash: Digest
        /// What brought the record into its scope, by an earlier revision, where that came along.
        let moved: VerifiedStatement?
        let role: Role
        /// The statement took the record where this account does not see it.
        let isDeparture: Bool

        var recordName: String { statement.recordName }
        var revision: UInt64 { statement.revision }
        var place: ScopePlace { ScopePlace(statement.place) }
        var isDeletion: Bool { if case .gone = role { true } else { statement.kind == .delete || isDeparture } }

        /// What is said of the record with this statement.
        enum Role: Sendable {
            /// It has come to this.
            case newest
            /// It went like this with the target of a reference, whose deletion covers the statement.
            case gone(with: Deletion)
            /// It is to be covered like this by a deletion that this device signs.
            case covered
        }

        struct Deletion: Sendable {
            let recordName: String
            let hash: Digest
            let epoch: UInt32

            init(_ verified: VerifiedStatement) { self.init(verified.statement, hash: verified.hash) }

            init(_ statement: SealStatements.Statement, hash: Digest) {
                (recordName, epoch, self.hash) = (statement.recordName, statement.epoch, hash)
            }
        }

        /// The deletion that the record went with; nobody deleted the record itself.
        var deletion: Deletion? { if case .gone(let deletion) = role { deletion } else { nil } }

        convenience init(
            _ verified: VerifiedStatement, moved: VerifiedStatement? = nil, role: Role = .newest,
            isDeparture: Bool = false
        ) {
            self.init(verified.statement, hash: verified.hash, moved: moved, role: role, isDeparture: isDeparture)
        }

        /// - Parameters:
        ///   - moved: what brought the record where it is, if that came along.
        ///   - isDeparture: it took the record where this account does not see it.
        init(
            _ statement: SealStatements.Statement, hash: Digest, moved: VerifiedStatement? = nil, role: Role = .newest,
            isDeparture: Bool = false
        ) {
            self.statement = statement
            self.hash = hash
            self.moved = moved
            self.role = role
            self.isDeparture = isDeparture
        }
    }

    /// A zone's life, or a public database.
    struct Place: Sendable {
        let zone: Digest
        let incarnation: UInt32
    }

    enum Verdict: Sendable {
        case accepted
        /// The deletion of a record that this device has never seen, under an epoch that it has read past, or that a
        /// record left a share before it was seen where this account may not read any more. It takes nothing.
        case unknownDeletion
        case older
        /// It is older than what this device has come to know of the record since it asked.
        case overtaken
        /// It is in another scope than before, and its owner did not move it there.
        case misplaced
        /// It is of another type than before, or somebody else's work.
        case changed
        /// It cites an older head of its scope's roster than what was seen of it.
        case behind
        case forked
        case backdated
    }

    /// Judges verified statements against what this device has seen, and remembers those that it accepts.
    ///
    /// A lower revision, another statement with the same number, one that what was seen cannot have become, and one
    /// that was never seen under an epoch that this device has read past are refused.
    /// - Parameters:
    ///   - asked: the moment at which the server was asked; nil for what is no answer.
    ///   - accepted: late statements that the user has accepted all the same.
    func admit(
        _ sightings: [Sighting], zone: Digest, incarnation: UInt32, asked: Int64? = nil, accepted: LateStatements? = nil
    ) async throws(SealKitError) -> [Verdict] {
        guard !sightings.isEmpty else { return [] }
        let key = Data(zone.bytes)
        return try await writing { [self] db in
            var marks = try ScopeMarks(zone: zone, incarnation: incarnation, db)
            // Where nothing ever went, nobody has to be asked about each record.
            var anyGone = try hasAnyGone(key, incarnation, db)
            // All that this transaction notes is noted at one moment.
            let now = try lastMoment(db) + 1
            var hasNoted = false
            // Where one record is new, so are those beside it, as a rule.
            var expectsNew = true
            var verdicts: [Verdict] = []
            verdicts.reserveCapacity(sightings.count)
            for sighting in sightings {
                let name = sighting.recordName
                if anyGone, let verdict = try derived(sighting, key, incarnation, db) {
                    verdicts.append(try judged(verdict, of: name, key, incarnation, asked: asked, db))
                    continue
                }
                let caughtUp = try marks.caughtUp(in: sighting.place, db)
                let mayBeNew =
                    sighting.revision == 1 && sighting.deletion == nil
                    && caughtUp ?? .min <= Int64(sighting.statement.epoch)
                if mayBeNew, expectsNew {
                    if try remember(sighting, key, incarnation, marks.ownPlace, at: now, onlyNew: true, db) {
                        hasNoted = true
                        verdicts.append(.accepted)
                        continue
                    }
                    expectsNew = false
                }
                let known: SeenStatement?
                switch try met(sighting, key, incarnation, db) {
                case .never:
                    known = nil
                    if mayBeNew { expectsNew = true }
                case .inThis:
                    verdicts.append(.accepted)
                    continue
                case .inThisBeforeAbsence:
                    try remember(sighting, key, incarnation, marks.ownPlace, at: now, db)
                    hasNoted = true
                    verdicts.append(.accepted)
                    continue
                case .inAnother(let seen): known = seen
                }
                if let known, let verdict = sighting.verdict(after: known) {
                    verdicts.append(try judged(verdict, of: name, key, incarnation, asked: asked, db))
                    continue
                }
                if let caughtUp, try isBackdated(sighting, known: known, before: caughtUp, key, incarnation, db) {
                    // That something is gone which this device never had takes nothing from it, and an old deletion
                    // may have left the feed. It is not remembered.
                    guard let accepted, accepted.include(sighting) else {
                        verdicts.append(known == nil && sighting.isDeletion ? .unknownDeletion : .backdated)
                        continue
                    }
                    try note(sighting, accepted, db)
                }
                try remember(sighting, key, incarnation, marks.ownPlace, at: now, db)
                hasNoted = true
                if sighting.deletion != nil {
                    try noteGone(sighting, key, incarnation, at: now, db)
                    anyGone = true
                }
                verdicts.append(.accepted)
            }
            if hasNoted { try setMoment(now, db) }
            return verdicts
        }
    }

    /// Whether this device has seen the record in the zone's present life, and whether only since it asked.
    enum Memory: Sendable {
        case unseen
        case seen
        case seenSince
    }

    /// - Parameters:
    ///   - scopes: those that are still this account's to read, where that is not all of the zone: what it knows from
    ///     another one it may not see any more.
    ///   - asked: the moment at which the server was asked.
    func memory(
        of recordName: String, in place: Place, scopes: Set<ScopePlace>? = nil, asked: Int64?
    ) async throws(SealKitError) -> Memory {
        let key = Data(place.zone.bytes)
        let incarnation = place.incarnation
        return try await reading { [self] db in
            guard let seen = try seenSinceAbsence(recordName, key, incarnation, db),
                scopes?.contains(ScopePlace(seen.place)) ?? true
            else { return .unseen }
            return try isNoted(recordName, key, incarnation, after: asked, db) ? .seenSince : .seen
        }
    }

    // MARK: Feeds

    /// Notes that the feed was read from `since` to `token`; only a reading that starts where the last one ended, or at
    /// the beginning, counts.
    func advance(
        zone: Digest, incarnation: UInt32, since: Data?, token: Data, caughtUp: [ScopePlace: Int64]
    ) async throws(SealKitError) {
        let key = Data(zone.bytes)
        try await writing { [self] db in
            let last = try Data.fetchOne(
                db, sql: "SELECT token FROM feed WHERE zone = ? AND incarnation = ?", arguments: [key, incarnation])
            guard since == nil || since == last else { return }
            try db.execute(
                sql: """
                    INSERT INTO feed (zone, incarnation, token, caughtUpEpoch) VALUES (?, ?, ?, ?)
                    ON CONFLICT (zone, incarnation) DO UPDATE SET token = excluded.token,
                        caughtUpEpoch = MAX(COALESCE(caughtUpEpoch, 0), COALESCE(excluded.caughtUpEpoch, 0))
                    """, arguments: [key, incarnation, token, caughtUp[ScopePlace(zone, incarnation)]])
            for (place, epoch) in caughtUp { try noteRead(place, epoch, db) }
        }
    }
}
