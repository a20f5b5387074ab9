extension Migration {
    /// Hierarchical shares: several scopes a zone. What belongs to a scope says to which share's; 0 is the zone's own.
    static let hierarchicalShares = Migration(
        name: "hierarchical-shares",
        sql: """
            ALTER TABLE zone ADD COLUMN shares BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE zone_view ADD COLUMN partial BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE zone_view ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
            CREATE TABLE share (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                record_name TEXT NOT NULL,
                scope_id BLOB NOT NULL,
                root TEXT NOT NULL,
                sequence BIGINT NOT NULL,
                head BLOB NOT NULL,
                participants BIGINT NOT NULL,
                closed BIGINT NOT NULL,
                PRIMARY KEY (owner, zone, share),
                UNIQUE (owner, zone, record_name),
                UNIQUE (owner, zone, scope_id)
            );
            CREATE UNIQUE INDEX share_root ON share (owner, zone, root) WHERE closed = 0;
            CREATE TABLE share_view (
                viewer BIGINT NOT NULL,
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                gone BIGINT NOT NULL,
                until_sequence BIGINT NOT NULL,
                PRIMARY KEY (viewer, owner, zone, share)
            );
            CREATE INDEX share_view_share ON share_view (owner, zone, share);

            CREATE TABLE roster_entry_new (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                sequence BIGINT NOT NULL,
                position BIGINT NOT NULL,
                entry BLOB NOT NULL,
                signature BLOB NOT NULL,
                PRIMARY KEY (owner, zone, share, sequence)
            );
            INSERT INTO roster_entry_new (owner, zone, share, sequence, position, entry, signature)
                SELECT owner, zone, 0, sequence, position, entry, signature FROM roster_entry;
            DROP TABLE roster_entry;
            ALTER TABLE roster_entry_new RENAME TO roster_entry;

            CREATE TABLE epoch_grant_new (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                kind BIGINT NOT NULL,
                subject BLOB NOT NULL,
                epoch BIGINT NOT NULL,
                sealed BLOB NOT NULL,
                PRIMARY KEY (owner, zone, share, kind, subject, epoch)
            );
            INSERT INTO epoch_grant_new (owner, zone, share, kind, subject, epoch, sealed)
                SELECT owner, zone, 0, kind, subject, epoch, sealed FROM epoch_grant;
            DROP TABLE epoch_grant;
            ALTER TABLE epoch_grant_new RENAME TO epoch_grant;

            CREATE TABLE link_new (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                invitation BLOB NOT NULL,
                routing BLOB NOT NULL UNIQUE,
                kept_secret BLOB NOT NULL,
                preview BLOB NOT NULL,
                PRIMARY KEY (owner, zone, share, invitation)
            );
            INSERT INTO link_new (owner, zone, share, invitation, routing, kept_secret, preview)
                SELECT owner, zone, 0, invitation, routing, kept_secret, preview FROM link;
            DROP TABLE link;
            ALTER TABLE link_new RENAME TO link;

            CREATE TABLE placeholder_address_new (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                invitation BLOB NOT NULL,
                address_hash BLOB NOT NULL,
                PRIMARY KEY (owner, zone, share, invitation)
            );
            INSERT INTO placeholder_address_new (owner, zone, share, invitation, address_hash)
                SELECT owner, zone, 0, invitation, address_hash FROM placeholder_address;
            DROP TABLE placeholder_address;
            ALTER TABLE placeholder_address_new RENAME TO placeholder_address;

            ALTER TABLE record ADD COLUMN share BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE record ADD COLUMN move BLOB;
            ALTER TABLE record ADD COLUMN move_hash BLOB;
            CREATE INDEX record_share ON record (owner, zone, share, position) WHERE share > 0;
            CREATE TABLE departure (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                name TEXT NOT NULL,
                type TEXT NOT NULL,
                position BIGINT NOT NULL,
                created BIGINT NOT NULL,
                modified BIGINT NOT NULL,
                hash BLOB NOT NULL,
                statement BLOB NOT NULL,
                proof BLOB NOT NULL,
                fields BLOB NOT NULL,
                move BLOB,
                PRIMARY KEY (owner, zone, share, name)
            );
            CREATE INDEX departure_feed ON departure (owner, zone, share, position);
            CREATE TABLE unsettled_parent (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                name TEXT NOT NULL,
                PRIMARY KEY (owner, zone, name)
            );
            """)
}
