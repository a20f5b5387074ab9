import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Feeds of many zones at once, of many writers at once, and after old deletions have left them.
@Suite(.timeLimit(.minutes(60))) struct ChangesTests {
    static func changes(
        _ person: Person, _ zones: [(zone: TestZone, token: Data)], limit: UInt32 = 0
    ) async throws -> [Sealkit_V1_ZoneRecordChanges] {
        var request = Sealkit_V1_ZonesRecordChangesRequest()
        request.zones = zones.map { zone, token in
            .with {
                $0.zone = zone.id(for: person)
                $0.token = token
                $0.resultsLimit = limit
            }
        }
        return try await person.client.call(
            person.path("changes/zone"), request, as: Sealkit_V1_ZonesRecordChangesResponse.self
        ).zones
    }

    @Test func manyZonesAreAnsweredEachForItself() async throws {
        try await RunningServer.withZone { anna, one, server in
            let two = try await anna.makeZone("two")
            let gone = TestZone(name: "gone", owner: anna.user, roster: one.roster, key: one.key)
            _ = try await anna.save([Write("a"), Write("b")], in: one)
            _ = try await anna.save([Write("c")], in: two)
            let foreign = try await anna.changes(in: two).token
            let answer = try await Self.changes(anna, [(one, Data()), (gone, Data()), (two, Data())])
            #expect(answer.map(\.zone.zoneName) == ["notes", "gone", "two"])
            #expect(answer[0].changes.records.map(\.recordName) == ["a", "b"] && !answer[0].changes.moreComing)
            #expect(answer[1].failure.errorCode == .zoneNotFound)
            #expect(answer[2].changes.records.map(\.recordName) == ["c"])
            #expect(answer[2].changes.scopes[0].head == Data(two.roster.head.bytes))
            for record in answer[0].changes.records { _ = try anna.open(record, in: one) }
            // Tokens and limits are each zone's own.
            let next = try await Self.changes(anna, [(one, foreign), (two, foreign)], limit: 1)
            #expect(next[0].failure.errorCode == .changeTokenExpired)
            #expect(next[1].changes.records.isEmpty)
            #expect(try await Self.changes(anna, [(one, Data())], limit: 1)[0].changes.moreComing)
            #expect(try await Self.changes(anna, []).isEmpty)
            try await expectRefusal(.invalidArguments) { try await Self.changes(anna, [(one, Data()), (one, Data())]) }
            let many = (0...400).map { index in
                (TestZone(name: "z\(index)", owner: anna.user, roster: one.roster, key: one.key), Data())
            }
            try await expectRefusal(.limitExceeded) { try await Self.changes(anna, many) }
            // Of others' zones nothing shows.
            let bert = try await Person.ready(server)
            #expect(try await Self.changes(bert, [(one, Data())])[0].failure.errorCode == .zoneNotFound)
        }
    }

    @Test func manyZonesTogetherAreBoundedAndNothingIsLeftOut() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zones: [TestZone] = []
            for index in 0..<4 {
                let zone = try await anna.makeZone("z\(index)")
                for name in ["a", "b"] {
                    var write = Write(name)
                    write.fields = [("data", .plain(.data([UInt8](repeating: 1, count: 900_000))))]
                    _ = try await anna.save([write], in: zone)
                }
                zones.append(zone)
            }
            var tokens = zones.map { _ in Data() }
            var seen: [String] = []
            for _ in 0..<10 {
                let answer = try await Self.changes(anna, zip(zones, tokens).map { ($0, $1) })
                let size = try answer.reduce(0) { $0 + (try $1.serializedData().count) }
                #expect(size < 2_200_000)
                seen += answer.flatMap { zone in zone.changes.records.map { zone.zone.zoneName + $0.recordName } }
                tokens = answer.map(\.changes.token)
                if answer.allSatisfy({ !$0.changes.moreComing }) { break }
            }
            let saved = zones.flatMap { ["\($0.name)a", "\($0.name)b"] }
            #expect(seen.sorted() == saved)
        }
    }

    /// Writers and readers in whatever interleaving: what a reader has put together from its feed is what is there.
    @Test func noChangeIsLostOrTwiceUnderManyWritersAndReaders() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            // What readers believe: name to revision, nil once deleted.
            struct View {
                var records: [String: UInt64] = [:]
                var delivered: Set<String> = []
                var twice = 0
            }
            func follow(_ limit: UInt32, until isDone: @Sendable () -> Bool) async throws -> View {
                var view = View()
                var token = Data()
                while true {
                    let wasDone = isDone()
                    let page = try await anna.changes(in: zone, since: token, limit: limit)
                    for record in page.records {
                        let saved = try SavedRecord(record)
                        if !view.delivered.insert("\(saved.name) \(saved.revision) \(record.deleted)").inserted {
                            view.twice += 1
                        }
                        view.records[saved.name] = record.deleted ? nil : saved.revision
                    }
                    token = page.token
                    if wasDone, !page.moreComing { return view }
                }
            }
            let writing = Counter(5)
            let views = try await withThrowingTaskGroup(of: View?.self) { group in
                for writer in 0..<5 {
                    group.addTask {
                        defer { writing.decrement() }
                        var last = try await anna.save(
                            (0..<3).map { Write("w\(writer)-\($0)").going(with: "t\(writer)") }, in: zone)
                        for round in 0..<12 {
                            switch round % 4 {
                            case 3:
                                // The target goes, and all with it; then they are made again.
                                let target = try await anna.lookup(["t\(writer)"], in: zone).results[0]
                                if target.code == nil {
                                    _ = try await anna.codesCovering(
                                        [Write(after: try SavedRecord(target.record), kind: .delete)], in: zone)
                                }
                                let gone = try await anna.lookup(last.map(\.name), in: zone).results.map {
                                    try SavedRecord($0.serverRecord)
                                }
                                last = try await anna.save(
                                    gone.map { Write(after: $0).going(with: "t\(writer)") }, in: zone)
                            case 2:
                                let target = try await anna.lookup(["t\(writer)"], in: zone).results[0]
                                let write =
                                    target.hasServerRecord
                                    ? Write(after: try SavedRecord(target.serverRecord)) : Write("t\(writer)")
                                _ = try await anna.save([write], in: zone)
                            default:
                                last = try await anna.save(
                                    last.map { Write(after: $0).going(with: "t\(writer)") }, in: zone)
                            }
                            if last.contains(where: { $0.result.code != nil }) {
                                throw TestFailure("a save was refused")
                            }
                        }
                        return nil
                    }
                }
                for limit in [1, 2, 3, 7] as [UInt32] {
                    group.addTask { try await follow(limit) { writing.isZero } }
                }
                return try await group.reduce(into: [View]()) { if let view = $1 { $0.append(view) } }
            }
            var truth: [String: UInt64] = [:]
            for record in try await anna.changes(in: zone).records where !record.deleted {
                truth[record.recordName] = try SavedRecord(record).revision
            }
            #expect(views.count == 4)
            #expect(truth.count >= 15)
            for view in views {
                #expect(view.records == truth)
                #expect(view.twice == 0)
            }
        }
    }

    @Test func deletionsLeaveTheFeedWhenOldAndTokensOfBeforeExpire() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let saved = try await anna.save(
                [Write("a"), Write("t"), Write("s").going(with: "t"), Write("live"), Write("last")], in: zone)
            let early = try await anna.changes(in: zone, limit: 1)
            let before = try await anna.changes(in: zone).token
            _ = try await anna.save([Write(after: saved[0], kind: .delete)], in: zone)
            #expect(try await anna.codesCovering([Write(after: saved[1], kind: .delete)], in: zone) == [nil])
            let after = try await anna.changes(in: zone).token
            let half = try await anna.changes(in: zone, limit: 1)
            let start = server.clock.now
            func sweep(days: Int64) async throws {
                // Only the jobs' time is another one: the session is to stay.
                try await server.services.database.write(at: .everything) {
                    try $0.execute("UPDATE session SET expires = $1", [.integer(.max)])
                }
                try await server.sweep(now: start + days * 86_400_000_000)
            }
            try await sweep(days: 179)
            #expect(try await anna.changes(in: zone, since: before).records.map(\.recordName) == ["a", "t", "s"])
            server.clock.advance(seconds: 20 * 86_400)
            _ = try await anna.save([Write(after: saved[4], kind: .delete)], in: zone)
            try await sweep(days: 181)
            for token in [before, early.token, half.token] {
                #expect(try await refusal { try await anna.changes(in: zone, since: token) } == .changeTokenExpired)
            }
            // Who had been told goes on; who begins is told what there is, young deletions included, also page by page.
            #expect(try await anna.changes(in: zone, since: after).records.map(\.recordName) == ["last"])
            var names: [String] = []
            var token = Data()
            repeat {
                let page = try await anna.changes(in: zone, since: token, limit: 1)
                names += page.records.map(\.recordName)
                token = page.token
                if !page.moreComing { break }
            } while names.count < 9
            #expect(names == ["live", "last"])
            // Look-ups keep the signed deletions, and what is made again goes on after them.
            let found = try await anna.lookup(["a", "s"], in: zone).results
            #expect(found.map(\.code) == [.unknownItem, .unknownItem] && found[0].serverRecord.deleted)
            _ = try CascadeTests.verify(found[1].serverRecord, in: zone)
            #expect(try await anna.codes([Write("a")], in: zone) == [.serverRecordChanged])
            let again = Write(after: try SavedRecord(found[0].serverRecord))
            #expect(try await anna.codes([again], in: zone) == [nil])
            #expect(try await anna.changes(in: zone, since: token).records.map(\.recordName) == ["a"])
        }
    }

    /// Changes-since is one range of an index: neither the zone's size comes into it, nor what lies in shares that its
    /// reader does not see.
    @Test(.withDatabaseFile) func theFeedReadsNothingBeforeTheTokenAndNothingThatIsHidden() async throws {
        try await RunningServer.withZone { _, _, server in
            func plan(_ query: String, _ values: Int) async throws -> [String] {
                try await server.services.database.read { connection in
                    try connection.rows(
                        "EXPLAIN QUERY PLAN " + query, Array(repeating: .integer(1), count: values)
                    ) { try $0.text("detail") }
                }
            }
            let (own, shared) = (
                "SEARCH record USING INDEX record_feed (owner=? AND zone=? AND position>?)",
                "SEARCH record USING INDEX record_feed_shared (owner=? AND zone=? AND position>?)"
            )
            #expect(try await plan(RecordFeed.query, 4) == [own])
            let everything = try await plan(RecordFeed.queryOfEverything, 4)
            #expect(everything == ["MERGE (UNION ALL)", "LEFT", own, "RIGHT", shared])
            // Each has nothing of the other.
            let indexes = try await server.services.database.read { connection in
                try connection.rows(
                    "SELECT sql FROM sqlite_master WHERE name IN ('record_feed', 'record_feed_shared') ORDER BY name"
                ) { try $0.text("sql") }
            }
            let conditions = indexes.map { $0.split(separator: " WHERE ").last }
            #expect(conditions == ["share = 0", "share > 0"])
            let one = try await plan(RecordFeed.query(of: ZoneShare(number: 3, recordName: "s", root: "r")), 4)
            let ofOne = one.filter { $0.contains(" record ") }
            #expect(ofOne == ["SEARCH record USING INDEX record_share (owner=? AND zone=? AND share=? AND position>?)"])
            #expect(!one.joined().contains("TEMP B-TREE"))
            #expect(
                try await plan(RecordFeed.placesQuery, 6) == [
                    "SEARCH record USING COVERING INDEX record_share "
                        + "(owner=? AND zone=? AND share=? AND position>? AND position<?)"
                ])
            let atPlace = try await plan(RecordFeed.Place.recordQuery, 4)
            #expect(
                atPlace == [
                    "SEARCH record USING INDEX record_share (owner=? AND zone=? AND share=? AND position>? AND position<?)"
                ])
            let departed = try await plan(RecordFeed.Place.departureQuery, 4)
            #expect(
                departed.count == 1 && departed[0].contains("(owner=? AND zone=? AND share=? AND position=?)"),
                "\(departed)")
            let shares = [3, 5].map { ZoneShare(number: $0, recordName: "s\($0)", root: "r\($0)") }
            let departures = try await plan(RecordFeed.departuresQuery(of: shares), 5).filter { $0.contains(" d ") }
            #expect(departures.count == 1 && departures[0].contains("position>? AND position<?"), "\(departures)")
            for (share, index) in [(0, "record_feed"), (3, "record_share")] {
                let stale = try await plan(StaleRecords.query(of: Int64(share)), 6).filter { $0.contains(" record ") }
                #expect(stale.count == 2 && stale[0].contains("USING INDEX \(index) ("), "\(stale)")
                #expect(stale[1].contains("USING INDEX record_known_key ("), "\(stale)")
            }
            let sweep = try await plan(Compaction.query, 2)
            #expect(sweep == ["SEARCH record USING INDEX record_tombstone (modified<?)"])
        }
    }
}

/// How many are still at it.
final class Counter: Sendable {
    private let count: Mutex<Int>
    init(_ count: Int) { self.count = Mutex(count) }
    func decrement() { count.withLock { $0 -= 1 } }
    var isZero: Bool { count.withLock { $0 == 0 } }
}
