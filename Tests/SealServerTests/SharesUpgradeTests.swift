import Foundation
import Testing

@testable import SealServer

/// A database of before there were several scopes in a zone.
@Suite struct SharesUpgradeTests {
    @Test func whatWasStoredBelongsToTheZonesOwnScope() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("db.sqlite")
        let before = Array(Migration.all.prefix { $0.name != Migration.hierarchicalShares.name })
        #expect(before.count < Migration.all.count)
        let old = try SQLiteDatabase(path: path, migrations: before)
        try await old.write { connection in
            try connection.runScript(
                """
                INSERT INTO roster_entry (owner, zone, sequence, position, entry, signature) VALUES (1, 1, 0, 1, 'e0', 's0'),
                    (1, 1, 1, 2, 'e1', 's1');
                INSERT INTO epoch_grant (owner, zone, kind, subject, epoch, sealed) VALUES (1, 1, 1, 'm', 0, 'g0'), (1, 1, 1, 'm', 1, 'g1');
                INSERT INTO link (owner, zone, invitation, routing, kept_secret, preview) VALUES (1, 1, 'i', 'r', 'k', 'p');
                INSERT INTO placeholder_address (owner, zone, invitation, address_hash) VALUES (1, 1, 'i', 'a');
                INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence)
                    VALUES (2, 1, 1, 1, 1, 7, 0, 0);
                INSERT INTO record (owner, zone, name, type, position, revision, hash, creator, created, modified, deleted, assets,
                    statement, proof, fields) VALUES (1, 1, 'note', 'Note', 3, 1, 'h', 'c', 1, 1, 0, 0, 's', 'p', 'f');
                """)
        }
        try await old.close()
        let new = try SQLiteDatabase(path: path, migrations: Migration.all)
        let found = try await new.read { connection in
            try [
                "SELECT COUNT(*) FROM roster_entry WHERE share = 0 AND entry = 'e' || sequence AND signature = 's' || sequence",
                "SELECT COUNT(*) FROM epoch_grant WHERE share = 0 AND sealed = 'g' || epoch",
                "SELECT COUNT(*) FROM link WHERE share = 0 AND routing = 'r' AND kept_secret = 'k' AND preview = 'p'",
                "SELECT COUNT(*) FROM placeholder_address WHERE share = 0 AND address_hash = 'a'",
                "SELECT COUNT(*) FROM zone_view WHERE partial = 0 AND since = 0 AND position = 7",
                "SELECT COUNT(*) FROM record WHERE share = 0 AND move IS NULL AND name = 'note'",
            ].map { sql in try connection.first(sql) { try $0.int64(0) } }
        }
        #expect(found == [2, 2, 1, 1, 1, 1])
        try await new.close()
    }
}
