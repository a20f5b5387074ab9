/// The database's runs, and where each feed stood before its first change in a run, of the feeds that changed in it: a
/// run has nothing to write, however many zones there are. In the first step each start wrote where every feed ended
/// in the run before; the third takes these ends over. Of the last run they were not written: its feeds stood where
/// those of the run before ended.
extension Tables {
    static let runs: [Table] = [
        Table(
            "server_run", key: "number", whose: .server, erased: .kept("the server's history"),
            billed: .free("one an opening"),
            history: [
                .baseline: """
                CREATE TABLE server_run (number BIGINT NOT NULL PRIMARY KEY);
                CREATE TABLE zone_end (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    run BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, run)
                );
                CREATE TABLE view_end (
                    viewer BIGINT NOT NULL,
                    environment BIGINT NOT NULL,
                    shared BIGINT NOT NULL,
                    run BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    PRIMARY KEY (viewer, environment, shared, run)
                );
                """
            ]),
        Table(
            "zone_run", key: "owner, zone, run", whose: .zone, erased: .unlessSeen,
            billed: .free("one a run"),
            history: [
                .beginsOfRuns: """
                ALTER TABLE zone ADD COLUMN run BIGINT NOT NULL DEFAULT 0;
                CREATE TABLE zone_run (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    run BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, run)
                );
                CREATE TABLE view_run (
                    viewer BIGINT NOT NULL,
                    environment BIGINT NOT NULL,
                    shared BIGINT NOT NULL,
                    run BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    PRIMARY KEY (viewer, environment, shared, run)
                );
                INSERT INTO zone_end (owner, zone, run, position)
                    SELECT z.owner, z.zone, (SELECT MAX(number) FROM server_run), z.position FROM zone z WHERE z.position > COALESCE(
                        (SELECT MAX(e.position) FROM zone_end e WHERE e.owner = z.owner AND e.zone = z.zone), 0);
                INSERT INTO view_end (viewer, environment, shared, run, position)
                    SELECT v.viewer, v.environment, v.shared, (SELECT MAX(number) FROM server_run), MAX(v.position) FROM zone_view v
                    GROUP BY v.viewer, v.environment, v.shared HAVING MAX(v.position) > COALESCE(
                        (SELECT MAX(e.position) FROM view_end e
                        WHERE e.viewer = v.viewer AND e.environment = v.environment AND e.shared = v.shared), 0);
                INSERT INTO zone_run (owner, zone, run, position)
                    SELECT e.owner, e.zone, e.run, COALESCE((SELECT MAX(b.position) FROM zone_end b
                        WHERE b.owner = e.owner AND b.zone = e.zone AND b.run < e.run), 0) FROM zone_end e;
                INSERT INTO view_run (viewer, environment, shared, run, position)
                    SELECT e.viewer, e.environment, e.shared, e.run, COALESCE((SELECT MAX(b.position) FROM view_end b
                        WHERE b.viewer = e.viewer AND b.environment = e.environment AND b.shared = e.shared AND b.run < e.run), 0)
                    FROM view_end e;
                DROP TABLE zone_end;
                DROP TABLE view_end;
                """
            ]),
        Table(
            "view_run", key: "viewer, environment, shared, run", whose: .identity("viewer"), erased: .withSight,
            billed: .free("one a run"),
            // Made with `zone_run`.
            history: [:]),
    ]
}
