extension Migration {
    /// Records that came from another scope with a key that was known there. Of those that are stored, what left a share or
    /// came out of a zone whose roster has a history is taken for one: at worst it is sealed again once more.
    static let knownKeys = Migration(
        name: "known-keys",
        sql: """
            ALTER TABLE record ADD COLUMN key_known BIGINT NOT NULL DEFAULT 0;
            UPDATE record SET key_known = 1 WHERE deleted = 0 AND move_hash = hash AND (
                EXISTS (SELECT 1 FROM departure d WHERE d.owner = record.owner AND d.zone = record.zone
                    AND d.name = record.name AND d.hash = record.hash)
                OR EXISTS (SELECT 1 FROM zone z WHERE z.owner = record.owner AND z.zone = record.zone AND z.sequence > 0));
            CREATE INDEX record_known_key ON record (owner, zone, share, position) WHERE key_known = 1;
            """)
}
