import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealQuery
import SealStatements
import SealSystem
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A figure rather than a test: for how long one request holds the writer at worst, route by route, with data as bad as
/// the limits allow. No budget cuts anything short.
///
/// `SEALKIT_MEASURE=1 swift test -c release -Xswiftc -enable-testing --filter WorstRequests`
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["SEALKIT_MEASURE"] != nil), .serialized, .timeLimit(.minutes(60)))
struct WorstRequests {
    /// What is to be measured, once its data is there.
    typealias Request = @Sendable () async throws -> Void

    struct Scene: Sendable {
        let name: String
        let prepare: @Sendable (Person, TestZone, RunningServer) async throws -> Request

        init(_ name: String, _ prepare: @escaping @Sendable (Person, TestZone, RunningServer) async throws -> Request) {
            (self.name, self.prepare) = (name, prepare)
        }
    }

    @Test func longestHoldOfTheWriter() async throws {
        var serverLimits = ServerLimits()
        (serverLimits.writeBudget, serverLimits.requestRate, serverLimits.writeRate) = (0, 0, 0)
        (serverLimits.readRate, serverLimits.sharingRate, serverLimits.anonymousRate) = (0, 0, 0)
        let longest = Mutex<[(name: String, microseconds: Int64)]>([])
        for scene in Self.records + Self.zones + Self.others {
            try await RunningServer.with(
                limits: AbuseLimits(serverLimits), serverLimits: serverLimits, steadyClock: steadyClock,
                runsTwice: false
            ) { server in
                let anna = try await Person.ready(server)
                let request = try await scene.prepare(anna, try await anna.makeZone(), server)
                server.services.writeTimes.forget()
                try await request()
                for (route, entry) in server.services.writeTimes.all.sorted(by: { $0.key < $1.key }) {
                    print("MEASURE \(scene.name): \(Double(entry.longest) / 1000) ms, \(route)")
                }
                let most = server.services.writeTimes.all.values.map(\.longest).max() ?? 0
                longest.withLock { $0.append((scene.name, most)) }
            }
        }
        guard let worst = longest.withLock({ $0 }).max(by: { $0.microseconds < $1.microseconds }) else { return }
        print("MEASURE longest hold of the writer: \(Double(worst.microseconds) / 1000) ms, by \(worst.name)")
    }

    private static func expectTaken(_ codes: [ErrorCode?]) {
        let refused = codes.compactMap(\.self)
        #expect(refused.isEmpty, "\(refused.first?.rawValue ?? "")")
    }

    // MARK: Records

    private static func notes(_ count: Int, _ text: String) -> [Write] {
        (0..<count).map { index in
            var write = Write("note\(index)", nil)
            write.fields = [("body", .plain(.string(text)))]
            return write
        }
    }

    /// Each with nearly as many as one record may have.
    private static func numbered(_ indices: Range<Int>) -> [Write] {
        indices.map { index in
            var write = Write("note\(index)", nil)
            write.fields = [("tags", .plain(.list((0..<8_000).map { .int64(Int64(index * 10_000 + $0)) })))]
            return write
        }
    }

    private static func wordy(_ indices: Range<Int>) -> [Write] {
        indices.map { index in
            let words = (0..<8_000).map { "w\(index * 10_000 + $0)" }.joined(separator: " ")
            var write = Write("note\(index)", nil)
            write.fields = [("body", .plain(.string(words)))]
            return write
        }
    }

    private static let records = [
        Scene("400 records of 5 KB") { anna, zone, _ in
            let request = try anna.request(notes(400, String(repeating: "x", count: 4_700)), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("2 MB of words, under 100 subscriptions that each ask for 50 of them") { anna, zone, _ in
            let condition = Query.Condition(.words("w1 w2 w3 never", all: true))
            for index in 0..<100 {
                try await anna.subscribe(
                    .query("s\(index)", where: Query.Predicate(Array(repeating: condition, count: 50))))
            }
            // As many different ones as an index takes, again and again.
            let words = (0..<9_000).map { "w\($0)" }.joined(separator: " ")
            let text = Array(repeating: words, count: 18).joined(separator: " ")
            let request = try anna.request(notes(2, text), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("400 records, under 100 subscriptions of 50 conditions") { anna, zone, _ in
            let conditions =
                (0..<49).map { Query.Condition(.compare("body", .notEqual, .string("other\($0)"))) }
                + [Query.Condition(.beginsWith("body", "y"))]
            for index in 0..<100 { try await anna.subscribe(.query("s\(index)", where: Query.Predicate(conditions))) }
            let request = try anna.request(notes(400, String(repeating: "x", count: 1_000)), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("2 MB of other letters than ASCII's, under 100 subscriptions of 50 conditions") { anna, zone, _ in
            let conditions =
                (0..<49).map { Query.Condition(.compare("body", .notEqual, .string("other\($0)"))) }
                + [Query.Condition(.beginsWith("body", "y"))]
            for index in 0..<100 { try await anna.subscribe(.query("s\(index)", where: Query.Predicate(conditions))) }
            let request = try anna.request(notes(2, String(repeating: "A\u{308}", count: 300_000)), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("400 records of 5 KB of other letters than ASCII's") { anna, zone, _ in
            let text = (0..<60).map { "A\u{308}e\u{301}x\u{323}\u{308}\($0)" }.joined(separator: " ")
            let request = try anna.request(notes(400, text), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("2 MB of one letter, under 100 subscriptions that compare it with 250 others") { anna, zone, _ in
            let others = (0..<250).map { Value.string("é\($0)") }
            let condition = Query.Condition(.isIn("body", others))
            for index in 0..<100 { try await anna.subscribe(.query("s\(index)", where: Query.Predicate([condition]))) }
            let request = try anna.request(notes(2, String(repeating: "x", count: 1_000_000)), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("lists of 24,000 values") { anna, zone, _ in
            let request = try anna.request(numbered(0..<3), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("24,000 words") { anna, zone, _ in
            let request = try anna.request(wordy(0..<3), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("the end of 24,000 words") { anna, zone, _ in
            let saved = try await anna.save(wordy(0..<3), in: zone)
            return { expectTaken(try await anna.codes(saved.map { Write(after: $0, kind: .delete) }, in: zone)) }
        },
        Scene("the end of lists of 24,000 values") { anna, zone, _ in
            let saved = try await anna.save(numbered(0..<3), in: zone)
            return { expectTaken(try await anna.codes(saved.map { Write(after: $0, kind: .delete) }, in: zone)) }
        },
        Scene("the end of 16 records of 1 MB") { anna, zone, _ in
            var saved: [SavedRecord] = []
            for index in 0..<16 {
                var write = Write("note\(index)", nil)
                write.fields = [("body", .plain(.string(String(repeating: "x", count: 1_000_000))))]
                saved += try await anna.save([write], in: zone)
            }
            let all = saved
            return { expectTaken(try await anna.codes(all.map { Write(after: $0, kind: .delete) }, in: zone)) }
        },
        Scene("400 records of 60 values that are indexed") { anna, zone, _ in
            let writes = (0..<400).map { index in
                var write = Write("note\(index)", nil)
                write.fields = (100..<160).map { ("f\($0)", .plain(.int64(Int64($0 * 7_919 * (index + 1) % 65_537)))) }
                return write
            }
            let request = try anna.request(writes, in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("a list of 9,900 values, under 100 subscriptions that look for 250") { anna, zone, _ in
            let condition = Query.Condition(.containsAny("tags", (0..<250).map { .int64(Int64(-1 - $0)) }))
            for index in 0..<100 { try await anna.subscribe(.query("s\(index)", where: Query.Predicate([condition]))) }
            var write = Write("note", nil)
            write.fields = [("tags", .plain(.list((0..<9_900).map { .int64(Int64($0)) })))]
            let request = try anna.request([write], in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("400 records that fire 5 subscriptions each") { anna, zone, _ in
            for index in 0..<5 { try await anna.subscribe(.query("s\(index)")) }
            let request = try anna.request(notes(400, "x"), in: zone).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("50 shares below a chain of 1,000") { anna, zone, _ in
            for start in stride(from: 0, to: 1_000, by: 400) {
                let chain = (start..<min(start + 400, 1_000)).map {
                    Write("c\($0)", nil, parent: $0 == 0 ? nil : "c\($0 - 1)")
                }
                expectTaken(try await anna.codes(chain, in: zone))
            }
            var (writes, openings): ([PlacedWrite], [Sealkit_V1_ShareOpening]) = ([], [])
            for index in 0..<50 {
                let (scope, opening) = try anna.newShare("share\(index)", root: "root\(index)", in: zone)
                var record = Write("share\(index)", nil)
                record.type = Names.shareType
                writes += [
                    PlacedWrite(record, in: scope),
                    PlacedWrite(Write("root\(index)", nil, parent: "c999"), in: scope, share: "share\(index)"),
                ]
                openings.append(opening)
            }
            let request = try anna.request(writes, opening: openings).request
            return { expectTaken(try await anna.send(request, to: zone).map(\.code)) }
        },
        Scene("2 deletions that take 1,500 records along") { anna, zone, _ in
            let targets = try await anna.save((0..<2).map { Write("target\($0)", nil) }, in: zone)
            for start in stride(from: 0, to: 1_500, by: 375) {
                let sources = (start..<start + 375).map { Write("s\($0)", nil).going(with: "target\($0 / 750)") }
                expectTaken(try await anna.codes(sources, in: zone))
            }
            return {
                expectTaken(try await anna.codesCovering(targets.map { Write(after: $0, kind: .delete) }, in: zone))
            }
        },
        Scene("a deletion that takes 16 MB along") { anna, zone, _ in
            let target = try await anna.save([Write("target", nil)], in: zone)
            for index in 0..<16 {
                var source = Write("s\(index)", nil).going(with: "target")
                source.fields.append(("text", .plain(.string(String(repeating: "x", count: 1_000_000)))))
                expectTaken(try await anna.codes([source], in: zone))
            }
            return { expectTaken(try await anna.codesCovering([Write(after: target[0], kind: .delete)], in: zone)) }
        },
        Scene("a deletion that follows 10,000 references") { anna, zone, _ in
            let target = try await anna.save([Write("target", nil)], in: zone)
            let names = (0..<100).map { "s\($0)" }
            for name in names {
                // It goes with the target, and with others that go with it.
                let targets = ["target"] + names.shuffled().prefix(97)
                var source = Write(name, nil)
                source.fields = [
                    (
                        "owners",
                        .plain(
                            .list(
                                targets.map { .reference(ReferenceValue(recordName: $0, action: .deleteSelf)) }))
                    )
                ]
                expectTaken(try await anna.codes([source], in: zone))
            }
            return { expectTaken(try await anna.codesCovering([Write(after: target[0], kind: .delete)], in: zone)) }
        },
    ]

    // MARK: Zones

    private static let zones = [
        Scene("100 zones") { anna, _, _ in
            let saves = try (0..<100).map { ("zone\($0)", try anna.opening("zone\($0)")) }
            return { expectTaken(try await anna.modifyZones(saving: saves).map { $0.failure.errorCode }) }
        },
        Scene("the end of 100 zones") { anna, _, _ in
            var closes: [(String, SignedRosterEntry)] = []
            let drafts = try (0..<100).map { try anna.opening("zone\($0)") }
            _ = try await anna.modifyZones(saving: drafts.enumerated().map { ("zone\($0)", $1) })
            for (index, draft) in drafts.enumerated() {
                let roster = try Roster(opening: draft.entry, scope: anna.scope("zone\(index)"))
                closes.append(("zone\(index)", anna.author.plain(.close, on: roster, time: 2).entry))
            }
            let all = closes
            return { expectTaken(try await anna.modifyZones(deleting: all).map { $0.failure.errorCode }) }
        },
        Scene("the end of a zone of 200,000 records") { anna, zone, server in
            try await WriterCostTests.fill(zone, 200_000, bytes: 1_000, server)
            return {
                let failure = try await anna.deleteZone(zone).failure
                #expect(failure.code.isEmpty)
            }
        },
        Scene("400 subscriptions, among 4,000 zones and 600 subscriptions") { anna, zone, server in
            try await fill(with: 4_000, zone, server)
            try await subscribe(600, anna)
            let saves = (600..<1_000).map { Sealkit_V1_Subscription.database("db\($0)") }
            return { expectTaken(try await anna.modifySubscriptions(saving: saves).map { $0.failure.errorCode }) }
        },
        Scene("the end of 400 subscriptions, the last ones, among 4,000 zones") { anna, zone, server in
            try await fill(with: 4_000, zone, server)
            try await subscribe(400, anna)
            let ids = (0..<400).map { "db\($0)" }
            return { expectTaken(try await anna.modifySubscriptions(deleting: ids).map { $0.failure.errorCode }) }
        },
    ]

    private static func subscribe(_ count: Int, _ anna: Person) async throws {
        for start in stride(from: 0, to: count, by: 200) {
            _ = try await anna.modifySubscriptions(saving: (start..<start + 200).map { .database("db\($0)") })
        }
    }

    private static func fill(with zones: Int64, _ zone: TestZone, _ server: RunningServer) async throws {
        try await server.services.database.write(at: .everything) { connection in
            try connection.execute(
                """
                INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence, head,
                    participants, closed, watched, shares)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
                SELECT z.owner, z.zone + n.i, z.container, z.environment, z.owner_name, 'zone' || n.i, 0, 1, 0, z.head, 0, 0, 0, 0
                FROM zone z, n WHERE z.name = $2
                """, [.integer(zones), .text(zone.name)])
            try connection.execute(
                """
                INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence, partial, since)
                SELECT z.owner, z.environment, 0, z.owner, z.zone, z.zone, 0, 0, 0, 0 FROM zone z WHERE z.name LIKE 'zone%'
                ON CONFLICT DO NOTHING
                """)
            try connection.execute(
                """
                UPDATE database_feed SET position = (SELECT MAX(v.position) FROM zone_view v WHERE v.viewer = database_feed.viewer
                    AND v.environment = database_feed.environment AND v.shared = database_feed.shared)
                """)
        }
    }

    // MARK: Rosters

    private static let others = [
        Scene("a new epoch for 100 invitations") { anna, zone, _ in
            var shared = zone
            try await anna.append(
                try anna.next(on: shared, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &shared)
            let invitations = try (0..<100).map { _ in try anna.invitation(to: nil, in: shared) }
            try await anna.append(
                try anna.next(on: shared, invitations: invitations.map(\.draft)), to: &shared,
                links: invitations.map(\.link))
            let draft = try anna.next(on: shared, rotating: true)
            let request = anna.appendRequest(draft, to: shared)
            return { [shared] in _ = try await anna.send(request, to: shared) }
        },
        Scene("500 entries that are given back") { anna, zone, _ in
            var known = zone
            var entries = try await anna.fetchRoster(zone).entries
            while entries.count < 500 {
                let draft = try anna.next(on: known, rotating: true)
                try known.roster.append(draft.entry)
                if let key = draft.epochKey { known.key = key }
                entries.append(draft.entry.wire)
            }
            let request = Sealkit_V1_RestoreRosterRequest.with {
                $0.zone = zone.id(for: anna)
                $0.entries = entries
            }
            return { _ = try await anna.restore(request) }
        },
    ]
}
