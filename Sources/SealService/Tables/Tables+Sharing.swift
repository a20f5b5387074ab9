/// Rosters with their grants and links, who asked for access, scopes whose rosters were given back to a server that had
/// lost them, and branches of rosters that their owners have given up. Keyed as the zones' tables are; times are
/// microseconds since 1970.
extension Tables {
    static let sharing: [Table] = [
        Table(
            "roster_entry", key: "owner, zone, share, sequence", whose: .zone, erased: .unlessSeen,
            billed: .rows(.init(values: ["entry", "signature"])),
            history: [
                .baseline: """
                CREATE TABLE roster_entry (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    sequence BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    entry BLOB NOT NULL,
                    signature BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, share, sequence)
                );
                """
            ]),
        Table(
            "epoch_grant", key: "owner, zone, share, kind, subject, epoch", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["sealed"])),
            history: [
                .baseline: """
                CREATE TABLE epoch_grant (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    kind BIGINT NOT NULL,
                    subject BLOB NOT NULL,
                    epoch BIGINT NOT NULL,
                    sealed BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, share, kind, subject, epoch)
                );
                """
            ]),
        Table(
            "link", key: "owner, zone, share, invitation", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["kept_secret", "preview"])),
            findsZones: true,
            history: [
                .baseline: """
                CREATE TABLE link (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    invitation BLOB NOT NULL,
                    maker BIGINT NOT NULL,
                    routing BLOB NOT NULL UNIQUE,
                    kept_secret BLOB NOT NULL,
                    preview BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, share, invitation)
                );
                """
            ]),
        Table(
            "placeholder_address", key: "owner, zone, share, invitation", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: [])),
            findsZones: true,
            history: [
                .baseline: """
                CREATE TABLE placeholder_address (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    invitation BLOB NOT NULL,
                    address_hash BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, share, invitation)
                );
                """
            ]),
        Table(
            "sealed_link", key: "owner, zone, share, reader", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["sealed"])),
            history: [
                .baseline: """
                CREATE TABLE sealed_link (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    reader BLOB NOT NULL,
                    sealed BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, share, reader)
                );
                """
            ]),
        Table(
            "share_access", key: "owner, zone, share", whose: .zone, erased: .withZone(.byKey),
            billed: .free("one a share"),
            history: [
                .baseline: """
                CREATE TABLE share_access (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, share)
                );
                """
            ]),
        Table(
            "access_request", key: "owner, zone, share, requester", whose: .zone, erased: .withZone(.byKey),
            billed: .rows(.init(values: ["request", "contact"])),
            mentions: [.init("requester", .erased(where: nil))],
            history: [
                .baseline: """
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
                """
            ]),
        Table(
            "restored_scope", key: "owner, zone, share", whose: .zone, erased: .unlessSeen,
            billed: .free("one a scope"),
            history: [
                .baseline: """
                CREATE TABLE restored_scope (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, share)
                );
                """
            ]),
        Table(
            "abandoned_entry", key: "owner, zone, share, branch, sequence", whose: .zone, erased: .unlessSeen,
            billed: .rows(.init(values: ["entry", "signature"])),
            history: [
                .baseline: """
                CREATE TABLE abandoned_entry (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    branch BLOB NOT NULL,
                    sequence BIGINT NOT NULL,
                    hash BLOB NOT NULL,
                    entry BLOB NOT NULL,
                    signature BLOB NOT NULL,
                    PRIMARY KEY (owner, zone, share, branch, sequence)
                );
                CREATE INDEX abandoned_entry_hash ON abandoned_entry (owner, zone, share, hash);
                """
            ]),
    ]
}
