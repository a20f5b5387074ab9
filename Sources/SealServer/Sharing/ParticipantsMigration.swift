extension Migration {
    /// Who made a link, its share-wide secret as sealed to administrators, and who asked for access. Keyed as the zones'
    /// tables are; times are microseconds since 1970.
    static let participants = Migration(
        name: "participants",
        sql: """
            ALTER TABLE link ADD COLUMN maker BIGINT NOT NULL DEFAULT 0;
            UPDATE link SET maker = owner;
            CREATE TABLE sealed_link (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                reader BLOB NOT NULL,
                sealed BLOB NOT NULL,
                PRIMARY KEY (owner, zone, share, reader)
            );
            CREATE TABLE share_access (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                PRIMARY KEY (owner, zone, share)
            );
            CREATE TABLE access_request (
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                share BIGINT NOT NULL,
                requester BIGINT NOT NULL,
                request BLOB NOT NULL,
                contact BLOB NOT NULL,
                created BIGINT NOT NULL,
                approved BIGINT NOT NULL,
                PRIMARY KEY (owner, zone, share, requester)
            );
            CREATE INDEX access_request_requester ON access_request (requester, approved);
            """)
}
