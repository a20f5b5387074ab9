/// What was uploaded, by zone, the parts of uploads that are open, and files that nobody needs any more. Times are
/// microseconds since 1970; `content` is the length of the chunks of what comes in parts.
extension Tables {
    static let assets: [Table] = [
        Table(
            "blob", key: "owner, zone, id", whose: .zone, erased: .withZone(.withFiles),
            billed: .rows(.init(values: [], amounts: ["size", "announced"])),
            mentions: [.init("uploader", .erased(where: "record IS NULL"))],
            history: [
                .baseline: """
                CREATE TABLE blob (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    id TEXT NOT NULL,
                    uploader BIGINT NOT NULL,
                    stored TEXT NOT NULL,
                    announced BIGINT NOT NULL,
                    content BIGINT,
                    size BIGINT,
                    root BLOB,
                    created BIGINT NOT NULL,
                    record TEXT,
                    field TEXT,
                    PRIMARY KEY (owner, zone, id)
                );
                CREATE INDEX blob_record ON blob (owner, zone, record) WHERE record IS NOT NULL;
                CREATE INDEX blob_staged ON blob (created) WHERE record IS NULL;
                CREATE INDEX blob_uploader ON blob (uploader, announced) WHERE record IS NULL;
                CREATE INDEX blob_open ON blob (uploader) WHERE size IS NULL AND content IS NOT NULL;
                """,
                // For what compares a listing of the store with the rows.
                .timesOfGarbage: "CREATE INDEX blob_stored ON blob (stored);",
            ]),
        Table(
            "asset_part", key: "owner, zone, id, part", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["leaves"])),
            history: [
                .baseline: """
                CREATE TABLE asset_part (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    id TEXT NOT NULL,
                    part BIGINT NOT NULL,
                    stored BIGINT NOT NULL,
                    leaves BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, id, part),
                    FOREIGN KEY (owner, zone, id) REFERENCES blob (owner, zone, id) ON DELETE CASCADE
                );
                """
            ]),
        Table(
            "blob_garbage", key: "stored", whose: .server, erased: .kept("what is being deleted"),
            billed: .free("what is being deleted"),
            history: [
                .baseline: """
                CREATE TABLE blob_garbage (
                    stored TEXT NOT NULL PRIMARY KEY
                );
                """,
                // When the collector first saw it; null until then.
                .timesOfGarbage: """
                ALTER TABLE blob_garbage ADD COLUMN since BIGINT;
                CREATE INDEX blob_garbage_since ON blob_garbage (since);
                """,
            ]),
    ]
}
