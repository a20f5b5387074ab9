import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What the server keeps of its runs. What tokens make of it is `RestoredServerTests`.
@Suite(.timeLimit(.minutes(60))) struct ServerRunsTests {
    private static let tables = ["zone_run", "view_run"]

    /// However many zones there are, a run's beginning writes nothing for them; each feed's first change in a run does,
    /// and no further one. A file's run ends with the server's; PostgreSQL's goes on while that does.
    @Test func whatARunKeepsGrowsWithWhatChangesInIt() async throws {
        let folder = TemporaryFolder()
        let kept = RestoredServerTests.Box<RestoredServerTests.Shared>()
        try await RunningServer.with(folder: folder) { server in
            let shared = try await RestoredServerTests.shared(server)
            _ = try await shared.anna.save([Write("a")], in: shared.zone)
            _ = try await shared.anna.makeZone("quiet")
            // Two zones, Anna's private and Bert's shared database.
            #expect(try await server.rows(in: Self.tables) == ["zone_run": 2, "view_run": 2])
            kept.value = shared
        }
        try await RunningServer.with(folder: folder) { server in
            let people = try kept.held()
            let (anna, bert) = (people.anna.at(server), people.bert.at(server))
            #expect(try await server.rows(in: Self.tables) == ["zone_run": 2, "view_run": 2])
            let more: Int64 = TestPostgres.isForAll ? 0 : 1
            for name in ["b", "c"] {
                _ = try await bert.save([Write(name)], in: people.zone)
                #expect(try await server.rows(in: Self.tables) == ["zone_run": 2 + more, "view_run": 2 + 2 * more])
            }
            // Another zone's first change, by one whose feed has changed already.
            _ = try await anna.makeZone("new")
            #expect(try await server.rows(in: Self.tables) == ["zone_run": 3 + more, "view_run": 2 + 2 * more])
            #expect(try await server.rows(in: ["server_run"]) == ["server_run": 1 + more])
        }
    }

    // MARK: The schema's step

    /// Where each of a zone's and a viewer's tokens could reach by the tables of before, it can by those that took
    /// their place.
    @Test func whatAFormerServerKeptHoldsOn() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("former.sqlite")
        let runs: [Int64] = [10, 20, 30, 40, 50]
        var statements: [String] = []
        // As the starts of former servers wrote them: where each feed ended in the runs in which it moved. The last has
        // not ended.
        var ends: [Int: [Int64: Int64]] = [:]
        var standing: [Int: Int64] = [:]
        // A feed for every choice of runs in which it moved.
        let feeds = 1...(1 << runs.count)
        for feed in feeds {
            var position: Int64 = 0
            for (index, run) in runs.enumerated() where feed >> index & 1 == 1 {
                position += Int64(feed + index)
                if run != runs.last { ends[feed, default: [:]][run] = position }
            }
            standing[feed] = position
            statements += [
                """
                INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence, head,
                    participants, closed) VALUES (1, \(feed), 'c', 1, '\(UserID(.zero).recordName)', 'z\(feed)', \(position), 0, 0,
                    x'\(String(repeating: "00", count: 32))', 0, 0)
                """,
                "INSERT INTO zone_view VALUES (\(feed), 1, 0, 1, \(feed), \(position), 0, 0, 0, 0)",
            ]
            for (run, end) in ends[feed] ?? [:] {
                statements.append("INSERT INTO zone_end VALUES (1, \(feed), \(run), \(end))")
                statements.append("INSERT INTO view_end VALUES (\(feed), 1, 0, \(run), \(end))")
            }
        }
        statements += runs.map { "INSERT INTO server_run (number) VALUES (\($0))" }
        let former = try SQLiteDatabase(
            path: path, migrations: Array(Migration.all.prefix { !$0.name.hasPrefix("003") }))
        try await former.write(at: .everything) { [statements] connection in
            for statement in statements { try connection.execute(statement, []) }
        }
        try await former.close()

        let database = try SQLiteDatabase(path: path, migrations: Migration.all)
        try await database.write(at: .everything) { try ServerRuns.begin(now: 60 << 20, random: 0, in: $0) }
        for feed in feeds {
            let last = try #require(standing[feed])
            for run in runs {
                let expected = run == runs.last ? last : ends[feed]?.filter { $0.key <= run }.values.max() ?? 0
                let found = try await reach(of: run, feed, database)
                #expect(found.zone.end == expected, "feed \(feed), run \(run)")
                #expect(found.view.end == expected, "feed \(feed), run \(run)")
            }
            #expect(try await reach(of: 25, feed, database).zone.end == nil)
        }
        try await database.close()
    }

    private func reach(
        of run: Int64, _ feed: Int, _ database: SQLiteDatabase
    ) async throws -> (zone: ServerRuns.Reach, view: ServerRuns.Reach) {
        try await database.read { connection in
            let zone = try #require(
                try connection.first(
                    "SELECT \(ZoneRow.columns) FROM zone z WHERE z.zone = $1", [.integer(Int64(feed))], ZoneRow.init))
            let path = DatabasePath(container: "c", environment: .development, database: .private)
            let session = Session(accountID: 1, tokenHash: [])
            let caller = Caller(id: Int64(feed), userID: UserID(.zero), session: session)
            let standing = try DatabaseFeed.lastPosition(of: caller, path, in: connection)
            return (
                try ServerRuns.reach(of: run, in: zone, connection),
                try ServerRuns.reach(of: run, of: caller, path, standing: standing, in: connection)
            )
        }
    }
}
