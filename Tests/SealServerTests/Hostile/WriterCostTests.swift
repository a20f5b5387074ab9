import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What one request may make everybody else's writes wait for, whatever it is about: counted, never timed.
@Suite(.timeLimit(.minutes(60))) struct WriterCostTests {
    // MARK: Zones

    /// Records of a zone, as the database has them after very many saves.
    static func fill(_ zone: TestZone, _ count: Int, bytes: Int = 100, _ server: RunningServer) async throws {
        try await server.services.database.write(at: .everything) { connection in
            try connection.execute(
                """
                INSERT INTO record (owner, zone, name, type, position, revision, hash, creator, parent, created, modified,
                    deleted, assets, statement, proof, fields, tag, delete_references, share, key_known)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
                SELECT z.owner, z.zone, 'r' || n.i, 'Note', n.i, 1, $5, $6, NULL, 0, 0, 0, 0, $7, $8, $2, n.i, 0, 0, 0
                FROM zone z, n WHERE z.name = $3 AND z.owner_name = $4
                """,
                [
                    .integer(Int64(count)), .data(Data(count: bytes)), .text(zone.name), .text(zone.owner.recordName),
                    .data(Data(count: 32)), .data(Data(count: 16)), .data(Data(count: 200)), .data(Data(count: 100)),
                ])
            try connection.execute(
                """
                INSERT INTO record_index (owner, zone, field, value, record, position)
                SELECT owner, zone, 1, hash, name, position FROM record
                """)
        }
    }

    private static func row(_ zone: TestZone, _ connection: any SQLConnection) throws -> ZoneRow {
        try #require(
            try connection.first(
                "SELECT \(ZoneRow.columns) FROM zone z WHERE z.name = $1 AND z.owner_name = $2",
                [.text(zone.name), .text(zone.owner.recordName)], ZoneRow.init))
    }

    private static func left(_ server: RunningServer) async throws -> Int64 {
        try await server.services.database.read { connection in
            try connection.first("SELECT (SELECT COUNT(*) FROM record) + (SELECT COUNT(*) FROM record_index) AS count")
            {
                try $0.int64("count")
            } ?? 0
        }
    }

    @Test("A zone as large as anybody makes it, deleted, makes nobody wait for all that it held.")
    func attack85_aLargeZoneIsDeleted() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            try await Self.fill(zone, 6_000, server)
            let database = server.services.database
            func changed(_ body: @escaping @Sendable (any SQLConnection) throws -> Bool) async throws -> (Int, Bool) {
                let before = counter.changed
                let more = try await database.write(at: .everything, body)
                return (counter.changed - before, more)
            }
            let (first, _) = try await changed { connection in
                var room = ZoneRemains.Room.ofRequest
                try ZoneRemains.leave(try Self.row(zone, connection), &room, in: connection)
                return room.isSpent
            }
            #expect(first > 1_900, "\(first)")
            #expect(first < 2_100, "\(first)")
            var steps = 0
            while true {
                let (count, more) = try await changed { try Self.step(in: $0) }
                #expect(count <= 600, "\(count)")
                if !more { break }
                steps += 1
            }
            #expect(steps >= 20)
            #expect(try await Self.left(server) == 0)
        }
        AttackOutcome.held("2,000 rows with the request, the rest in steps")
    }

    /// As the job takes them.
    private static func step(in connection: any SQLConnection) throws -> Bool {
        guard let zone = try ZoneRemains.first(in: connection) else { return false }
        try ZoneRemains.step(of: zone, in: connection)
        return true
    }

    /// Few records, but large ones.
    @Test func aStepOfEmptyingIsBoundedByBytesToo() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            try await Self.fill(zone, 100, bytes: 200_000, server)
            let before = counter.changed
            try await server.services.database.write(at: .everything) { connection in
                var room = ZoneRemains.Room.ofRequest
                try ZoneRemains.leave(try Self.row(zone, connection), &room, in: connection)
            }
            #expect(counter.changed - before < 30)
            while try await server.services.database.write(at: .everything, { try Self.step(in: $0) }) {}
            #expect(try await Self.left(server) == 0)
        }
    }

    /// To its user a large zone is gone at once; its name is free once nothing of it is left.
    @Test func aZoneBeginsAgainOnceItsRemainsAreGone() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            try await Self.fill(zone, 5_000, server)
            let close = anna.author.plain(.close, on: zone.roster, time: 2)
            let deleted = try await anna.modifyZones(deleting: [(zone.name, close.entry)])[0]
            guard case .deleted = deleted.outcome else { throw TestFailure("not deleted: \(deleted.failure)") }
            try zone.roster.append(close.entry)
            #expect(try await anna.zones().isEmpty)
            #expect(try await anna.zones([(zone.name, "")])[0].failure.errorCode == .zoneNotFound)
            let again = try anna.opening(zone.name, following: zone.roster)
            let save = Sealkit_V1_ZoneSave.with {
                $0.zoneID.zoneName = zone.name
                $0.open = again.entry.wire
                if let grant = again.grants.first { $0.grant = grant.wire }
            }
            let (services, now, known) = (server.services, server.clock.now, zone)
            let refused = try await services.database.write(at: .everything) { connection -> ErrorCode? in
                try connection.execute(
                    "INSERT INTO zone_remains (owner, zone) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    try Self.row(known, connection).key)
                let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
                let change = ZoneChange(
                    caller: try anna.caller(connection), path: path, rosters: services.rosters, quotas: services.quotas,
                    now: now,
                    connection: connection)
                do {
                    _ = try change.save(save)
                    return nil
                } catch let error as ServerError {
                    return error.code
                }
            }
            #expect(refused == .zoneBusy)
            // What a crash has left, too.
            try await server.sweep(now: server.clock.now)
            #expect(try await Self.left(server) == 0)
            let opened = try await anna.modifyZones(saving: [(zone.name, again)])[0]
            guard case .zone = opened.outcome else { throw TestFailure("not opened: \(opened.failure)") }
        }
    }

    // MARK: Rosters

    /// A server that has just started, or that remembers others, replays a long roster beside the writer.
    @Test("A roster with very many entries is replayed beside the writer, not while others wait for it.")
    func attack87_aLongRoster() async throws {
        let folder = TemporaryFolder()
        let counter = StatementCounter()
        let made = Mutex<(Person, TestZone)?>(nil)
        let entries = Int(RosterCache.mostInWrite) + 20
        var limits = AbuseLimits()
        limits.epochOpening = .init(count: 1_000, window: limits.epochOpening.window)
        try await RunningServer.with(limits: limits, folder: folder) { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            for _ in 0..<entries { try await anna.append(try anna.next(on: zone, rotating: true), to: &zone) }
            made.withLock { $0 = (anna, zone) }
        }
        let (person, known) = try #require(made.withLock { $0 })
        try await RunningServer.with(folder: folder, counter: counter) { server in
            let anna = person.at(server)
            var zone = known
            let (rows, inWrites) = (counter.rows, counter.rowsInWrites)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            #expect(counter.rowsInWrites - inWrites < 40)
            #expect(counter.rows - rows > entries)
        }
        AttackOutcome.held("replayed from a snapshot first")
    }

    // MARK: Subscriptions

    /// Words of one record are found once, however many ask for some.
    @Test func wordsOfARecordAreReadOnce() {
        var subject = Query.Subject(recordType: "Note", recordName: "note", fields: ["body": .string("red green")])
        #expect(subject.words == ["red", "green"])
        subject.keepWords()
        subject.fields = [:]
        #expect(subject.words == ["red", "green"])
    }

    /// Long lists are compared with long lists as far as a save may pay for; beyond it the subscriber fetches what
    /// changed. Others are told as ever.
    @Test("A participant's subscriptions, however long and whatever they look for, hold up nobody's saves.")
    func attack86_costlySubscriptions() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            let wanted = (0..<250).map { Value.int64(-1 - Int64($0)) }
            try await anna.subscribe(
                .query("costly", where: Query.Predicate([Query.Condition(.containsAny("tags", wanted))])))
            try await anna.subscribe(.query("cheap"))
            let events = try await anna.onAnotherDevice().listen()
            var write = Write("note", nil)
            write.fields = [("tags", .plain(.list((0..<9_900).map { .int64(Int64($0)) })))]
            // 9,900 times 250.
            #expect(try await bert.codes([write], in: zone) == [nil])
            #expect(try await events.next().name == "reset")
            #expect(try await bert.codes([Write("small")], in: zone) == [nil])
            let told = try await events.notification()
            #expect(told.subscriptionID == "cheap")
            #expect(told.recordName == "small")
        }
        AttackOutcome.held("the subscriber is told to fetch changes, the save is taken")
    }

    /// A long text is as good as a short one where it is told apart at its beginning; where accents have to be evened
    /// out, which reads all of it, it counts by its length.
    @Test func longTextsCountByWhatComparingThemReads() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let others = (0..<49).map { Query.Condition(.compare("body", .notEqual, .string("other\($0)"))) }
            try await anna.subscribe(.query("others", where: Query.Predicate(others)))
            let events = try await anna.onAnotherDevice().listen()
            func save(_ name: String, _ character: String) async throws {
                var write = Write(name, nil)
                write.fields = [("body", .plain(.string(String(repeating: character, count: 200_000))))]
                #expect(try await anna.codes([write], in: zone) == [nil])
            }
            try await save("plain", "x")
            #expect(try await events.notification().recordName == "plain")
            try await save("accents", "x\u{308}")
            #expect(try await events.next().name == "reset")
        }
    }

    @Test func whatComparingCosts() {
        let long = String(repeating: "ä", count: 3_200)
        #expect(ComparisonWork(nil).times([.int64(1), .int64(2)]) == 2)
        #expect(ComparisonWork(.string("plain")).times([.string("a"), .string("b")]) == 2)
        #expect(ComparisonWork(.string(String(repeating: "x", count: 6_400))).times([.string("a")]) == 1)
        #expect(ComparisonWork(.string(long)).times([.string("a")]) == 1 + 800)
        #expect(ComparisonWork(.string("x")).times([.string(long)]) == 1 + 900)
        // Each element is read as far as the longest text that is asked for.
        let plain = Value.string(String(repeating: "a", count: 1_024))
        #expect(ComparisonWork(.list(Array(repeating: plain, count: 1_000))).times([plain]) == 1_000 + 16_016)
        #expect(ComparisonWork(.list([.string(long), .int64(2)])).times([.int64(1), .int64(2)]) == 4 + 800)
        #expect(ComparisonWork.of(long) == 1 + 800)
    }

    /// What is known of an account's subscriptions without reading them is enough to pass over the largest.
    @Test func subscriptionsThatAreTooLargeTogetherAreNotRead() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            try await anna.subscribe(.query("some"))
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    "UPDATE subscription SET body = $1", [.data(Data(count: QueryNotifier.mostWork * 17))])
            }
            #expect(try await anna.codes([Write("note")], in: zone) == [nil])
            let place = try await server.services.database.read { connection in
                try connection.first("SELECT last, floor FROM notification_feed WHERE last > 0", []) {
                    [try $0.int64("last"), try $0.int64("floor")]
                }
            }
            #expect(place == [1, 1])
        }
    }

    // MARK: What has gathered

    /// Nobody who logs in after a quiet month waits, or is refused, for all the sessions that have ended meanwhile: the
    /// job drops them, some at a time.
    @Test func whatHasExpiredIsNotForWhoeverLogsIn() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            // Of somebody else's device: whose number is limited of itself.
            _ = try await Person.ready(server)
            try await server.services.database.write(at: .everything) { connection in
                for _ in 0..<1_000 {
                    try connection.execute(
                        """
                        INSERT INTO session (token_hash, account, device, created, expires)
                        SELECT $1, account, device, 0, 1 FROM session LIMIT 1
                        """, [.blob(randomBytes(32))])
                }
            }
            let anna = try await Person.ready(server)
            func left() async throws -> Int64 {
                try await server.services.database.read { connection in
                    try connection.first("SELECT COUNT(*) AS count FROM session WHERE expires = 1") {
                        try $0.int64("count")
                    } ?? 0
                }
            }
            let (before, there) = (counter.changed, try await left())
            _ = try await anna.client.login()
            let (after, rest) = (counter.changed - before, try await left())
            #expect(after < 20)
            #expect(there > 500)
            #expect(rest == there)
            try await server.services.jobs.run(.sweep)
            #expect(try await left() == 0)
        }
    }
}
