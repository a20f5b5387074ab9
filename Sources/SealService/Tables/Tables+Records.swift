/// Records, what left a scope, the index of `deleteSelf` references, and what proves a deletion that nobody signed.
/// Keyed as the zones' tables are; times are microseconds since 1970. `key_known` is of records that came from another
/// scope with a key that was known there. The index of creators is for public databases alone, whose numbers are
/// negative: saves in zones do not pay for it.
extension Tables {
    static let records: [Table] = [
        Table(
            "record", key: "owner, zone, name", whose: .zone,
            erased: .withZone(.bySize(of: "fields", inOrderOf: "name")),
            billed: .rows(
                .init(
                    values: ["fields", "move"], overhead: Billing.recordOverhead, isRecord: "deleted = 0",
                    isReported: true)),
            history: [
                .baseline: """
                CREATE TABLE record (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    name TEXT NOT NULL,
                    share BIGINT NOT NULL,
                    type TEXT NOT NULL,
                    position BIGINT NOT NULL,
                    tag BIGINT NOT NULL,
                    revision BIGINT NOT NULL,
                    hash BLOB NOT NULL,
                    creator BLOB NOT NULL,
                    parent TEXT,
                    created BIGINT NOT NULL,
                    modified BIGINT NOT NULL,
                    deleted BIGINT NOT NULL,
                    assets BIGINT NOT NULL,
                    delete_references BIGINT NOT NULL,
                    key_known BIGINT NOT NULL,
                    went_with BIGINT,
                    move_hash BLOB,
                    move BLOB,
                    statement BLOB NOT NULL,
                    proof BLOB NOT NULL,
                    fields BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, name)
                );
                CREATE INDEX record_feed ON record (owner, zone, position);
                CREATE INDEX record_known_key ON record (owner, zone, share, position) WHERE key_known = 1;
                CREATE INDEX record_parent ON record (owner, zone, parent, name) WHERE parent IS NOT NULL AND deleted = 0;
                CREATE INDEX record_public_creator ON record (owner, zone, creator, name) WHERE owner < 0 AND deleted = 0;
                CREATE INDEX record_share ON record (owner, zone, share, position) WHERE share > 0;
                CREATE INDEX record_tombstone ON record (modified) WHERE deleted = 1 AND position > 0;
                """,
                .feedsByScope: """
                DROP INDEX record_feed;
                CREATE INDEX record_feed ON record (owner, zone, position) WHERE share = 0;
                CREATE INDEX record_feed_shared ON record (owner, zone, position) WHERE share > 0;
                """,
            ]),
        Table(
            "departure", key: "owner, zone, share, name", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["statement", "proof", "fields", "move"])),
            history: [
                .baseline: """
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
                """
            ]),
        Table(
            "unsettled_parent", key: "owner, zone, name", whose: .zone, erased: .withZone(.byKey),
            billed: .free("one a record"),
            history: [
                .baseline: """
                CREATE TABLE unsettled_parent (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    name TEXT NOT NULL,
                    settled TEXT NOT NULL,
                    PRIMARY KEY (owner, zone, name)
                );
                """
            ]),
        Table(
            "unsettled_share", key: "owner, zone, share", whose: .zone, erased: .withZone(.byKey),
            billed: .free("one a share"),
            history: [
                .baseline: """
                CREATE TABLE unsettled_share (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    settled BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, share)
                );
                """
            ]),
        Table(
            "roots_below", key: "owner, zone, name", whose: .zone, erased: .withZone(.byKey),
            billed: .free("one a record"),
            history: [
                .baseline: """
                CREATE TABLE roots_below (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    name TEXT NOT NULL,
                    roots BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, name)
                );
                """
            ]),
        Table(
            "delete_reference", key: "owner, zone, target, source, field", whose: .zone, erased: .withZone(.byKey),
            billed: .free("follows from a record"),
            history: [
                .baseline: """
                CREATE TABLE delete_reference (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    target TEXT NOT NULL,
                    source TEXT NOT NULL,
                    field TEXT NOT NULL,
                    PRIMARY KEY (owner, zone, target, source, field)
                );
                CREATE INDEX delete_reference_source ON delete_reference (owner, zone, source);
                """
            ]),
        Table(
            "taken_deletion", key: "owner, zone, deletion", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["tombstone"])),
            history: [
                .baseline: """
                CREATE TABLE taken_deletion (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    deletion BIGINT NOT NULL,
                    records BIGINT NOT NULL,
                    tombstone BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, deletion)
                );
                """
            ]),
        Table(
            "taken_record", key: "owner, zone, deletion, name", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["path"])),
            history: [
                .baseline: """
                CREATE TABLE taken_record (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    deletion BIGINT NOT NULL,
                    name TEXT NOT NULL,
                    leaf BIGINT NOT NULL,
                    path BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, deletion, name)
                );
                """
            ]),
    ]
}
