extension Migration {
    /// Change tags of their own, the index of `deleteSelf` references, what proves a deletion that nobody signed, and how far
    /// a zone's old deletions have left its feed.
    static let recordCascades = Migration(
        name: "record-cascades",
        sql: """
            ALTER TABLE record ADD COLUMN tag BIGINT NOT NULL DEFAULT 0;
            UPDATE record SET tag = position;
            ALTER TABLE record ADD COLUMN delete_references BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE record ADD COLUMN went_with BIGINT;
            CREATE INDEX record_tombstone ON record (modified) WHERE deleted = 1 AND position > 0;
            CREATE TABLE delete_reference (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                target TEXT NOT NULL,
                source TEXT NOT NULL,
                field TEXT NOT NULL,
                PRIMARY KEY (owner, zone, target, source, field)
            );
            CREATE INDEX delete_reference_source ON delete_reference (owner, zone, source);
            CREATE TABLE derived_step (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                deletion BIGINT NOT NULL,
                name TEXT NOT NULL,
                next TEXT,
                field TEXT NOT NULL,
                record BLOB NOT NULL,
                PRIMARY KEY (owner, zone, deletion, name)
            );
            ALTER TABLE zone ADD COLUMN compacted BIGINT NOT NULL DEFAULT 0;
            """)
}
