import Foundation
import GRDB

/// When this device came to know what it knows, counted. An answer is held against what was known when it was asked
/// for: what this device has written or read since, in whichever process, says nothing against the server.
extension TrustStore {
    static let momentsSchema = """
        CREATE TABLE moment (last INTEGER NOT NULL);
        INSERT INTO moment (last) VALUES (0);
        """

    /// To be taken before the server is asked.
    func moment() async throws(SealKitError) -> Int64 { try await reading { [self] db in try lastMoment(db) } }

    /// What the caller's transaction notes, it notes at the next one.
    func lastMoment(_ db: GRDB.Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT last FROM moment")) ?? 0
    }

    func setMoment(_ moment: Int64, _ db: GRDB.Database) throws {
        try db.cachedStatement(sql: "UPDATE moment SET last = ?").execute(arguments: [moment])
    }

    /// Whether what is known of a record was noted after a moment; false where nobody has asked at one.
    func isNoted(
        _ name: String, _ zone: Data, _ incarnation: UInt32, after moment: Int64?, _ db: GRDB.Database
    ) throws -> Bool {
        guard let moment else { return false }
        let noted = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM seen WHERE zone = ?1 AND incarnation = ?2 AND name = ?3 AND noted > ?4)
                    OR EXISTS (SELECT 1 FROM went WHERE zone = ?1 AND incarnation = ?2 AND name = ?3 AND noted > ?4)
                """)
        return try Bool.fetchOne(noted, arguments: [zone, incarnation, name, moment]) ?? false
    }

    /// An answer that is older than what this device knows is a rollback, unless the device knew less when it asked.
    func judged(
        _ verdict: Verdict, of name: String, _ zone: Data, _ incarnation: UInt32, asked: Int64?, _ db: GRDB.Database
    ) throws -> Verdict {
        guard case .older = verdict, try isNoted(name, zone, incarnation, after: asked, db) else { return verdict }
        return .overtaken
    }
}
