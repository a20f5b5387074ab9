import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What is counted of shares, their keys, and who is told of changes.
@Suite(.timeLimit(.minutes(60))) struct SharingTelemetryTests {
    private static func lines(
        _ boss: OperatorClient, _ kind: String, by dimension: String = "operation", _ filters: [String: String] = [:]
    ) async throws -> [String: UInt64] {
        let found = try await boss.telemetry(by: dimension, kind: kind, filters: filters).lines
        return Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.total.count) })
    }

    /// As a client that says what it is.
    private static func send(
        _ request: some Message, to path: String, of person: Person, client: String
    ) async throws -> UInt {
        var sent = HTTPClientRequest(url: person.client.server.origin + path)
        sent.method = .POST
        for (name, value) in [
            ("Content-Type", RefusalClient.protobuf), ("Authorization", "Bearer \(person.client.token)"),
            ("sealkit-client", client),
        ] { sent.headers.add(name: name, value: value) }
        sent.body = .bytes(ByteBuffer(bytes: try request.serializedBytes() as [UInt8]))
        let answer = try await HTTPClient.shared.execute(sent, timeout: .seconds(60))
        _ = try await answer.body.collect(upTo: 1 << 20)
        return answer.status.code
    }

    /// Anybody may begin containers: an answer names so many, and none is left out of its sums.
    @Test func ofManyContainersTheWorstAreNamed() {
        let most = KeyWatch.Round.mostLines
        var sums: [TelemetryPlace: KeySums] = [:]
        for number in 0..<(most + 2) {
            var one = KeySums()
            (one.scopes, one.due) = (1, number < 2 ? 0 : 1)
            sums[TelemetryPlace(container: "org.example.c\(number)", environment: "production")] = one
        }
        let lines = KeyWatch.Round(ended: 1, sums: sums).lines([:])
        #expect(lines.count == most + 1)
        #expect(lines.dropLast().allSatisfy { $0.sums.due == 1 })
        #expect(lines.dropLast().map(\.place.container) == lines.dropLast().map(\.place.container).sorted())
        #expect(lines.last?.place.container == "(the rest)")
        #expect(lines.last?.sums.scopes == 2 && lines.last?.sums.due == 0)
    }

    @Test func invitationsAndWhoAcceptsThemAreCounted() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry, hasOperator: true, hasTelemetry: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let carl = try await Person.ready(server)
            let boss = try OperatorClient(server)
            var zone = try await anna.makeSharedZone()
            #expect(try await Self.lines(boss, "sharing").isEmpty)
            let invitations = [
                try anna.invitation(to: bert, in: zone), try anna.invitation(to: carl, in: zone),
            ]
            let draft = try anna.next(on: zone, invitations: invitations.map(\.draft))
            let append = anna.appendRequest(draft, to: zone, links: [invitations[0].link])
            // An answer that was lost is asked for again: that invites nobody.
            for _ in 0..<2 { _ = try await anna.send(append, to: zone) }
            try zone.roster.append(draft.entry)
            for (person, invitation, client) in [
                (bert, invitations[0], "web/0.1.0 browser"), (carl, invitations[1], "swift/0.1.0 linux"),
            ] {
                let (request, draft) = try person.acceptRequest(
                    invitation, in: zone, routingID: invitations[0].routingID)
                for _ in 0..<2 {
                    let status = try await Self.send(request, to: "/1/share/accept", of: person, client: client)
                    #expect(status == 200)
                }
                try zone.roster.append(draft.entry)
            }
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            let all = try await Self.lines(boss, "sharing")
            #expect(all == ["invitation": 2, "acceptance": 2, "rotation": 1])
            let ways = try await Self.lines(boss, "sharing", by: "client", ["operation": "acceptance"])
            #expect(ways == ["web/0.1.0 browser": 1, "swift/0.1.0 linux": 1])
            #expect(try await Self.lines(boss, "sharing", by: "container") == [TestClient.container: 5])
            #expect(try await Self.lines(boss, "sharing", by: "environment") == ["development": 5])
            let text = PrometheusText.write(registry)
            for (event, count) in [
                ("invitation", 2), ("acceptance-page", 1), ("acceptance-app", 1), ("rotation", 1),
            ] { #expect(text.contains("sealkit_sharing_total{event=\"\(event)\"} \(count)\n"), "\(event)") }
        }
    }

    /// Shares of hierarchies begin with a save, and may invite at once.
    @Test func invitationsOfASaveAreCounted() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone()
            let root = try await anna.save([Write("list")], in: zone)[0]
            var (share, opening) = try anna.newShare("share", root: "list", in: zone)
            let writes = anna.sharing(root, as: "share", in: zone, share)
            let invitation = try anna.invitation(to: bert, in: share)
            let draft = try anna.next(
                on: share, [.settings(.init(linkID: Digest(randomBytes(32))))], invitations: [invitation.draft])
            opening.following = anna.appendRequest(draft, to: share, links: [invitation.link])
            #expect(try await anna.save(writes, opening: [opening]).map(\.result.code) == [nil, nil])
            try share.roster.append(draft.entry)
            let boss = try OperatorClient(server)
            #expect(try await Self.lines(boss, "sharing") == ["invitation": 1])
        }
    }

    @Test func codesAreCountedByWhatTheyWereFor() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true) { server in
            let anna = try await Person.ready(server)
            let boss = try OperatorClient(server)
            _ = try await anna.client.begin("anna@example.org")
            _ = try await server.mail.code(1)
            server.mail.fail(with: Array(repeating: .notSent(code: 7, status: 0, reason: ""), count: 3))
            _ = try await anna.client.begin("bert@example.org")
            try await waitUntil("both are settled") {
                try await Self.lines(boss, "sharing", by: "code") == ["": 1, "given-up": 1]
            }
            #expect(try await Self.lines(boss, "sharing") == ["code": 2])
            #expect(try await Self.lines(boss, "sharing", by: "container") == [TestClient.container: 2])
        }
    }

    private static func keys(
        _ server: RunningServer, _ boss: OperatorClient, _ filters: [String: String] = [:]
    ) async throws -> [Sealkit_V1_TelemetryKeys] {
        // A round begins no sooner.
        server.clock.advance(seconds: 601)
        await server.services.keyWatch.look()
        return try await boss.telemetry(kind: "sharing", filters: filters).keys
    }

    /// A round that ended while the clock was ahead is followed by another one all the same.
    @Test func keysAreLookedAtAgainWhenTheClockGoesBack() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true) { server in
            let watch = server.services.keyWatch
            let now = server.clock.now
            server.clock.advance(seconds: 30 * 86_400)
            await watch.look()
            #expect(watch.round?.ended == server.clock.now / 1_000_000)
            server.clock.set(now)
            await watch.look()
            #expect(watch.round?.ended == now / 1_000_000)
        }
    }

    @Test func howKeysStandIsSeenByRostersAndStatements() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry, hasOperator: true, hasTelemetry: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let boss = try OperatorClient(server)
            // One that was made and nothing else says nothing.
            _ = try await anna.makeZone("alone")
            var zone = try await anna.makeSharedZone()
            let saved = try await anna.save([Write("gone"), Write("a")], in: zone)
            _ = try await anna.save([Write(after: saved[0], kind: .delete)], in: zone)
            try await anna.share(&zone, with: bert)
            #expect(try await boss.telemetry(kind: "sharing").keysRead == 0)
            var keys = try await Self.keys(server, boss)
            #expect(keys.map(\.container) == [TestClient.container] && keys.map(\.environment) == ["development"])
            #expect(keys.map(\.scopes) == [1] && keys.map(\.due) == [0] && keys.map(\.outdated) == [0])
            #expect(try await boss.telemetry(kind: "sharing").keysRead == server.clock.now / 1_000_000)
            #expect(try await boss.telemetry().keys.isEmpty)

            let left = server.clock.now
            try await bert.append(bert.author.plain(.leave, on: zone.roster, time: left), to: &zone)
            // What comes after it leaves the key due.
            try await anna.append(
                try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone)
            keys = try await Self.keys(server, boss)
            #expect(keys.map(\.due) == [1] && keys.map(\.dueSince) == [left / 1_000_000])
            server.services.metrics.collect()
            var text = PrometheusText.write(registry)
            #expect(text.contains("sealkit_keys_due 1\n") && text.contains("sealkit_keys_due_seconds 601\n"))
            #expect(try await Self.keys(server, boss, ["container": "org.example.none"]).isEmpty)

            for _ in 0..<2 { try await anna.append(try anna.next(on: zone, rotating: true), to: &zone) }
            keys = try await Self.keys(server, boss)
            #expect(keys.map(\.due) == [0] && keys.map(\.dueSince) == [0])
            #expect(keys.map(\.outdated) == [1] && keys.map(\.behind) == [2])
            _ = try await anna.save([Write(after: saved[1])], in: zone)
            keys = try await Self.keys(server, boss)
            #expect(keys.map(\.outdated) == [0] && keys.map(\.behind) == [0])
            server.services.metrics.collect()
            text = PrometheusText.write(registry)
            for name in ["due", "due_seconds", "outdated", "behind"] {
                #expect(text.contains("sealkit_keys_\(name) 0\n"), "\(name)")
            }
        }
    }

    /// However little is read at once, everything is seen, and once.
    @Test func aRoundGoesPageByPage() async throws {
        try await HierarchyTests().withShare { shared in
            var zone = try await shared.anna.makeSharedZone("other")
            try await shared.anna.append(try shared.anna.next(on: zone, rotating: true), to: &zone)
            let database = shared.server.services.database
            var found: [KeySums] = []
            for page in [1, 2, 200] {
                let survey = KeySurvey(page: page)
                var (all, next) = (KeySums(), KeySurvey.Place?.some(KeySurvey.Place()))
                while let place = next {
                    let (sums, further) = try await database.read { try survey.look(from: place, in: $0) }
                    for one in sums.values { all.add(one) }
                    next = further
                }
                found.append(all)
            }
            #expect(found[0] == found[1] && found[1] == found[2])
            // The other zone, and the hierarchy: its own zone has no more than its first entry.
            #expect(found[0].scopes == 2 && found[0].unread == 0)
        }
    }

    @Test func whatIsToldTogetherIsCounted() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry, hasOperator: true, hasTelemetry: true) { server in
            let anna = try await Person.ready(server)
            let boss = try OperatorClient(server)
            let zone = try await anna.makeZone()
            try await anna.subscribe(.zone(zone))
            let other = try await anna.onAnotherDevice()
            let events = try await other.listen()
            try await waitUntil("it is open") { server.services.streams.count == 1 }
            server.services.telemetry.recorder?.note(open: server.services.streams)
            #expect(try await Self.lines(boss, "stream", by: "container") == [TestClient.container: 1])
            let first = try await anna.save([Write("a")], in: zone)
            let id = try #require(try await events.next().id)
            events.close()
            try await waitUntil("it is closed") { server.services.streams.count == 0 }
            server.services.telemetry.recorder?.note(open: server.services.streams)
            #expect(try await Self.lines(boss, "stream") == ["open": 1])
            #expect(try await Self.lines(boss, "coalesced").isEmpty)
            let before = try #require(try await Self.lines(boss, "notification")["stream"])
            // Three saves are told once: two of them with the third.
            var last = first[0]
            for _ in 0..<3 { last = try await anna.save([Write(after: last)], in: zone)[0] }
            let again = try await other.listen(after: id)
            _ = try await again.next()
            try await waitUntil("it is counted") { try await !Self.lines(boss, "coalesced").isEmpty }
            again.close()
            #expect(try await Self.lines(boss, "coalesced") == ["stream": 2])
            #expect(try await Self.lines(boss, "notification") == ["stream": before + 1])
            let text = PrometheusText.write(registry)
            #expect(text.contains("sealkit_notifications_total{way=\"stream\",outcome=\"sent\"} \(before + 1)\n"))
            #expect(text.contains("sealkit_notifications_total{way=\"stream\",outcome=\"coalesced\"} 2\n"))
        }
    }
}
