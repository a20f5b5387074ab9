import SealStatements
import SealStorage

/// The places of databases' feeds. The feed's row gives them out, one after the other: two that change the same
/// database at the same time wait for each other there, so that neither gets the other's place, and none is seen after
/// a later one was read.
enum FeedPlaces {
    /// Of a view as `zone_view`: where its feed stands.
    private static let standing = """
        (SELECT f.position FROM database_feed f WHERE f.viewer = zone_view.viewer \
        AND f.environment = zone_view.environment AND f.shared = zone_view.shared)
        """

    /// The keys of the feeds that the views are in.
    private static func feeds(of views: String) -> String {
        "SELECT viewer, environment, shared FROM zone_view WHERE \(views)"
    }

    /// Holds feeds in their order, which is the same for whoever moves some.
    /// - Parameter keys: a query for viewer, environment, and whether it is of the shared database.
    static func hold(_ keys: String, _ values: [SQLValue], in connection: any SQLConnection) throws {
        try connection.hold(
            """
            SELECT position FROM database_feed WHERE (viewer, environment, shared) IN (\(keys))
            ORDER BY viewer, environment, shared
            """, values)
    }

    /// Moves views to the ends of their feeds. A zone has one view in a feed, so each feed gets one place longer;
    /// views of several zones are moved one zone after the other.
    /// - Parameters:
    ///   - views: a condition on `zone_view`, which has no other name in it.
    ///   - setting: what changes of the views beside their places, with the values that come after `values`.
    /// - Returns: how many there were.
    @discardableResult
    static func move(
        _ views: String, _ values: [SQLValue], setting: String? = nil, _ set: [SQLValue] = [],
        in connection: any SQLConnection
    ) throws -> Int {
        let feeds = feeds(of: views)
        try hold(feeds, values, in: connection)
        try ServerRuns.keepFeeds(of: views, values, in: connection)
        let moved = try connection.execute(
            """
            UPDATE database_feed SET position = position + 1, run = \(ServerRuns.newest)
            WHERE (viewer, environment, shared) IN (\(feeds))
            """, values)
        guard moved > 0 else { return 0 }
        return try connection.execute(
            "UPDATE zone_view SET position = \(standing)\(setting.map { ", \($0)" } ?? "") WHERE \(views)", values + set
        )
    }

    /// The same for the view of a zone that its owner alone has, whose feed was kept with the zone's.
    static func move(ofOwner zone: ZoneRow, in connection: any SQLConnection) throws {
        let owner: [SQLValue] = [.integer(zone.owner), .integer(Int64(zone.environment.rawValue))]
        let moved = try connection.execute(
            """
            UPDATE database_feed SET position = position + 1, run = \(ServerRuns.newest)
            WHERE viewer = $1 AND environment = $2 AND shared = 0
            """, owner)
        guard moved > 0 else { return }
        try connection.execute(
            """
            UPDATE zone_view SET position = (SELECT f.position FROM database_feed f
                WHERE f.viewer = $1 AND f.environment = $2 AND f.shared = 0)
            WHERE viewer = $1 AND environment = $2 AND shared = 0 AND owner = $1 AND zone = $3 AND gone = 0
            """, owner + [.integer(zone.number)])
    }

    /// The next place in a feed, which begins with it where there is none yet.
    /// - Parameter feed: viewer, environment, and whether it is of the shared database.
    static func take(in feed: [SQLValue], _ connection: any SQLConnection) throws -> Int64 {
        let place = try connection.first(
            """
            INSERT INTO database_feed (viewer, environment, shared, position, run) VALUES ($1, $2, $3, 1, \(ServerRuns.newest))
            ON CONFLICT (viewer, environment, shared)
            DO UPDATE SET position = database_feed.position + 1, run = excluded.run RETURNING position
            """, feed
        ) { try $0.int64("position") }
        guard let place else { throw StorageError.failed(code: 0, message: "the feed's row was not made") }
        return place
    }
}
