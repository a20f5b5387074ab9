public import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// What a device has verified and must never see undone: rosters, the revision and hash of every record, how far each feed
/// was read without a gap, and the keys that people are known by; and what did not verify. It holds no secret key and no
/// plaintext.
///
/// Losing it loses protection against rollback until everything was seen again, so keep it beside the key file.
public final class TrustStore: Sendable {
    private let database: DatabaseQueue
    private let file: URL?

    /// Kept in a file, mode 0600; nil for one that lasts as long as the process.
    /// - Throws: `internalError` when the file is damaged, or it or its folder cannot be written to; `storageFull`.
    public init(file: URL? = nil) throws(SealKitError) {
        self.file = file
        do {
            if let file {
                if !FileManager.default.fileExists(atPath: file.path) {
                    _ = FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
                }
                var configuration = Configuration()
                configuration.busyMode = .timeout(10)
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
                database = try DatabaseQueue(path: file.path, configuration: configuration)
            } else {
                database = try DatabaseQueue()
            }
            try database.write { db in
                let schemas = [
                    TrustStore.schema, TrustStore.scopesSchema, TrustStore.contactsSchema, TrustStore.violationsSchema,
                    TrustStore.devicesSchema, TrustStore.grantsSchema, TrustStore.keysSchema, TrustStore.resetSchema,
                ]
                for schema in schemas {
                    try db.execute(sql: schema)
                }
            }
        } catch {
            throw TrustStore.failure(error, file)
        }
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS entry (
            scope BLOB NOT NULL, sequence INTEGER NOT NULL, bytes BLOB NOT NULL, signature BLOB NOT NULL,
            PRIMARY KEY (scope, sequence)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS seen (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL,
            hash BLOB NOT NULL, PRIMARY KEY (zone, incarnation, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS feed (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, token BLOB NOT NULL, caughtUpEpoch INTEGER,
            PRIMARY KEY (zone, incarnation)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS went (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, name TEXT NOT NULL, hash BLOB NOT NULL,
            PRIMARY KEY (zone, incarnation, name)) WITHOUT ROWID;
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

    /// The first entry of every roster that this device has.
    func openings() async throws(SealKitError) -> [[UInt8]] {
        try await reading { db in
            try Data.fetchAll(db, sql: "SELECT bytes FROM entry WHERE sequence = 0").map { [UInt8]($0) }
        }
    }

    /// Adds verified entries from `sequence` on. What is there stays: a log is only ever appended to.
    func append(_ entries: [SignedRosterEntry], scope: Digest, from sequence: UInt64) async throws(SealKitError) {
        guard !entries.isEmpty else { return }
        let key = Data(scope.bytes)
        try await writing { db in
            for (offset, entry) in entries.enumerated() {
                let position = Int64(sequence) + Int64(offset)
                try db.execute(
                    sql: "INSERT INTO entry (scope, sequence, bytes, signature) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    arguments: [key, position, Data(entry.bytes), Data(entry.signature)])
                guard db.changesCount == 0 else { continue }
                // Another process was faster: with the same entry, or with that of a fork.
                let held = try Data.fetchOne(
                    db, sql: "SELECT bytes FROM entry WHERE scope = ? AND sequence = ?", arguments: [key, position])
                guard held == Data(entry.bytes) else {
                    throw SealKitError(
                        .rollback, "two processes of this device were shown different rosters",
                        remedy: "do not trust this server's answers; compare with the owner")
                }
            }
        }
    }

    // MARK: Records

    struct Sighting: Sendable {
        let recordName: String
        let revision: UInt64
        let hash: Digest
        /// The hash that the statement names as its predecessor's.
        let previous: Digest
        let epoch: UInt32
        /// For a record that went with the target of a reference: what the notice rests on, each its record's newest
        /// statement. First those of the records in between, last the target's deletion.
        let grounds: [Cited]
        let isDeletion: Bool
        /// Where the record is with this statement, and how it came there.
        let stay: Stay
        /// Nobody deleted the record itself.
        var isDerived: Bool { !grounds.isEmpty }

        struct Cited: Sendable {
            let recordName: String
            let revision: UInt64
            let hash: Digest
            let previous: Digest
            let epoch: UInt32

            init(_ verified: VerifiedStatement) {
                recordName = verified.statement.recordName
                revision = verified.statement.revision
                hash = verified.hash
                previous = verified.statement.previous
                epoch = verified.statement.epoch
            }
        }

        /// - Parameter grounds: for a record that went with the target of a reference.
        init(
            _ verified: VerifiedStatement, grounds: [VerifiedStatement] = [], moved: VerifiedStatement? = nil,
            isDeparture: Bool = false
        ) {
            self.init(verified.statement, hash: verified.hash, grounds: grounds, moved: moved, isDeparture: isDeparture)
        }

        /// - Parameters:
        ///   - moved: what brought the record where it is, if that came along.
        ///   - isDeparture: it took the record where this account does not see it.
        init(
            _ statement: SealStatements.Statement, hash: Digest, grounds: [VerifiedStatement] = [],
            moved: VerifiedStatement? = nil, isDeparture: Bool = false
        ) {
            stay = Stay(statement, moved: moved)
            self.grounds = grounds.map { Cited($0) }
            isDeletion = !grounds.isEmpty || statement.kind == .delete || isDeparture
            recordName = statement.recordName
            revision = statement.revision
            self.hash = hash
            previous = statement.previous
            epoch = statement.epoch
        }
    }

    /// A zone's life, or a public database.
    struct Place: Sendable {
        let zone: Digest
        let incarnation: UInt32
    }

    enum Verdict: Sendable {
        case accepted
        /// The record is said to have gone with one that this device knows in a later revision.
        case outlived
        /// The deletion of a record that this device has never seen, under an epoch that it has read past.
        case unknownDeletion
        case older
        /// It is in another scope than before, and its owner did not move it there.
        case misplaced
        case forked
        case backdated
    }

    /// Judges verified statements against what this device has seen, and remembers those that it accepts.
    ///
    /// A lower revision, another statement with the same number, and a statement that was never seen under an epoch that
    /// this device has read past are refused.
    func admit(_ sightings: [Sighting], zone: Digest, incarnation: UInt32) async throws(SealKitError) -> [Verdict] {
        guard !sightings.isEmpty else { return [] }
        let key = Data(zone.bytes)
        return try await writing { [self] db in
            var marks = try ScopeMarks(zone: zone, incarnation: incarnation, db)
            var verdicts: [Verdict] = []
            verdicts.reserveCapacity(sightings.count)
            for sighting in sightings {
                let revision = Int64(bitPattern: sighting.revision)
                let hash = Data(sighting.hash.bytes)
                if let verdict = try derived(sighting, key, incarnation, db) { verdicts.append(verdict); continue }
                let known = try seen(sighting.recordName, key, incarnation, db)
                if let known {
                    if revision < known.revision { verdicts.append(.older); continue }
                    if revision == known.revision, hash != known.hash { verdicts.append(.forked); continue }
                    if revision == known.revision, !sighting.isDerived { verdicts.append(.accepted); continue }
                    if revision == known.revision + 1, Data(sighting.previous.bytes) != known.hash {
                        verdicts.append(.forked)
                        continue
                    }
                    if !marks.arePlain(sighting), try !staysOrWasMoved(sighting, key, incarnation, db) {
                        verdicts.append(.misplaced)
                        continue
                    }
                }
                if let caughtUp = try marks.caughtUp(in: sighting.stay.place, db),
                    try isBackdated(sighting, known: known, before: caughtUp, key, incarnation, db)
                {
                    // That something is gone which this device never had takes nothing from it, and an old deletion
                    // may have left the feed. It is not remembered.
                    verdicts.append(known == nil && sighting.isDeletion ? .unknownDeletion : .backdated)
                    continue
                }
                try remember(sighting.recordName, revision, hash, key, incarnation, db)
                try noteGone(sighting, key, incarnation, db)
                if !marks.arePlain(sighting) {
                    try noteStay(sighting, key, incarnation, db)
                    marks.hasStays = true
                }
                verdicts.append(.accepted)
            }
            return verdicts
        }
    }

    /// Whether this device has seen the record in the zone's present life.
    /// - Parameter scopes: those that are still this account's to read, where that is not all of the zone: what it knows from
    ///   another one it may not see any more.
    func hasSeen(
        _ recordName: String, in place: Place, scopes: Set<ScopePlace>? = nil
    ) async throws(SealKitError) -> Bool {
        let readable = scopes.map { $0.map(\.data) }
        let key = Data(place.zone.bytes)
        let incarnation = place.incarnation
        return try await reading { db in
            guard try self.seen(recordName, key, incarnation, db) != nil else { return false }
            guard let readable else { return true }
            let last = try Data.fetchOne(
                db, sql: "SELECT place FROM stay WHERE zone = ? AND incarnation = ? AND name = ?",
                arguments: [key, incarnation, recordName])
            return last.map { readable.contains($0) } ?? false
        }
    }

    // MARK: Feeds

    /// Notes that the feed was read from `since` to `token`; only a reading that starts where the last one ended, or at
    /// the beginning, counts.
    func advance(
        zone: Digest, incarnation: UInt32, since: Data?, token: Data, caughtUp: [ScopePlace: UInt32]
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
                    """, arguments: [key, incarnation, token, caughtUp[ScopePlace(zone, incarnation)].map { Int64($0) }])
            for (place, epoch) in caughtUp { try noteRead(place, epoch, db) }
        }
    }
}
