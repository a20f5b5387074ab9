extension Migration {
    /// Grants by epoch, and what an upload has announced.
    static let grantsByEpoch = Migration(
        name: "grants-by-epoch",
        sql: """
            CREATE TABLE epoch_grant_new (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                kind BIGINT NOT NULL,
                subject BLOB NOT NULL,
                epoch BIGINT NOT NULL,
                sealed BLOB NOT NULL,
                PRIMARY KEY (owner, zone, kind, subject, epoch)
            );
            INSERT INTO epoch_grant_new (owner, zone, kind, subject, epoch, sealed)
                SELECT owner, zone, kind, subject, epoch, sealed FROM epoch_grant;
            DROP TABLE epoch_grant;
            ALTER TABLE epoch_grant_new RENAME TO epoch_grant;
            ALTER TABLE blob ADD COLUMN announced BIGINT NOT NULL DEFAULT 0;
            UPDATE blob SET announced = size WHERE size IS NOT NULL;
            CREATE INDEX blob_uploader ON blob (uploader, announced) WHERE record IS NULL;
            """)
}
