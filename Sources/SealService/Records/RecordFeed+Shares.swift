import SealStorage

/// What participants of shares are given: their records, and those that left, each by the last statement by which it
/// left one of them. A page costs a range of an index for each share, however much else lies in the zone.
extension RecordFeed {
    /// Of one share.
    package static func query(of share: ZoneShare) -> String {
        """
        SELECT \(StoredRecord.columns), 0 AS is_departure FROM record
        WHERE owner = $1 AND zone = $2 AND position > $3
            AND share > 0 AND share = \(share.number)\(ZoneShare.present([share]))
        UNION ALL SELECT \(StoredRecord.departureColumns), 1 AS is_departure FROM departure d WHERE \(isLastDeparture([share]))
        ORDER BY position LIMIT $4
        """
    }

    /// Of several: their next places, lowest first. An index that has them in one order has them among those of all the
    /// zone's shares, so each share is asked by itself.
    static func places(
        in shares: [ZoneShare], of zone: ZoneRow, after place: Int64, limit: Int, _ connection: any SQLConnection
    ) throws -> [Place] {
        var places: [Place] = []
        for share in shares {
            // What comes after the last of so many is on no page that begins here.
            let end = places.count < limit ? Int64.max : places[limit - 1].position
            let values: [SQLValue] = [
                .integer(share.number), .integer(max(place, share.began)), .integer(end), .integer(Int64(limit)),
            ]
            let found = try connection.rows(placesQuery, zone.key + values) {
                Place(position: try $0.int64("position"), share: share.number, isDeparture: false)
            }
            places = lowest(limit, of: places, and: found)
        }
        let end = places.count < limit ? Int64.max : places[limit - 1].position
        let departures = try connection.rows(
            departuresQuery(of: shares), zone.key + [.integer(place), .integer(Int64(limit)), .integer(end)]
        ) { Place(position: try $0.int64("position"), share: try $0.int64("share"), isDeparture: true) }
        return lowest(limit, of: places, and: departures)
    }

    /// Those that left one share for another that is read too are no answers, and would not end a page by themselves.
    static func departuresQuery(of shares: [ZoneShare]) -> String {
        "SELECT position, share FROM departure d WHERE \(isLastDeparture(shares)) AND position < $5 ORDER BY position LIMIT $4"
    }

    private static func lowest(_ limit: Int, of places: [Place], and others: [Place]) -> [Place] {
        others.isEmpty ? places : Array((places + others).sorted { $0.position < $1.position }.prefix(limit))
    }

    package static let placesQuery = """
        SELECT position FROM record
        WHERE owner = $1 AND zone = $2 AND share = $3 AND share > 0 AND position > $4 AND position < $5
        ORDER BY position LIMIT $6
        """

    /// Of departures `d`.
    private static func isLastDeparture(_ shares: [ZoneShare]) -> String {
        let list = Shares.list(shares.map(\.number))
        return """
            owner = $1 AND zone = $2 AND position > $3 AND share IN (\(list))\(ZoneShare.present(shares))
                AND NOT EXISTS (SELECT 1 FROM record r WHERE r.owner = d.owner AND r.zone = d.zone AND r.name = d.name
                    AND r.share IN (\(list))\(ZoneShare.presentTombstones(shares)))
                AND NOT EXISTS (SELECT 1 FROM departure n
                    WHERE n.owner = d.owner AND n.zone = d.zone AND n.name = d.name
                        AND n.share IN (\(list)) AND n.position > d.position)
            """
    }

    struct Place {
        let position: Int64
        let share: Int64
        let isDeparture: Bool

        /// The row at this place, with the columns of `query(of:)`.
        var query: String { isDeparture ? Self.departureQuery : Self.recordQuery }

        /// As a range: of an equal place SQLite makes a walk over all shares, since it takes `share > 0` for the better
        /// condition.
        static let recordQuery = """
            SELECT \(StoredRecord.columns), 0 AS is_departure FROM record
            WHERE owner = $1 AND zone = $2 AND share = $3 AND share > 0 AND position >= $4 AND position <= $4
            """

        static let departureQuery = """
            SELECT \(StoredRecord.departureColumns), 1 AS is_departure FROM departure
            WHERE owner = $1 AND zone = $2 AND share = $3 AND position = $4
            """
    }
}

extension ZoneShare {
    /// Leaves out what is of earlier lives of the shares.
    static func present(_ shares: [ZoneShare]) -> String {
        shares.filter { $0.began > 0 }.map { " AND NOT (share = \($0.number) AND position <= \($0.began))" }.joined()
    }

    /// The same of tombstones `r`, those that have left the feed included.
    static func presentTombstones(_ shares: [ZoneShare]) -> String {
        shares.filter { $0.began > 0 }.map {
            " AND NOT (r.share = \($0.number) AND r.deleted = 1 AND r.tag <= \($0.began))"
        }.joined()
    }
}
