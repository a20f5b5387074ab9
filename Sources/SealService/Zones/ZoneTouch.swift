import SealStatements
package import SealStorage

/// What changed in a zone that very many see: instead of a row of each, a save writes that it happened, and a job moves
/// the views, some at a time. Until it has come to somebody, that one's own reading of its feed does it: nobody reads
/// less than was acknowledged.
///
/// Of what waits there is one row a scope, with the zone's last place by then; a view says up to which place it was
/// told.
package struct ZoneTouch: Sendable {
    /// So many views a change moves itself.
    package static let mostAtOnce = 100
    /// What one reading of a feed moves: the next one comes to the rest.
    package static let mostOfReader = 100

    private let owner: Int64
    private let zone: Int64
    /// 0 for those who see all of the zone.
    private let share: Int64
    private let position: Int64

    private init(_ row: any SQLRow) throws {
        owner = try row.int64("owner")
        zone = try row.int64("zone")
        share = try row.int64("share")
        position = try row.int64("position")
    }

    private var key: [SQLValue] { [.integer(owner), .integer(zone), .integer(share)] }

    private var home: Home { .zone(owner: owner, zone: zone) }

    // MARK: A change

    /// Whether a change concerns more than it tells by itself.
    /// - Parameter shares: those that it concerns beside the zone's own scope.
    static func areTooMany(in zone: ZoneRow, shares: Set<Int64>, _ connection: any SQLConnection) throws -> Bool {
        guard zone.mayHaveManyViewers else { return false }
        let viewers = try connection.first(
            """
            SELECT COUNT(*) AS count FROM (SELECT 1 AS one FROM zone_view v
                WHERE v.owner = $1 AND v.zone = $2 AND v.gone = 0\(DatabaseFeed.concerned("v", zone, shares)) LIMIT $3) some_views
            """, zone.key + [.integer(Int64(mostAtOnce + 1))]
        ) { try $0.int64("count") }
        return viewers ?? 0 > mostAtOnce
    }

    /// Leaves such a change to the job. It has its place in the zone's feed.
    /// - Returns: whether it did.
    static func leave(_ zone: ZoneRow, shares: Set<Int64>, in connection: any SQLConnection) throws -> Bool {
        guard try areTooMany(in: zone, shares: shares, connection) else { return false }
        for share in [0] + shares.sorted() {
            try connection.execute(
                """
                INSERT INTO zone_touch (owner, zone, share, position)
                SELECT z.owner, z.zone, $3, z.position FROM zone z WHERE z.owner = $1 AND z.zone = $2
                ON CONFLICT (owner, zone, share) DO UPDATE SET position = excluded.position
                """, zone.key + [.integer(share)])
        }
        connection.announce(.zoneTouches)
        return true
    }

    // MARK: The job

    package static func areThere(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM zone_touch LIMIT 1")
    }

    /// Goes through what waits, one scope after the other, until nothing does.
    package static func run(_ turn: JobTurn) async throws {
        while try await pass(turn) {}
    }

    /// Each scope has a step in each pass: one in which much changes keeps no other waiting.
    /// - Returns: whether there was something.
    private static func pass(_ turn: JobTurn) async throws -> Bool {
        var (last, failure) = (ZoneTouch?.none, (any Error)?.none)
        while let next = try await turn.read({ [last] in try Self.next(after: last, in: $0) }) {
            last = next
            do { try await turn.step(at: next.home) { try next.step(in: $0) } } catch let error as StorageError {
                // One zone's damage keeps no other waiting.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return last != nil
    }

    /// The next scope of which something waits.
    static func next(after last: ZoneTouch?, in connection: any SQLConnection) throws -> ZoneTouch? {
        try connection.first(
            """
            SELECT owner, zone, share, position FROM zone_touch WHERE (owner, zone, share) > ($1, $2, $3)
            ORDER BY owner, zone, share LIMIT 1
            """, last?.key ?? [.integer(.min), .integer(0), .integer(0)], ZoneTouch.init)
    }

    /// Moves some views of the scope, and takes it away once none is left.
    func step(in connection: any SQLConnection) throws {
        let values: [SQLValue] =
            [.integer(owner), .integer(zone), .integer(position)] + (share == 0 ? [] : [.integer(share)])
        let waiting = """
            owner = $1 AND zone = $2 AND gone = 0 AND told < $3 AND \(share == 0 ? "partial = 0" : Self.takesPart(in: "$4"))
            """
        // Whoever waits longest is first, however often the zone changes meanwhile.
        let viewers = try connection.rows(
            "SELECT viewer FROM zone_view WHERE \(waiting) ORDER BY told LIMIT $\(values.count + 1)",
            values + [.integer(Int64(Self.mostAtOnce))]
        ) { SQLValue.integer(try $0.int64("viewer")) }
        if !viewers.isEmpty {
            let names = viewers.indices.map { "$\($0 + values.count + 1)" }.joined(separator: ", ")
            let moved = try Self.move(
                "\(waiting) AND viewer IN (\(names))", values + viewers, to: "$3", in: connection)
            guard moved == viewers.count else {
                throw StorageError.failed(code: 0, message: "a feed of one who sees a zone has no row")
            }
        }
        guard viewers.count < Self.mostAtOnce else { return }
        try connection.execute(
            "DELETE FROM zone_touch WHERE owner = $1 AND zone = $2 AND share = $3 AND position = $4",
            key + [.integer(position)])
    }

    // MARK: A reader

    /// Zones of one of the caller's databases that it sees, of which something waits for it, at most `mostOfReader`.
    package static func waiting(
        for caller: Caller, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> [[SQLValue]] {
        // Nearly always there is nothing at all: then its zones are not looked through.
        try connection.rows(
            """
            SELECT owner, zone FROM zone_view WHERE viewer = $1 AND environment = $2 AND shared = $3 AND gone = 0
                AND EXISTS (SELECT 1 FROM zone_touch) AND \(isWaiting) ORDER BY owner, zone LIMIT $4
            """,
            [
                .integer(caller.id), .integer(Int64(path.environment.rawValue)), .bool(path.isShared),
                .integer(Int64(mostOfReader)),
            ]
        ) { [.integer(try $0.int64("owner")), .integer(try $0.int64("zone"))] }
    }

    /// Where these zones are at home.
    package static func homes(of zones: [[SQLValue]]) -> Set<Home> {
        Set(
            zones.compactMap { zone -> Home? in
                guard case .integer(let owner)? = zone.first, case .integer(let number)? = zone.last else { return nil }
                return .zone(owner: owner, zone: number)
            })
    }

    /// Moves the caller's views of these zones.
    package static func show(
        _ zones: [[SQLValue]], to caller: Caller, in connection: any SQLConnection
    ) throws {
        for zone in zones {
            try move(
                "owner = $1 AND zone = $2 AND viewer = $3 AND gone = 0 AND \(isWaiting)", zone + [.integer(caller.id)],
                to: "(SELECT z.position FROM zone z WHERE z.owner = $1 AND z.zone = $2)", in: connection)
        }
    }

    private static let isWaiting = """
        EXISTS (SELECT 1 FROM zone_touch t WHERE t.owner = zone_view.owner AND t.zone = zone_view.zone
            AND t.position > zone_view.told AND (t.share = 0 AND zone_view.partial = 0 OR \(takesPart(in: "t.share"))))
        """

    private static func takesPart(in share: String) -> String {
        """
        EXISTS (SELECT 1 FROM share_view w WHERE w.viewer = zone_view.viewer AND w.owner = zone_view.owner
            AND w.zone = zone_view.zone AND w.share = \(share) AND w.gone = 0)
        """
    }

    /// - Returns: how many there were.
    @discardableResult
    private static func move(
        _ views: String, _ values: [SQLValue], to told: String, in connection: any SQLConnection
    ) throws -> Int {
        try FeedPlaces.move(views, values, setting: "told = \(told)", in: connection)
    }
}
