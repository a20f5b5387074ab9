import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Databases' feeds: their places, and zones that very many see.
@Suite(.timeLimit(.minutes(60))) struct DatabaseFeedTests {
    /// A zone of Anna's that Bert takes part in, and strangers of whom there are rows alone see: so many viewers in
    /// all.
    private func withViewers(
        _ count: Int, hook: WriteHook? = nil,
        _ body: @Sendable (Person, Person, TestZone, RunningServer) async throws -> Void
    ) async throws {
        try await RunningServer.with(hook: hook) { server in
            let shared = try await RestoredServerTests.shared(server)
            try await server.services.database.write(at: .everything) { connection in
                let zone = try Self.row(shared.zone, connection)
                for viewer in 0..<Int64(count - 2) {
                    let feed: [SQLValue] = [.integer(1_000 + viewer), .integer(Int64(zone.environment.rawValue)), 1]
                    try connection.execute(
                        "INSERT INTO database_feed (viewer, environment, shared, position, run) VALUES ($1, $2, $3, 1, 0)",
                        feed)
                    try connection.execute(
                        """
                        INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence, partial,
                            since, told) VALUES ($1, $2, $3, $4, $5, 1, 0, 0, 0, 0, 0)
                        """, feed + zone.key)
                }
                // It says how many may be there: the others of the scope are not in its roster.
                try connection.execute(
                    "UPDATE zone SET participants = $3 WHERE owner = $1 AND zone = $2",
                    zone.key + [.integer(Int64(count - 1))])
            }
            try await body(shared.anna, shared.bert, shared.zone, server)
        }
    }

    private static func row(_ zone: TestZone, _ connection: any SQLConnection) throws -> ZoneRow {
        try #require(
            try connection.first(
                "SELECT \(ZoneRow.columns) FROM zone z WHERE z.name = $1", [.text(zone.name)], ZoneRow.init))
    }

    /// As the job does, of the first scope.
    private static func moveSome(_ connection: any SQLConnection) throws {
        try ZoneTouch.next(after: nil, in: connection)?.step(in: connection)
    }

    /// How many of the strangers' feeds stand where.
    private static func standing(_ server: RunningServer) async throws -> [Int64: Int64] {
        try await server.services.database.read { connection in
            let rows = try connection.rows(
                """
                SELECT f.position, COUNT(*) AS count FROM database_feed f JOIN zone_view v ON v.viewer = f.viewer
                    AND v.environment = f.environment AND v.shared = f.shared AND v.position = f.position
                WHERE f.viewer BETWEEN 1000 AND 9999 GROUP BY f.position
                """
            ) { (try $0.int64("position"), try $0.int64("count")) }
            return Dictionary(rows) { first, _ in first }
        }
    }

    // MARK: Those who see a zone

    @Test func upToAHundredAreToldByTheSave() async throws {
        try await withViewers(ZoneTouch.mostAtOnce) { anna, bert, zone, server in
            let token = try await bert.zoneChanges(shared: true).token
            _ = try await anna.save([Write("a")], in: zone)
            #expect(try await server.rows(in: ["zone_touch"]).isEmpty)
            #expect(try await Self.standing(server) == [2: Int64(ZoneTouch.mostAtOnce - 2)])
            #expect(try await bert.zoneChanges(token, shared: true).modifications.map(\.zoneID.zoneName) == [zone.name])
        }
    }

    /// One more, and a job does it, a hundred at a time; nobody's place is given twice, and nothing is left over.
    @Test func moreThanAHundredAreToldByTheJob() async throws {
        let count = 2 * ZoneTouch.mostAtOnce + 50
        for viewers in [ZoneTouch.mostAtOnce + 1, count] {
            try await withViewers(viewers) { anna, bert, zone, server in
                let token = try await bert.zoneChanges(shared: true).token
                let own = try await anna.zoneChanges().token
                _ = try await anna.save([Write("a")], in: zone)
                try await waitUntil("all are told") { try await server.rows(in: ["zone_touch"]).isEmpty }
                #expect(try await Self.standing(server) == [2: Int64(viewers - 2)])
                let changes = try await bert.zoneChanges(token, shared: true)
                #expect(changes.modifications.map(\.zoneID.zoneName) == [zone.name])
                #expect(try await anna.zoneChanges(own).modifications.map(\.zoneID.zoneName) == [zone.name])
                #expect(try await bert.zoneChanges(changes.token, shared: true).modifications.isEmpty)
            }
        }
    }

    /// However often the zone is saved to: others' writes go on beside what these reads write.
    @Test func whoReadsBeforeTheJobHoldsUpNobodyElse() async throws {
        let hook = WriteHook()
        try await withViewers(ZoneTouch.mostAtOnce + 1, hook: hook) { anna, bert, zone, server in
            let token = try await bert.zoneChanges(shared: true).token
            let now = server.clock.now
            // Another server has the job, and has not come to it.
            try await server.services.database.write(at: .everything) { connection in
                try JobLease.releaseAll(in: connection)
                try JobLease(job: .feeds, holder: [9]).hold(now: now, in: connection)
            }
            _ = try await anna.save([Write("a")], in: zone)
            _ = hook.takeHomes()
            let changes = try await bert.zoneChanges(token, shared: true)
            #expect(changes.modifications.map(\.zoneID.zoneName) == [zone.name])
            #expect(try await bert.zoneChanges(changes.token, shared: true).modifications.isEmpty)
            let homes = hook.takeHomes()
            #expect(!homes.contains(.everything))
            let inAccounts = homes.count { if case .account = $0 { true } else { false } }
            // PostgreSQL knows that no such server is there.
            #expect(inAccounts == 1 || TestPostgres.isForAll)
        }
    }

    /// Whoever reads before the job has come to it is shown what was acknowledged, once.
    @Test func whoReadsBeforeTheJobIsShownWhatWaits() async throws {
        struct Undone: Error {}
        try await withViewers(ZoneTouch.mostAtOnce + 1) { anna, bert, zone, server in
            let path = DatabasePath(container: TestClient.container, environment: .development, database: .shared)
            await #expect(throws: Undone.self) {
                try await server.services.database.write(at: .everything) { connection in
                    let before = try Self.row(zone, connection)
                    _ = try Zones.takePositions(1, of: before, in: connection)
                    try DatabaseFeed.touch(before, shares: [], in: connection)
                    let caller = try bert.caller(connection)
                    let waiting = try ZoneTouch.waiting(for: caller, path, in: connection)
                    #expect(waiting == [before.key])
                    // Whose zone it is reads it in the private database.
                    #expect(try ZoneTouch.waiting(for: anna.caller(connection), path, in: connection).isEmpty)
                    let standing = try DatabaseFeed.lastPosition(of: caller, path, in: connection)
                    func changed() throws -> [String] {
                        try DatabaseFeed.changes(of: caller, path, after: standing, limit: 10, in: connection).map(
                            \.zone.name)
                    }
                    #expect(try changed() == [])
                    try ZoneTouch.show(waiting, to: caller, in: connection)
                    #expect(try changed() == [zone.name])
                    #expect(try ZoneTouch.waiting(for: caller, path, in: connection).isEmpty)
                    // The job moves the others alone.
                    while try ZoneTouch.areThere(in: connection) { try Self.moveSome(connection) }
                    #expect(try DatabaseFeed.lastPosition(of: caller, path, in: connection) == standing + 1)
                    let untold = try connection.exists(
                        "SELECT 1 FROM zone_view WHERE owner = $1 AND zone = $2 AND told < $3",
                        before.key + [.integer(before.position + 1)])
                    #expect(!untold)
                    // The server's own job has seen nothing of it.
                    throw Undone()
                }
            }
        }
    }

    /// Where the zone changes again before the job has come to the last one, that one does not wait for the first ones
    /// to be told again.
    @Test func whoWaitsLongestIsToldFirst() async throws {
        struct Undone: Error {}
        try await withViewers(2 * ZoneTouch.mostAtOnce + 50) { _, _, zone, server in
            await #expect(throws: Undone.self) {
                try await server.services.database.write(at: .everything) { connection in
                    let first = try Self.row(zone, connection).position + 1
                    for _ in 0..<3 {
                        let row = try Self.row(zone, connection)
                        _ = try Zones.takePositions(1, of: row, in: connection)
                        try DatabaseFeed.touch(row, shares: [], in: connection)
                        try Self.moveSome(connection)
                    }
                    let untold = try connection.exists(
                        "SELECT 1 FROM zone_view WHERE owner = $1 AND zone = $2 AND told < $3",
                        try Self.row(zone, connection).key + [.integer(first)])
                    #expect(!untold)
                    throw Undone()
                }
            }
        }
    }

    /// The first change in a run keeps where feeds stood: those of very many with the job, too.
    @Test func aSaveKeepsTheOwnersFeedAlone() async throws {
        struct Undone: Error {}
        let viewers = 2 * ZoneTouch.mostAtOnce + 50
        try await withViewers(viewers) { _, _, zone, server in
            await #expect(throws: Undone.self) {
                try await server.services.database.write(at: .everything) { connection in
                    try connection.execute("INSERT INTO server_run (number) SELECT MAX(number) + 1 FROM server_run")
                    func kept() throws -> [Int64] {
                        try connection.rows(
                            "SELECT position FROM view_run WHERE run = \(ServerRuns.newest) ORDER BY viewer"
                        ) { try $0.int64("position") }
                    }
                    let row = try Self.row(zone, connection)
                    let stood = try connection.rows(
                        """
                        SELECT f.position FROM database_feed f JOIN zone_view v ON v.viewer = f.viewer
                            AND v.environment = f.environment AND v.shared = f.shared
                        WHERE v.owner = $1 AND v.zone = $2 ORDER BY f.viewer
                        """, row.key
                    ) { try $0.int64("position") }
                    _ = try Zones.takePositions(1, of: row, in: connection)
                    try DatabaseFeed.touch(row, shares: [], in: connection)
                    #expect(try kept().count == 1)
                    while try ZoneTouch.areThere(in: connection) { try Self.moveSome(connection) }
                    #expect(try kept() == stood)
                    #expect(stood.count == viewers)
                    throw Undone()
                }
            }
        }
    }

    /// Of more zones than are shown at once, the reader is told that more is coming.
    @Test func moreWaitsThanIsShownAtOnce() async throws {
        struct Undone: Error {}
        try await withViewers(2) { _, bert, zone, server in
            let path = DatabasePath(container: TestClient.container, environment: .development, database: .shared)
            await #expect(throws: Undone.self) {
                try await server.services.database.write(at: .everything) { connection in
                    let row = try Self.row(zone, connection)
                    let session = try bert.session(connection)
                    let viewer = try bert.caller(connection).id
                    let standing = try DatabaseFeed.lastPosition(of: bert.caller(connection), path, in: connection)
                    for number in 1...Int64(ZoneTouch.mostOfReader) {
                        let other: [SQLValue] = [.integer(row.owner), .integer(row.number + number)]
                        try connection.execute(
                            """
                            INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation,
                                sequence, head, participants, closed)
                            SELECT owner, $3, container, environment, owner_name, $4, 5, incarnation, sequence, head,
                                participants, 0 FROM zone WHERE owner = $1 AND zone = $2
                            """, row.key + [other[1], .text("\(zone.name)-\(number)")])
                        try connection.execute(
                            """
                            INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence,
                                partial, since, told) VALUES ($3, $4, 1, $1, $2, $5, 0, 0, 0, 0, 0)
                            """,
                            other + [
                                .integer(viewer), .integer(Int64(row.environment.rawValue)),
                                .integer(standing + number - 1_000),
                            ])
                    }
                    // One more than are shown at once.
                    try connection.execute(
                        """
                        INSERT INTO zone_touch (owner, zone, share, position) SELECT v.owner, v.zone, 0, z.position
                        FROM zone_view v JOIN zone z ON z.owner = v.owner AND z.zone = v.zone
                        WHERE v.viewer = $1 AND v.shared = 1
                        """, [.integer(viewer)])
                    let answers = try ZonesAnswers(for: session, path, in: connection)
                    let names = server.services.feedNames
                    var (token, shown, rounds) = (Data(), Set<String>(), 0)
                    var isMore = true
                    while isMore, rounds < 5 {
                        let waiting = try answers.waiting()
                        let request = Sealkit_V1_DatabaseChangesRequest.with { $0.token = token }
                        try answers.show(waiting)
                        let changes = try answers.changes(request, names, shown: waiting.count)
                        shown.formUnion(changes.modifications.map(\.zoneID.zoneName))
                        (token, isMore) = (changes.token, changes.moreComing)
                        rounds += 1
                    }
                    #expect(try answers.waiting().isEmpty)
                    #expect(shown.count == ZoneTouch.mostOfReader + 1)
                    #expect((2..<5).contains(rounds))
                    throw Undone()
                }
            }
        }
    }

    /// Participants of other shares are not to learn that anything happened.
    @Test func whatWaitsInAShareIsToldToItsParticipantsAlone() async throws {
        struct Undone: Error {}
        try await withViewers(ZoneTouch.mostAtOnce + 1) { _, bert, zone, server in
            let path = DatabasePath(container: TestClient.container, environment: .development, database: .shared)
            await #expect(throws: Undone.self) {
                try await server.services.database.write(at: .everything) { connection in
                    var row = try Self.row(zone, connection)
                    row.shares = 2
                    let caller = try bert.caller(connection)
                    let view = row.key + [.integer(caller.id)]
                    try connection.execute(
                        "UPDATE zone_view SET partial = 1 WHERE owner = $1 AND zone = $2 AND viewer = $3", view)
                    try connection.execute(
                        """
                        INSERT INTO share_view (viewer, owner, zone, share, gone, until_sequence) VALUES ($3, $1, $2, 2, 0, 0)
                        """, view)
                    _ = try Zones.takePositions(1, of: row, in: connection)
                    // 101 without Bert.
                    try connection.execute(
                        """
                        INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence, partial,
                            since, told) VALUES (999, 1, 1, $1, $2, 1, 0, 0, 0, 0, 0)
                        """, row.key)
                    try connection.execute(
                        "INSERT INTO database_feed (viewer, environment, shared, position, run) VALUES (999, 1, 1, 1, 0)"
                    )
                    try DatabaseFeed.touch(row, shares: [1], in: connection)
                    #expect(try ZoneTouch.waiting(for: caller, path, in: connection).isEmpty)
                    let before = try DatabaseFeed.lastPosition(of: caller, path, in: connection)
                    while try ZoneTouch.areThere(in: connection) { try Self.moveSome(connection) }
                    #expect(try DatabaseFeed.lastPosition(of: caller, path, in: connection) == before)
                    _ = try Zones.takePositions(1, of: row, in: connection)
                    try DatabaseFeed.touch(row, shares: [2], in: connection)
                    #expect(try ZoneTouch.waiting(for: caller, path, in: connection) == [row.key])
                    throw Undone()
                }
            }
        }
    }

    // MARK: The schema's step

    /// Where feeds stood they go on from, also where the zone that was last moved has left them.
    @Test(arguments: SQLDatabaseTests.Engine.allCases.filter { $0 == .sqlite || $0 == .postgres })
    func feedsGoOnFromWhereTheyStood(_ engine: SQLDatabaseTests.Engine) async throws {
        let folder = TemporaryFolder()
        let former = try engine.open(folder, Array(Migration.all.prefix(8)))
        try await former.write(at: .everything) { connection in
            try connection.execute("INSERT INTO server_run (number) VALUES (10)")
            try connection.execute("INSERT INTO server_run (number) VALUES (20)")
            for (viewer, zone, position) in [(1, 1, 4), (1, 2, 7), (2, 1, 1)] as [(Int64, Int64, Int64)] {
                try connection.execute(
                    """
                    INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence, partial, since)
                    VALUES ($1, 1, 0, 1, $2, $3, 0, 0, 0, 0)
                    """, [.integer(viewer), .integer(zone), .integer(position)])
            }
            for (run, position) in [(10, 0), (20, 6)] as [(Int64, Int64)] {
                try connection.execute(
                    "INSERT INTO view_run (viewer, environment, shared, run, position) VALUES (1, 1, 0, $1, $2)",
                    [.integer(run), .integer(position)])
            }
            try connection.execute(
                "INSERT INTO search_document (owner, zone, record, id, terms) VALUES (1, 1, 'a', 41, 'x')")
        }
        try await former.close()
        let database = try engine.open(folder, Migration.all)
        let feeds = try await database.write(at: .everything) { connection in
            try FeedPlaces.move("owner = $1 AND zone = $2 AND gone = 0", [1, 2], in: connection)
            #expect(try FeedPlaces.take(in: [2, 1, 0], connection) == 2)
            #expect(try FeedPlaces.take(in: [3, 1, 1], connection) == 1)
            return try connection.rows("SELECT viewer, shared, position, run FROM database_feed ORDER BY viewer") {
                row in
                [try row.int64("viewer"), try row.int64("shared"), try row.int64("position"), try row.int64("run")]
            }
        }
        #expect(feeds == [[1, 0, 8, 20], [2, 0, 2, 20], [3, 1, 1, 20]])
        let places = try await database.read { connection in
            try connection.rows("SELECT position FROM zone_view ORDER BY viewer, zone") { try $0.int64("position") }
        }
        #expect(places == [4, 8, 1])
        guard engine == .postgres else { return try await database.close() }
        let numbers = try await database.write(at: .everything) { connection in
            try connection.rows(
                "INSERT INTO search_document (owner, zone, record, terms) VALUES (1, 1, 'b', 'x'), (1, 1, 'c', 'y') RETURNING id"
            ) { try $0.int64("id") }
        }
        #expect(numbers == [42, 43])
        try await database.close()
    }
}
