import SealService

/// What a server's database has in it that belongs to nothing, or lacks, in SQL that SQLite and PostgreSQL both have.
enum Orphans {
    /// Each query counts what must not be there: what `sealkit check` looks for, and what holds once no work is left.
    static let queries = RowRule.all.map { (what: $0.what, query: $0.count) } + own

    private static let own: [(what: String, query: String)] = [
        (
            "records of a zone that does not exist or is closed",
            """
            SELECT COUNT(*) FROM record r WHERE NOT EXISTS (
                SELECT 1 FROM zone z WHERE z.owner = r.owner AND z.zone = r.zone AND z.closed = 0)
            """
        ),
        (
            "records that have left the feed and live, or left it and the feed does not know",
            """
            SELECT COUNT(*) FROM record r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone
            WHERE r.position = 0 AND (r.deleted = 0 OR z.compacted = 0)
            """
        ),
        (
            "records that were to go with a target and did not go with it",
            """
            SELECT COUNT(*) FROM delete_reference d JOIN record t ON t.owner = d.owner AND t.zone = d.zone AND t.name = d.target
            JOIN record s ON s.owner = d.owner AND s.zone = d.zone AND s.name = d.source
            WHERE t.deleted = 1 AND s.deleted = 0
            """
        ),
        (
            "deletions that came with another and cannot be proven",
            """
            SELECT COUNT(*) FROM record r WHERE r.deleted = 1 AND r.went_with IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM taken_record c JOIN taken_deletion d
                    ON d.owner = c.owner AND d.zone = c.zone AND d.deletion = c.deletion
                WHERE c.owner = r.owner AND c.zone = r.zone AND c.deletion = r.went_with AND c.name = r.name)
            """
        ),
        (
            "proofs for records that are there again",
            """
            SELECT COUNT(*) FROM taken_record c WHERE NOT EXISTS (
                SELECT 1 FROM record r
                WHERE r.owner = c.owner AND r.zone = c.zone AND r.name = c.name AND r.went_with = c.deletion AND r.deleted = 1)
            """
        ),
        (
            "index entries of records that are gone",
            """
            SELECT COUNT(*) FROM record_index i WHERE NOT EXISTS (SELECT 1 FROM index_build) AND NOT EXISTS (
                SELECT 1 FROM record r WHERE r.owner = i.owner AND r.zone = i.zone AND r.name = i.record AND r.deleted = 0)
            """
        ),
        (
            "zones whose records are not as many as are counted for the quota",
            """
            SELECT COUNT(*) FROM zone z WHERE
                COALESCE((SELECT SUM(u.records) FROM storage_usage u WHERE u.owner = z.owner AND u.zone = z.zone), 0)
                <> (SELECT COUNT(*) FROM record r WHERE r.owner = z.owner AND r.zone = z.zone AND r.deleted = 0)
            """
        ),
        (
            "roster entries that are missing",
            """
            -- Public databases, of owners below nobody, have none.
            SELECT COUNT(*) FROM zone z WHERE z.owner > 0 AND z.sequence + 1 <> (
                SELECT COUNT(*) FROM roster_entry e WHERE e.owner = z.owner AND e.zone = z.zone)
            """
        ),
        (
            "children without their parent",
            """
            SELECT COUNT(*) FROM record r WHERE r.deleted = 0 AND r.parent IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM record p WHERE p.owner = r.owner AND p.zone = r.zone AND p.name = r.parent AND p.deleted = 0)
            """
        ),
    ]

    /// Makes deletions in some zones older than any feed keeps them: the next server to start has them to clear away.
    /// - Parameter prefix: of the zones' names; a word of the torture's own.
    static func aging(zones prefix: String) -> String {
        """
        UPDATE record SET modified = 0 WHERE deleted = 1 AND EXISTS (
            SELECT 1 FROM zone z WHERE z.owner = record.owner AND z.zone = record.zone AND z.name LIKE '\(prefix)-%')
        """
    }
}
