/// What holds between the rows of several rooms, as a query that counts where it does not. Only `DataCheck` and the
/// torture ask them: what they hold against each other is the work of the rooms that write it.
package struct RowRule: Sendable {
    let kind: Finding.Kind
    /// What there are so many of.
    package let what: String
    package let count: String

    /// What to do where it does not hold.
    static let restore = """
        restore the newest backup that check finds nothing in; devices give back what came after it
        """

    package static let all: [RowRule] = [
        RowRule(
            kind: .records, what: "assets whose record is gone",
            count: """
                SELECT COUNT(*) AS count FROM blob b WHERE b.record IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM record r WHERE r.owner = b.owner AND r.zone = b.zone AND r.name = b.record AND r.deleted = 0)
                """),
        RowRule(
            kind: .records, what: "records that say how many assets they have, and have another number",
            count: """
                SELECT COUNT(*) AS count FROM record r WHERE r.deleted = 0 AND r.assets <> (
                    SELECT COUNT(*) FROM blob b WHERE b.owner = r.owner AND b.zone = r.zone AND b.record = r.name)
                """),
        RowRule(
            kind: .records, what: "assets of records that are not whole",
            count: """
                SELECT COUNT(*) AS count FROM blob WHERE record IS NOT NULL AND (size IS NULL OR root IS NULL)
                """),
        RowRule(
            kind: .records, what: "records of a zone that is not there",
            count: """
                SELECT COUNT(*) AS count FROM record r WHERE NOT EXISTS (
                    SELECT 1 FROM zone z WHERE z.owner = r.owner AND z.zone = r.zone)
                """),
        RowRule(
            kind: .records, what: "references of records that are gone",
            count: """
                SELECT COUNT(*) AS count FROM delete_reference d WHERE NOT EXISTS (
                    SELECT 1 FROM record r WHERE r.owner = d.owner AND r.zone = d.zone AND r.name = d.source AND r.deleted = 0)
                """),
        RowRule(
            kind: .feeds, what: "records beyond the end of their zone's feed",
            count: """
                SELECT COUNT(*) AS count FROM record r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone
                WHERE r.position > z.position
                """),
        RowRule(
            kind: .feeds, what: "places in zones' feeds that two records have",
            count: """
                SELECT COUNT(*) AS count FROM (
                    SELECT 1 FROM record WHERE position > 0 GROUP BY owner, zone, position HAVING COUNT(*) > 1) twice
                """),
        RowRule(
            kind: .feeds, what: "places in databases' feeds that two zones have",
            count: """
                SELECT COUNT(*) AS count FROM (
                    SELECT 1 FROM zone_view GROUP BY viewer, environment, shared, position HAVING COUNT(*) > 1) twice
                """),
        RowRule(
            kind: .feeds, what: "zones beyond the end of their viewer's feed",
            count: """
                SELECT COUNT(*) AS count FROM zone_view v WHERE NOT EXISTS (
                    SELECT 1 FROM database_feed f WHERE f.viewer = v.viewer AND f.environment = v.environment
                        AND f.shared = v.shared AND f.position >= v.position)
                """),
        RowRule(
            kind: .feeds, what: "zones' rosters with a gap, or with another end than the zone says",
            count: """
                SELECT COUNT(*) AS count FROM zone z WHERE z.closed = 0 AND z.owner > 0 AND NOT EXISTS (
                    SELECT MAX(e.sequence) FROM roster_entry e WHERE e.owner = z.owner AND e.zone = z.zone AND e.share = 0
                    HAVING MAX(e.sequence) = z.sequence AND COUNT(*) = MAX(e.sequence) - MIN(e.sequence) + 1)
                """),
        RowRule(
            kind: .feeds, what: "shares' rosters with a gap, or with another end than the share says",
            count: """
                SELECT COUNT(*) AS count FROM share s WHERE s.closed = 0 AND NOT EXISTS (
                    SELECT MAX(e.sequence) FROM roster_entry e WHERE e.owner = s.owner AND e.zone = s.zone AND e.share = s.share
                    HAVING MAX(e.sequence) = s.sequence AND COUNT(*) = MAX(e.sequence) - MIN(e.sequence) + 1)
                """),
        RowRule(
            kind: .feeds, what: "feeds that say to have changed in a run that the server never had",
            count: """
                SELECT (SELECT COUNT(*) FROM zone WHERE run <> 0 AND run NOT IN (SELECT number FROM server_run))
                    + (SELECT COUNT(*) FROM database_feed WHERE run <> 0 AND run NOT IN (SELECT number FROM server_run))
                    + (SELECT COUNT(*) FROM zone_run WHERE run NOT IN (SELECT number FROM server_run))
                    + (SELECT COUNT(*) FROM view_run WHERE run NOT IN (SELECT number FROM server_run))
                    + (SELECT COUNT(*) FROM notification_feed WHERE run <> 0 AND run NOT IN (SELECT number FROM server_run))
                    + (SELECT COUNT(*) FROM notification_run WHERE run NOT IN (SELECT number FROM server_run)) AS count
                """),
        RowRule(
            kind: .feeds, what: "zones' feeds that stood further in a run than they stand now",
            count: """
                SELECT COUNT(*) AS count FROM zone_run r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone
                WHERE r.position > z.position
                """),
        RowRule(
            kind: .feeds, what: "notifications beyond the end of their user's feed",
            count: """
                SELECT COUNT(*) AS count FROM notification n WHERE NOT EXISTS (
                    SELECT 1 FROM notification_feed f WHERE f.owner = n.owner AND f.last >= n.number)
                """),
    ]
}
