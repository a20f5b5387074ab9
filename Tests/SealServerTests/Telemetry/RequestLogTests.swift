import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The log of requests as the operator asks for it.
@Suite(.timeLimit(.minutes(60))) struct RequestLogTests {
    private static let modify = Endpoints.records.modify.route.name

    @Test func aRequestIsLoggedWithHowItWentAndWithoutWhose() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger, hasOperator: true, hasTelemetry: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone()
            let other = try await bert.makeZone()
            server.clock.advance(seconds: 60)
            let start = server.clock.now
            let saved = try await anna.save([Write("a")], in: zone)
            _ = try await anna.save([Write(after: saved[0])], in: zone)
            #expect(try await anna.codes([Write(after: saved[0])], in: zone) == [.serverRecordChanged])
            _ = try await bert.save([Write("b")], in: other)
            let path = anna.path("records/lookup", shared: false)
            let elsewhere = Sealkit_V1_LookupRecordsRequest.with {
                ($0.zone.zoneName, $0.recordNames) = ("nowhere", ["a"])
            }
            let id = String(repeating: "ab", count: 16)
            for token in [anna.client.token, "canary"] {
                var request = HTTPClientRequest(url: server.origin + path)
                request.method = .POST
                for (name, value) in [
                    ("Authorization", "Bearer \(token)"), ("Content-Type", RefusalClient.protobuf),
                    ("sealkit-client", "swift/0.1.0 linux"), ("sealkit-operation-group-name", "launch%20sync"),
                    ("sealkit-operation-group", "\(id) 1 0 0"),
                ] { request.headers.add(name: name, value: value) }
                request.body = .bytes(ByteBuffer(bytes: try elsewhere.serializedBytes() as [UInt8]))
                _ = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status
            }
            let boss = try OperatorClient(server)
            let answer = try await boss.logs { $0.from = start }
            #expect(answer.state == "ok")
            #expect(answer.unlogged == 0)
            #expect(answer.cursor.isEmpty)
            let entries = answer.entries
            // Newest first.
            #expect(entries.map(\.time) == entries.map(\.time).sorted(by: >))
            #expect(entries.last?.time ?? 0 >= start)
            let saves = entries.filter { $0.operation == Self.modify }
            #expect(saves.map(\.refusedItems) == [0, 1, 0, 0])
            for save in saves {
                #expect([save.code, save.request] == ["", ""])
                #expect([save.container, save.database] == [TestClient.container, "private"])
                #expect(save.environment == "development")
                for number in [save.bytesIn, save.bytesOut, save.microseconds] { #expect(number > 0) }
            }
            // One account has one pseudonym that day, and another one another.
            #expect(saves.map(\.user.utf8.count) == [8, 8, 8, 8])
            try #require(saves.count == 4)
            #expect(Set(saves.dropFirst().map(\.user)).count == 1)
            #expect(saves[0].user != saves[1].user)
            let looked = entries.filter { $0.operation == Endpoints.records.lookup.route.name }
            let (stranger, failed) = (try #require(looked.first), try #require(looked.last))
            #expect(failed.code == ErrorCode.zoneNotFound.rawValue)
            #expect(failed.client == "swift/0.1.0 linux")
            #expect(failed.group == "launch sync")
            #expect(failed.groupID == id)
            #expect(failed.user == saves[1].user)
            // The server's own log has the same request.
            #expect(!failed.request.isEmpty)
            let isThere = log.lines.contains { $0.contains(failed.request) }
            #expect(isThere)
            // Whoever has no session leaves none of their words.
            #expect(stranger.user.isEmpty && stranger.group.isEmpty && stranger.groupID.isEmpty)
            #expect(stranger.container.isEmpty || stranger.container == TestClient.container)
            #expect(!stranger.code.isEmpty)
            // The same by what entries have.
            let ofUser = try await boss.logs { ($0.from, $0.user) = (start, failed.user) }
            #expect(ofUser.entries.count == 4)
            let ofRequest = try await boss.logs { $0.request = failed.request }
            #expect(ofRequest.entries == [failed])
            let ofGroup = try await boss.logs { $0.groupID = id }
            #expect(ofGroup.entries == [failed])
            let thatFailed = try await boss.logs { ($0.from, $0.outcome) = (start, "failed") }
            #expect(thatFailed.entries == looked)
            let withText = try await boss.logs { ($0.last, $0.outcome, $0.text) = (60, "failed", "SYNC") }
            #expect(withText.entries == [failed])
            let pages = try await Self.pages(boss, of: 2) { $0.from = start }
            #expect(pages == entries)
            // The next day's are another's.
            server.clock.advance(seconds: 86_400)
            _ = try await anna.save([Write("c")], in: zone)
            let next = try await boss.logs { $0.last = 60 }.entries.first { $0.operation == Self.modify }
            #expect(next.map(\.user) != saves[1].user)
            // What the operator asks is in none.
            let operations = try await boss.logs().entries.map(\.operation)
            #expect(Set(operations).isDisjoint(with: Endpoints.operatorFamily.routes.map(\.name)))
        }
    }

    private static func pages(
        _ boss: OperatorClient, of size: UInt32, _ change: (inout Sealkit_V1_LogRequest) -> Void
    ) async throws -> [Sealkit_V1_LogEntry] {
        var (found, cursor) = ([Sealkit_V1_LogEntry](), Data())
        repeat {
            let page = try await boss.logs { message in
                change(&message)
                (message.limit, message.cursor) = (size, cursor)
            }
            found += page.entries
            cursor = page.cursor
        } while !cursor.isEmpty
        return found
    }

    @Test func whatIsAskedForHasToBeThere() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true) { server in
            let boss = try OperatorClient(server)
            let filter = Sealkit_V1_TelemetryFilter.with { ($0.dimension, $0.word) = ("code", "x") }
            let changes: [(inout Sealkit_V1_LogRequest) -> Void] = [
                { $0.from = -1 }, { ($0.from, $0.until) = (2, 1) }, { $0.until = -1 }, { ($0.from, $0.last) = (1, 1) },
                { $0.outcome = "both" }, { $0.filters = [filter, filter] },
                { $0.filters = [.with { $0.dimension = "user; --" }] },
                { $0.text = String(repeating: "x", count: 257) }, { $0.user = "1" }, { $0.user = "zzzzzzzz" },
                { $0.groupID = "12" }, { $0.cursor = Data([1]) }, { $0.cursor = Data(repeating: 9, count: 9) },
                { $0.cursor = Data(count: 9) },
                // The last time that there is, and none after it.
                { $0.cursor = Data([0x7F] + Array(repeating: 0xFF, count: 7) + [0]) },
            ]
            for (index, change) in changes.enumerated() {
                try await expectRefusal(.invalidArguments, "\(index)") { try await boss.logs(change) }
                try await expectRefusal(.invalidArguments, "\(index)") {
                    var query = Sealkit_V1_LogRequest()
                    change(&query)
                    let asked = query
                    return try await boss.call(
                        Endpoints.monitoring.saveLogQuery, .with { ($0.query.name, $0.query.query) = ("a", asked) })
                }
            }
            let widest = try await boss.logs { ($0.limit, $0.last) = (.max, .max) }
            #expect(widest.state == "ok")
        }
    }

    @Test func queriesAreKeptByName() async throws {
        let folder = TemporaryFolder()
        let query = Sealkit_V1_LogRequest.with {
            ($0.last, $0.outcome, $0.text) = (3_600, "failed", "sync")
            $0.filters = [.with { ($0.dimension, $0.word) = ("code", "zoneNotFound") }]
        }
        @Sendable func all(_ boss: OperatorClient) async throws -> [Sealkit_V1_SavedLogQuery] {
            try await boss.call(Endpoints.monitoring.logQueries, .init()).queries
        }
        @Sendable func save(_ boss: OperatorClient, _ name: String, _ query: Sealkit_V1_LogRequest) async throws {
            _ = try await boss.call(
                Endpoints.monitoring.saveLogQuery, .with { ($0.query.name, $0.query.query) = (name, query) })
        }
        @Sendable func remove(_ boss: OperatorClient, _ name: String) async throws {
            _ = try await boss.call(Endpoints.monitoring.removeLogQuery, .with { $0.name = name })
        }
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            try await save(boss, "slow", query)
            try await save(boss, "é 2", .init())
            // In the place of the one before; pages are nobody's to keep.
            var paged = query
            (paged.limit, paged.last) = (7, 60)
            try await save(boss, "slow", paged)
            for name in ["", String(repeating: "x", count: 65), "a\nb", "\u{202E}x"] {
                try await expectRefusal(.invalidArguments, "\(name.debugDescription)") {
                    try await save(boss, name, query)
                }
            }
            try await expectRefusal(.unknownItem) { try await remove(boss, "none") }
        }
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            let kept = try await all(boss)
            #expect(kept.map(\.name) == ["slow", "é 2"])
            #expect(kept[0].query.last == 60 && kept[0].query.limit == 0 && kept[0].query.text == "sync")
            try await remove(boss, "slow")
            for index in 0..<99 { try await save(boss, "q\(index)", query) }
            try await expectRefusal(.limitExceeded) { try await save(boss, "one more", query) }
            try await save(boss, "q5", .init())
            #expect(try await all(boss).count == SavedLogQueries.most)
        }
    }

    @Test func thereIsNoneWhereTheOperatorWantsNone() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder, hasOperator: true, hasTelemetry: true, hasLog: false) { server in
            _ = try await Person.ready(server)
            let boss = try OperatorClient(server)
            let answer = try await boss.logs()
            #expect(answer.state == "counts")
            #expect(answer.entries.isEmpty)
            #expect(try await boss.telemetry().all.total.count > 0)
        }
        try await RunningServer.with(hasOperator: true) { server in
            let boss = try OperatorClient(server)
            #expect(try await boss.logs().state == "off")
        }
    }
}
