import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What a server counts, against what was sent to it.
@Suite(.timeLimit(.minutes(60))) struct TelemetryTests {
    /// What a client has sent and got, by its own count.
    private struct Sent: Sendable, Equatable {
        var requests = 0
        var bytesIn = 0
        var bytesOut = 0
        var codes: [String: Int] = [:]
    }

    /// Sends requests of several kinds, many at once, and counts them by route.
    private static func generate(
        _ server: RunningServer, _ person: Person, _ zone: TestZone
    ) async throws -> [String: Sent] {
        let lookup = Sealkit_V1_LookupRecordsRequest.with {
            $0.zone = zone.id(for: person)
            $0.recordNames = ["a"]
        }
        let elsewhere = Sealkit_V1_LookupRecordsRequest.with {
            ($0.zone.zoneName, $0.recordNames) = ("nowhere", ["a"])
        }
        let read = Endpoints.records.lookup.route.name
        let path = person.path("records/lookup", shared: false)
        // The body of what is refused before is not read.
        let kinds: [(name: String, path: String, body: [UInt8], token: String, isRead: Bool)] = [
            (read, path, try lookup.serializedBytes(), person.client.token, true),
            (read, path, try elsewhere.serializedBytes(), person.client.token, true),
            (read, path, try lookup.serializedBytes(), "canary-token", false),
            ("unknown", "/canary/path", [1, 2, 3], person.client.token, false),
        ]
        return try await withThrowingTaskGroup(of: (String, Int, RefusalClient.Answer).self) { group in
            for index in 0..<200 {
                let kind = kinds[index % kinds.count]
                group.addTask {
                    let client = RefusalClient(origin: server.origin, token: kind.token)
                    let answer = try await client.send(
                        "POST", kind.path, type: RefusalClient.protobuf, bytes: kind.body)
                    return (kind.name, kind.isRead ? kind.body.count : 0, answer)
                }
            }
            var sent: [String: Sent] = [:]
            for try await (name, bytes, answer) in group {
                sent[name, default: Sent()].requests += 1
                sent[name, default: Sent()].bytesIn += bytes
                if answer.status == 200 {
                    sent[name, default: Sent()].bytesOut += answer.body.count
                } else if let code = answer.code?.rawValue {
                    sent[name, default: Sent()].codes[code, default: 0] += 1
                }
            }
            return sent
        }
    }

    private static func seen(_ answer: Sealkit_V1_TelemetryResponse) -> [String: Sent] {
        answer.lines.reduce(into: [:]) { found, line in
            found[line.name] = Sent(
                requests: Int(line.total.count), bytesIn: Int(line.total.bytesIn), bytesOut: Int(line.total.bytesOut),
                codes: line.total.codes.reduce(into: [:]) { $0[$1.code] = Int($1.count) })
        }
    }

    /// Without the log what comes again is counted by its words.
    @Test(arguments: [true, false]) func countsAreTheLoadGeneratorsOwn(hasLog: Bool) async throws {
        let clock = TestClock()
        // In the middle of a day: no hour begins between two minutes of the test.
        clock.set(clock.now - clock.now % 86_400_000_000 + 6 * 3_600_000_000)
        try await RunningServer.with(clock: clock, hasOperator: true, hasTelemetry: true, hasLog: hasLog) { server in
            let anna = try await Person.ready(server)
            _ = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("a")], in: zone)
            // What came before is another hour's.
            server.clock.advance(seconds: 7_200)
            let boss = try OperatorClient(server)
            let sent = try await Self.generate(server, anna, zone)
            server.clock.advance(seconds: 60)
            let again = try await Self.generate(server, anna, zone)
            let both = sent.merging(again) { first, second in
                Sent(
                    requests: first.requests + second.requests, bytesIn: first.bytesIn + second.bytesIn,
                    bytesOut: first.bytesOut + second.bytesOut, codes: first.codes.merging(second.codes) { $0 + $1 })
            }
            let number = both.values.reduce(0) { $0 + $1.requests }
            #expect(number == 400)
            let answer = try await boss.telemetry(by: "operation")
            #expect(Self.seen(answer) == both)
            #expect(answer.state == "ok")
            #expect(answer.step == 60)
            #expect(answer.all.total.count == 400)
            // Two minutes, and the same by hour and day.
            #expect(answer.all.parts.map(\.sums.count) == [200, 200])
            for step: UInt32 in [3_600, 86_400] {
                #expect(try await boss.telemetry(step: step).all.parts.last?.sums.count ?? 0 >= 400)
            }
            let total = answer.all.total
            #expect(total.latency50 <= total.latency95 && total.latency95 <= total.latency99)
            #expect(total.microseconds > 0)
            // By code, container, environment and database; strangers are in none.
            let codes = try await boss.telemetry(by: "code")
            var refused: [String: Int] = [:]
            for one in both.values { refused.merge(one.codes) { $0 + $1 } }
            var counts = Dictionary(uniqueKeysWithValues: codes.lines.map { ($0.name, Int($0.total.count)) })
            let answered = counts.removeValue(forKey: "")
            #expect(answered == 400 - refused.values.reduce(0, +))
            #expect(counts == refused)
            #expect(refused["zoneNotFound"] != nil)
            for (dimension, word, count) in [
                ("container", TestClient.container, UInt64(200)), ("environment", "development", 300),
                ("database", "private", 300),
            ] {
                let found = try await boss.telemetry(by: dimension).lines
                let line = found.first { $0.name == word }
                #expect(line?.total.count == count, "\(dimension): \(found.map(\.name))")
            }
            #expect(try await boss.telemetry(filters: ["container": TestClient.container]).all.total.count == 200)
            // Both were active on this day, counted without either of them.
            let active = try await boss.telemetry().active
            for stretch in ["day", "week", "month"] {
                let found = active.last { $0.stretch == stretch }?.accounts ?? 0
                #expect((1...2).contains(found), "\(stretch): \(found)")
            }
            #expect(try await boss.telemetry(by: "operation", limit: 1).lines.map(\.isRest) == [false, true])
        }
    }

    /// Each again and again, in turns: none is taken for another one.
    @Test func requestsThatComeAgainAreToldApart() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasLog: false) { server in
            let anna = try await Person.ready(server)
            let path = anna.path("zones/lookup", shared: false)
            let shared = anna.path("zones/lookup", shared: true)
            for _ in 0..<3 {
                for path in [path, shared, path.replacing("/development/", with: "/production/")] {
                    for (group, client) in [
                        ("launch", "swift/0.1.0 linux"), ("launch", "web/0.1 linux"), ("sync%20all", "web/0.1 linux"),
                        ("%0A", "nothing"),
                    ] {
                        var request = HTTPClientRequest(url: server.origin + path)
                        request.method = .POST
                        request.headers.add(name: "Content-Type", value: RefusalClient.protobuf)
                        request.headers.add(name: "Authorization", value: "Bearer \(anna.client.token)")
                        request.headers.add(name: "sealkit-operation-group-name", value: group)
                        request.headers.add(name: "sealkit-client", value: client)
                        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                        #expect(answer.status == .ok)
                    }
                }
            }
            let boss = try OperatorClient(server)
            let filters = ["operation": Endpoints.zones.lookup.route.name]
            for (dimension, counts) in [
                ("group", ["launch": 18, "sync all": 9, "": 9]),
                ("client", ["swift/0.1.0 linux": 9, "web/0.1 linux": 18, "": 9]),
                ("environment", ["development": 24, "production": 12]),
            ] {
                let lines = try await boss.telemetry(by: dimension, filters: filters).lines
                let found = Dictionary(uniqueKeysWithValues: lines.map { ($0.name, Int($0.total.count)) })
                #expect(found == counts, "\(dimension)")
            }
        }
    }

    @Test func groupsClientsItemsAndNotificationsAreCounted() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(
                webhookOrigins: [receiver.origin], hasOperator: true, hasTelemetry: true
            ) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                let first = try await anna.save([Write("a")], in: zone)
                var subscription = Sealkit_V1_Subscription.query("hook")
                subscription.webhook = receiver.origin + "/hook"
                try await anna.subscribe(subscription)
                let events = try await anna.onAnotherDevice().listen()
                try await anna.subscribe(.database())
                _ = try await anna.save([Write(after: first[0])], in: zone)
                _ = try await receiver.delivery(1)
                _ = try await events.next()
                events.close()
                // A record that somebody else has changed meanwhile, in an answer that is no failure.
                let stale = try await anna.codes([Write(after: first[0])], in: zone)
                #expect(stale == [.serverRecordChanged])
                let boss = try OperatorClient(server)
                let items = try await boss.telemetry(by: "code", kind: "item").lines
                #expect(items.map(\.name) == ["serverRecordChanged"])
                #expect(items.map(\.total.count) == [1])
                // They are counted once they have been taken.
                var told: Set<String> = []
                for _ in 0..<500 where told.count < 2 {
                    told = Set(try await boss.telemetry(by: "operation", kind: "notification").lines.map(\.name))
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(told == ["stream", "webhook"])

                for (header, client, isKnown) in [
                    ("launch%20sync", "swift/0.1.0 linux", true), ("launch%20sync", "Mozilla/5.0 (canary)", true),
                    ("caf%C3%A9", "web/0.1 linux", true), ("%0Acanary", "swift/0.1.0 linux; canary", true),
                    (String(repeating: "x", count: 65), "a/b c", true),
                    ("%zz", "swift/1 " + String(repeating: "x", count: 40), true),
                    ("stranger", "swift/9.9.9 linux", false),
                ] {
                    var request = HTTPClientRequest(url: server.origin + "/1/accounts/usage")
                    request.headers.add(name: "sealkit-operation-group-name", value: header)
                    request.headers.add(name: "sealkit-client", value: client)
                    if isKnown { request.headers.add(name: "Authorization", value: "Bearer \(anna.client.token)") }
                    let status = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status
                    #expect(isKnown || status == .unauthorized, "\(status)")
                }
                let groups = try await boss.telemetry(by: "group").lines
                #expect(Set(groups.map(\.name)) == ["", "launch sync", "café"])
                let launch = groups.first { $0.name == "launch sync" }
                #expect(launch?.total.count == 2)
                let clients = try await boss.telemetry(by: "client").lines
                // What a stranger alone says of their client is told apart no more.
                #expect(Set(clients.map(\.name)) == ["", "swift/0.1.0 linux", "web/0.1 linux", "other"])
            }
        }
    }

    @Test("Telemetry is read for who somebody is, what they have, or what strangers have written: it is not in it.")
    func attack97_whatTelemetryKeeps() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder, hasOperator: true, hasTelemetry: true) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("canary-zone")
            _ = try await anna.save([Write("canary-record", "canary-value")], in: zone)
            let account = try await anna.client.me().account
            for token in ["canary-token", anna.client.token] {
                var request = HTTPClientRequest(
                    url: server.origin + "/database/1/canary.container/development/private/records/lookup?canary=1")
                request.method = .POST
                request.headers.add(name: "Authorization", value: "Bearer \(token)")
                for name in ["User-Agent", "X-Forwarded-For", "Cookie", "sealkit-client", "Referer"] {
                    request.headers.add(name: name, value: "canary")
                }
                if token == "canary-token" {
                    request.headers.add(name: "sealkit-operation-group-name", value: "canary")
                    _ = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status
                }
                request.url = server.origin + "/canary/\(token)"
                _ = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status
            }
            // What anybody may read, in a container that they have made up.
            let read = try await RefusalClient(origin: server.origin).send(
                "/database/1/canary.container/development/public/records/lookup",
                Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["a"] })
            #expect(read.status == 200)
            let boss = try OperatorClient(server)
            var shown = ""
            for dimension in SealStorage.TelemetryDimension.allCases {
                shown += try await boss.telemetry(by: dimension.rawValue).jsonString()
            }
            let logged = try await boss.logs()
            #expect(Set(logged.entries.map(\.user.isEmpty)) == [true, false])
            shown += try logged.jsonString()
            await server.services.telemetry.flush()
            var bytes: [UInt8] = []
            for ending in ["", "-wal"] {
                let path = folder.file("data/telemetry.sqlite\(ending)")
                bytes += [UInt8](FileManager.default.contents(atPath: path) ?? Data())
            }
            #expect(bytes.count > 4_096)
            let kept = String(decoding: bytes, as: UTF8.self) + shown
            for word in ["canary", account, anna.name, anna.client.token, "127.0.0.1"] {
                #expect(!kept.contains(word), "\(word)")
            }
            AttackOutcome.held("counts and registers")
        }
    }

    @Test func whatIsAskedForHasToBeThere() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true) { server in
            let boss = try OperatorClient(server)
            let now = server.clock.now / 1_000_000
            func ask(_ change: (inout Sealkit_V1_TelemetryRequest) -> Void) async throws {
                var message = Sealkit_V1_TelemetryRequest.with { $0.from = now - 60 }
                change(&message)
                let asked = message
                _ = try await boss.call(Endpoints.operator.telemetry, asked)
            }
            try await ask { $0.limit = .max }
            let filter = Sealkit_V1_TelemetryFilter.with { ($0.dimension, $0.word) = ("code", "x") }
            let changes: [(inout Sealkit_V1_TelemetryRequest) -> Void] = [
                { $0.from = 0 }, { $0.from = -1 }, { $0.from = now + 100 }, { $0.until = now - 60 },
                { $0.until = .max },
                { ($0.from, $0.until) = (.min, .max) }, { $0.step = 61 }, { $0.step = .max },
                { ($0.from, $0.step) = (now - 86_400 * 3, 60) }, { $0.by = "account" }, { $0.by = "container; --" },
                { $0.kind = "person" }, { $0.filters = [filter, filter] },
                { $0.filters = [.with { $0.dimension = "account" }] },
            ]
            for change in changes {
                do {
                    try await ask(change)
                    Issue.record("a question that is none was answered")
                } catch let refusal as Refusal {
                    #expect(refusal.code == .invalidArguments)
                    #expect(!refusal.failure.remedy.isEmpty)
                }
            }
        }
        // Switched off nothing is counted, and no file made.
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            _ = try await Person.ready(server)
            let answer = try await OperatorClient(server).telemetry()
            #expect(answer.state == "off")
            #expect(answer.lines.isEmpty)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("data/telemetry.sqlite")))
    }

    /// Whatever becomes of the file, the server serves.
    @Test func aFileThatIsDamagedOrCannotBeWrittenStopsNothing() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("data/telemetry.sqlite")
        let log = LogCapture()
        try await RunningServer.with(folder: folder, hasOperator: true, hasTelemetry: true) { server in
            _ = try await Person.ready(server)
        }
        #expect(FileManager.default.fileExists(atPath: path))
        // It outlives the server, and one that is damaged is put aside.
        try await RunningServer.with(folder: folder, hasOperator: true, hasTelemetry: true) { server in
            let boss = try OperatorClient(server)
            #expect(try await boss.telemetry().all.total.count > 0)
        }
        try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: path))
        try await RunningServer.with(
            folder: folder, logger: log.logger, hasOperator: true, hasTelemetry: true
        ) { server in
            let anna = try await Person.ready(server)
            let boss = try OperatorClient(server)
            let answer = try await boss.telemetry()
            #expect(answer.state == "ok")
            #expect(answer.all.total.count > 0)
            let aside = log.lines.contains { $0.hasPrefix("error") && $0.contains("put aside") }
            #expect(aside)
            _ = try await anna.makeZone()
        }
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
        for ending in ["", "-wal", "-shm"] { try PrivateFiles.remove(path + ending) }
        // In its place is something that cannot be written.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try await RunningServer.with(
            folder: folder, logger: log.logger, hasOperator: true, hasTelemetry: true
        ) { server in
            let anna = try await Person.ready(server)
            for _ in 0..<3 { await server.services.telemetry.flush() }
            #expect(server.services.telemetry.state == .failing)
            let said = log.lines.filter { $0.contains("telemetry cannot be written") }
            #expect(said.count == 1)
            _ = try await anna.makeZone()
            let count = server.services.telemetry.recorder?.lost
            #expect(count == 0)
            try FileManager.default.removeItem(atPath: path)
            // What was counted meanwhile is there.
            let answer = try await OperatorClient(server).telemetry(by: "operation")
            #expect(answer.state == "ok")
            let names = answer.lines.map(\.name)
            #expect(names.contains(Endpoints.zones.modify.route.name))
            let again = log.lines.contains { $0.contains("telemetry is written again") }
            #expect(again)
        }
    }
}
