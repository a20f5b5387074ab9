extension Migration {
    /// Zones with their rosters, grants and links, records, assets, and what each user sees of them. Every table is keyed
    /// first by the identity that owns its rows (`identity.id`); times are microseconds since 1970.
    static let zones = Migration(
        name: "zones",
        sql: """
            CREATE TABLE zone (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                container TEXT NOT NULL,
                environment BIGINT NOT NULL,
                owner_name TEXT NOT NULL,
                name TEXT NOT NULL,
                position BIGINT NOT NULL,
                incarnation BIGINT NOT NULL,
                sequence BIGINT NOT NULL,
                head BLOB NOT NULL,
                participants BIGINT NOT NULL,
                closed BIGINT NOT NULL,
                PRIMARY KEY (owner, zone),
                UNIQUE (owner, environment, name)
            );
            CREATE TABLE zone_view (
                viewer BIGINT NOT NULL,
                environment BIGINT NOT NULL,
                shared BIGINT NOT NULL,
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                position BIGINT NOT NULL,
                gone BIGINT NOT NULL,
                until_sequence BIGINT NOT NULL,
                PRIMARY KEY (viewer, environment, shared, owner, zone)
            );
            CREATE INDEX zone_view_feed ON zone_view (viewer, environment, shared, position);
            CREATE INDEX zone_view_zone ON zone_view (owner, zone, gone);
            CREATE TABLE roster_entry (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                sequence BIGINT NOT NULL,
                position BIGINT NOT NULL,
                entry BLOB NOT NULL,
                signature BLOB NOT NULL,
                PRIMARY KEY (owner, zone, sequence)
            );
            CREATE TABLE epoch_grant (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                kind BIGINT NOT NULL,
                subject BLOB NOT NULL,
                epoch BIGINT NOT NULL,
                sealed BLOB NOT NULL,
                PRIMARY KEY (owner, zone, kind, subject)
            );
            CREATE TABLE link (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                invitation BLOB NOT NULL,
                routing BLOB NOT NULL UNIQUE,
                kept_secret BLOB NOT NULL,
                preview BLOB NOT NULL,
                PRIMARY KEY (owner, zone, invitation)
            );
            CREATE TABLE placeholder_address (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                invitation BLOB NOT NULL,
                address_hash BLOB NOT NULL,
                PRIMARY KEY (owner, zone, invitation)
            );
            CREATE TABLE record (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                name TEXT NOT NULL,
                type TEXT NOT NULL,
                position BIGINT NOT NULL,
                revision BIGINT NOT NULL,
                hash BLOB NOT NULL,
                creator BLOB NOT NULL,
                parent TEXT,
                created BIGINT NOT NULL,
                modified BIGINT NOT NULL,
                deleted BIGINT NOT NULL,
                assets BIGINT NOT NULL,
                statement BLOB NOT NULL,
                proof BLOB NOT NULL,
                fields BLOB NOT NULL,
                PRIMARY KEY (owner, zone, name)
            );
            CREATE INDEX record_feed ON record (owner, zone, position);
            CREATE INDEX record_parent ON record (owner, zone, parent) WHERE parent IS NOT NULL;
            CREATE TABLE blob (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                id TEXT NOT NULL,
                uploader BIGINT NOT NULL,
                stored TEXT NOT NULL,
                size BIGINT,
                created BIGINT NOT NULL,
                record TEXT,
                field TEXT,
                PRIMARY KEY (owner, zone, id)
            );
            CREATE INDEX blob_record ON blob (owner, zone, record) WHERE record IS NOT NULL;
            CREATE INDEX blob_staged ON blob (created) WHERE record IS NULL;
            CREATE TABLE blob_garbage (
                stored TEXT NOT NULL PRIMARY KEY
            );
            CREATE TABLE operation (
                account BIGINT NOT NULL,
                id BLOB NOT NULL,
                kind TEXT NOT NULL,
                response BLOB NOT NULL,
                created BIGINT NOT NULL,
                PRIMARY KEY (account, id)
            );
            CREATE INDEX operation_created ON operation (created);
            """)
}
