/// Subscriptions, what they gave rise to, in which runs of the server, where webhooks stand, and changes in public
/// databases that subscribers are still to be told of. Every table but the last is keyed first by the subscriber
/// (`identity.id`); times are microseconds since 1970.
extension Tables {
    static let push: [Table] = [
        Table(
            "subscription", key: "owner, environment, database, id", whose: .identity("owner"), erased: .withAccount,
            billed: .rows(.init(values: ["body"])),
            mentions: [.init("zone_owner", .kept("the subscriber's"))],
            history: [
                .baseline: """
                CREATE TABLE subscription (
                    owner BIGINT NOT NULL,
                    environment BIGINT NOT NULL,
                    database BIGINT NOT NULL,
                    id TEXT NOT NULL,
                    kind BIGINT NOT NULL,
                    zone_owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    record_type TEXT NOT NULL,
                    fires_on BIGINT NOT NULL,
                    has_webhook BIGINT NOT NULL,
                    body BLOB NOT NULL,
                    PRIMARY KEY (owner, environment, database, id)
                );
                CREATE INDEX subscription_public ON subscription (zone_owner, record_type, owner, id) WHERE database = 1;
                CREATE INDEX subscription_zone ON subscription (owner, environment, database, zone_owner, zone, kind, has_webhook);
                """,
                // What a change tells is found past all that it does not concern.
                .toldSubscriptions: """
                CREATE INDEX subscription_told ON subscription (owner, environment, database, zone_owner, zone, record_type)
                    WHERE kind <> 1;
                """,
            ]),
        Table(
            "notification_feed", key: "owner", whose: .identity("owner"), erased: .withAccount,
            billed: .free("one a user"),
            history: [
                .baseline: """
                CREATE TABLE notification_feed (
                    owner BIGINT NOT NULL PRIMARY KEY,
                    last BIGINT NOT NULL,
                    floor BIGINT NOT NULL
                );
                """,
                // The run that the last number was given out in, and where the feed stood before its first one in that;
                // no run for numbers of before this step.
                .runsOfNotifications: """
                ALTER TABLE notification_feed ADD COLUMN run BIGINT NOT NULL DEFAULT 0;
                ALTER TABLE notification_feed ADD COLUMN began BIGINT NOT NULL DEFAULT 0;
                CREATE TABLE notification_run (
                    owner BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    run BIGINT NOT NULL,
                    PRIMARY KEY (owner, position)
                );
                """,
            ]),
        Table(
            "notification_run", key: "owner, position", whose: .identity("owner"), erased: .withAccount,
            billed: .free("one a run"),
            // Made with the columns of `notification_feed`.
            history: [:]),
        Table(
            "notification", key: "owner, environment, database, subscription, zone_owner, zone, record",
            whose: .identity("owner"), erased: .withAccount,
            billed: .free("at most 5000 a user and what sixteen changes add, for a month"),
            mentions: [.init("zone_owner", .kept("the subscriber's"))],
            history: [
                .baseline: """
                CREATE TABLE notification (
                    owner BIGINT NOT NULL,
                    environment BIGINT NOT NULL,
                    database BIGINT NOT NULL,
                    subscription TEXT NOT NULL,
                    zone_owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    record TEXT NOT NULL,
                    kind BIGINT NOT NULL,
                    number BIGINT NOT NULL,
                    other_number BIGINT NOT NULL,
                    origin BLOB NOT NULL,
                    payload BLOB NOT NULL,
                    changed BIGINT NOT NULL,
                    PRIMARY KEY (owner, environment, database, subscription, zone_owner, zone, record)
                );
                CREATE INDEX notification_changed ON notification (changed);
                CREATE INDEX notification_number ON notification (owner, number);
                """
            ]),
        Table(
            "webhook", key: "owner, environment, database, subscription", whose: .identity("owner"),
            erased: .withAccount,
            billed: .free("one a subscription"),
            history: [
                .baseline: """
                CREATE TABLE webhook (
                    owner BIGINT NOT NULL,
                    environment BIGINT NOT NULL,
                    database BIGINT NOT NULL,
                    subscription TEXT NOT NULL,
                    url TEXT NOT NULL,
                    origin TEXT NOT NULL,
                    delivered BIGINT NOT NULL,
                    due BIGINT NOT NULL,
                    since BIGINT NOT NULL,
                    attempts BIGINT NOT NULL,
                    PRIMARY KEY (owner, environment, database, subscription)
                );
                CREATE INDEX webhook_due ON webhook (due) WHERE due > 0;
                CREATE INDEX webhook_origin ON webhook (origin, due) WHERE due > 0;
                """
            ]),
        Table(
            "public_change", key: "position", whose: .container, erased: .kept("what was published stays"),
            billed: .free("at most 5000 a database"),
            mentions: [.init("zone_owner", .kept("a public database's"))],
            history: [
                .baseline: """
                CREATE TABLE public_change (
                    position INTEGER PRIMARY KEY,
                    zone_owner BIGINT NOT NULL,
                    origin BLOB NOT NULL,
                    changed BIGINT NOT NULL,
                    reason BIGINT NOT NULL,
                    record TEXT NOT NULL,
                    record_type TEXT NOT NULL,
                    creator TEXT NOT NULL,
                    author TEXT NOT NULL,
                    created BIGINT NOT NULL,
                    modified BIGINT NOT NULL,
                    fields BLOB NOT NULL,
                    told_owner BIGINT NOT NULL,
                    told_id TEXT NOT NULL
                );
                CREATE INDEX public_change_zone ON public_change (zone_owner, record_type, reason);
                """,
                // What was read by a position is another change's once it is given out again.
                .positionsOfPublicChanges: """
                ALTER TABLE public_change RENAME TO former_public_change;
                DROP INDEX public_change_zone;
                CREATE TABLE public_change (
                    position INTEGER PRIMARY KEY AUTOINCREMENT,
                    zone_owner BIGINT NOT NULL,
                    origin BLOB NOT NULL,
                    changed BIGINT NOT NULL,
                    reason BIGINT NOT NULL,
                    record TEXT NOT NULL,
                    record_type TEXT NOT NULL,
                    creator TEXT NOT NULL,
                    author TEXT NOT NULL,
                    created BIGINT NOT NULL,
                    modified BIGINT NOT NULL,
                    fields BLOB NOT NULL,
                    told_owner BIGINT NOT NULL,
                    told_id TEXT NOT NULL
                );
                INSERT INTO public_change (position, zone_owner, origin, changed, reason, record, record_type, creator,
                    author, created, modified, fields, told_owner, told_id)
                SELECT position, zone_owner, origin, changed, reason, record, record_type, creator, author, created,
                    modified, fields, told_owner, told_id FROM former_public_change;
                DROP TABLE former_public_change;
                CREATE INDEX public_change_zone ON public_change (zone_owner, record_type, reason);
                """,
            ],
            // What PostgreSQL numbers by itself it numbers once.
            postgres: [.positionsOfPublicChanges: ""]),
    ]
}
