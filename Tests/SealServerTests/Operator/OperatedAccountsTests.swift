import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealEnvelope
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What the operator is shown of accounts, and sets of them.
@Suite(.timeLimit(.minutes(60))) struct OperatedAccountsTests {
    /// What making another zone is refused with.
    private static func zone(of person: Person) async throws -> ErrorCode? {
        try await person.modifyZones(saving: [("more", try person.opening("more"))]).first?.failure.errorCode
    }

    private static func name(_ person: Person) async throws -> String { try await person.client.me().account }

    @Test func accountsComeInPages() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            var names: [String] = []
            for _ in 0..<7 { names.append(try await Self.name(try await Person.ready(server))) }
            let boss = try OperatorClient(server)
            var (found, cursor, pages) = ([String](), Data(), 0)
            repeat {
                let page = try await boss.accounts(after: cursor, limit: 3)
                found += page.accounts.map(\.account)
                cursor = page.cursor
                pages += 1
            } while !cursor.isEmpty
            #expect(pages == 3)
            #expect(found == names)
            #expect(try await boss.accounts(limit: 7).cursor.isEmpty)
            for cursor in [Data([1]), Data(count: 8), Data(repeating: 0xff, count: 8), Data(count: 9)] {
                try await expectRefusal(.invalidArguments) { try await boss.accounts(after: cursor) }
            }
            #expect(try await boss.accounts(limit: .max).accounts.count == 7)
        }
    }

    @Test func anAccountIsShownWithoutWhatItStores() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("canary-zone")
            _ = try await anna.save([Write("canary-record")], in: zone)
            _ = try await ServerKeyClient.ready(by: anna)
            _ = try await anna.client.onAnotherDevice().login()
            let boss = try OperatorClient(server)
            // The server-to-server key is no account.
            let accounts = try await boss.accounts().accounts
            let account = try #require(accounts.first)
            #expect(accounts.count == 1)
            #expect(account.account == (try await Self.name(anna)))
            #expect(account.created == server.clock.now)
            #expect(account.lastSeen == server.clock.now - server.clock.now % 86_400_000_000)
            #expect(account.devices == 2)
            #expect(account.bytesLimit == 10 << 30)
            #expect(!account.hasOwnLimit_p)
            #expect(!account.hasSuspension)
            #expect(account.identities == ["\(TestClient.container)/\(anna.name)"])
            let used = try await anna.client.call("/1/accounts/usage", nil, as: Sealkit_V1_StorageUsageResponse.self)
            #expect(account.bytes == used.bytes)
            let usage = try await boss.usage(account.account)
            #expect(usage.account == account)
            #expect(usage.zones == 1)
            #expect(usage.records == 1)
            #expect(usage.assets == 0)
            #expect(usage.bytes == used.bytes)
            #expect(usage.containers == used.containers)
            let listed = try await boss.accounts().jsonString()
            for text in [try usage.jsonString(), listed] { #expect(!text.contains("canary")) }
        }
    }

    @Test func theLargestContainersAreNamedAndTheOthersCounted() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            _ = try await anna.save([Write("a")], in: try await anna.makeZone())
            _ = try await bert.save([Write("a"), Write("b"), Write("c")], in: try await bert.makeZone())
            let accounts = server.services.operatedAccounts
            func usage(most: Int) async throws -> Sealkit_V1_ServerUsageResponse {
                try await server.services.database.read { connection in
                    try ServerUsage(accounts: accounts, mostContainers: most).run(.init(), in: connection)
                }
            }
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    "UPDATE zone SET container = 'org.sealkit.other' WHERE owner = (SELECT MAX(owner) FROM zone)")
            }
            let all = try await usage(most: 3)
            #expect(all.containers.count == 2)
            #expect(all.moreContainers == 0)
            #expect(all.containers[0].bytes > all.containers[1].bytes)
            let largest = try await usage(most: 1)
            #expect(largest.containers == [all.containers[0]])
            #expect(largest.moreContainers == 1)
        }
    }

    @Test func sumsAreOfTheWholeServer() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let boss = try OperatorClient(server)
            for person in [anna, bert] {
                let zone = try await person.makeZone()
                _ = try await person.save([Write("a"), Write("b")], in: zone)
                _ = try await AssetTests().send(
                    person, .PUT, String(repeating: "0", count: 32), in: zone,
                    .bytes(ByteBuffer(bytes: AssetTests.blob([UInt8](repeating: 7, count: 1_000)))))
            }
            // Of a type of its own: the field of the others is encrypted.
            let codes = try await anna.publicCodes([PublicWrite("p", type: "Notice")])
            #expect(codes == [nil])
            let (all, hers, his) = (
                try await boss.usage(), try await boss.usage(anna.name), try await boss.usage(bert.name)
            )
            #expect(all.accounts == 2)
            #expect(all.zones >= hers.zones + his.zones)
            #expect(hers.records == 2)
            #expect(all.records == hers.records + his.records + 1)
            #expect(hers.assets == 1)
            #expect(all.assets == 2)
            #expect(all.assetBytes == hers.assetBytes + his.assetBytes)
            #expect(all.publicBytes > 0)
            #expect(all.bytes == hers.bytes + his.bytes + all.publicBytes)
            #expect(all.rows >= hers.rows + his.rows + 1)
            #expect(hers.rows > 4)
            #expect(all.suspended == 0)
        }
    }

    @Test func accountsAreFoundByPartsOfNamesAndByWholeAddresses() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let boss = try OperatorClient(server)
            let address = "anna@example.net"
            let hash = try server.services.addresses.hash(address)
            let now = server.clock.now
            try await server.services.database.write(at: .everything) { connection in
                let id = try connection.first(
                    "SELECT account FROM identity WHERE user_name = $1", [.text(anna.name)]
                ) { try $0.int64("account") }
                try LinkedAddresses.link(
                    hash, .email, to: try #require(id), isDiscoverable: false, now: now, in: connection)
            }
            let (hers, his) = (try await Self.name(anna), try await Self.name(bert))
            for text in [
                hers, String(hers.dropFirst(3).prefix(20)), anna.name, String(anna.name.dropFirst(5)), address,
                "ANNA@example.NET", "\(TestClient.container)/\(anna.name)",
            ] {
                #expect(try await boss.accounts(text).accounts.map(\.account) == [hers], "\(text)")
            }
            #expect(try await boss.accounts(TestClient.container + "/").accounts.map(\.account) == [hers, his])
            for text in ["nobody", "bert@example.net", "+4930123456", "%", "_%", "'"] {
                #expect(try await boss.accounts(text).accounts.isEmpty, "\(text)")
            }
            // A part of an address is none: the server has hashes.
            try await expectRefusal(.invalidArguments) { try await boss.accounts("anna@") }
            try await expectRefusal(.invalidArguments) { try await boss.accounts(String(repeating: "a", count: 600)) }
            // One account is named by what begins like it, and like no other.
            for text in [hers, String(hers.prefix(20)), String(anna.name.prefix(20)), address] {
                #expect(try await boss.usage(text).account.account == hers, "\(text)")
            }
            for (text, code) in [
                (String(hers.prefix(5)), ErrorCode.invalidArguments), ("anna@", .invalidArguments),
                (String(hers.dropFirst()), .unknownItem), ("bert@example.net", .unknownItem),
                (hers + "0", .unknownItem), (String(repeating: "a", count: 600), .invalidArguments),
            ] {
                try await expectRefusal(code) { try await boss.usage(text) }
                try await expectRefusal(code) { try await boss.suspend(text) }
                try await expectRefusal(code) { try await boss.unsuspend(text) }
                try await expectRefusal(code) { try await boss.setQuota(text, .unlimited(true)) }
            }
            // Two that begin alike.
            try await server.services.database.write(at: .everything) { connection in
                for (number, name) in [hers, his].enumerated() {
                    try connection.execute(
                        "UPDATE account SET name = $1 WHERE name = $2", [.text("same-begin-\(number)"), .text(name)])
                }
            }
            do {
                try await boss.suspend("same-begin")
                Issue.record("one of two was suspended")
            } catch let refusal as Refusal {
                #expect(refusal.code == .invalidArguments)
                #expect(refusal.failure.remedy.contains("same-begin-0, same-begin-1"))
            }
            #expect(try await boss.usage().suspended == 0)
        }
    }

    @Test func aQuotaOfItsOwnHoldsForOneAccountAlone() async throws {
        var limits = ServerLimits()
        limits.storageQuota = 200_000
        @Sendable func data(_ name: String, _ count: Int) -> Write {
            var write = Write(name, nil)
            write.fields = [("bytes", .plain(.data([UInt8](repeating: 7, count: count))))]
            return write
        }
        @Sendable func limit(_ person: Person) async throws -> UInt64 {
            try await person.client.call("/1/accounts/usage", nil, as: Sealkit_V1_StorageUsageResponse.self).bytesLimit
        }
        try await RunningServer.with(serverLimits: limits, hasOperator: true) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let boss = try OperatorClient(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            let shared = zone
            try await expectRefusal(.quotaExceeded) { try await anna.save([data("large", 250_000)], in: shared) }
            let raised = try await boss.setQuota(anna.name, .bytes(500_000))
            #expect(raised.bytesLimit == 500_000)
            #expect(raised.hasOwnLimit_p)
            #expect(try await limit(anna) == 500_000)
            #expect(try await limit(bert) == 200_000)
            let large = try await anna.save([data("large", 250_000)], in: shared)[0]
            let own = try await bert.makeZone("own")
            try await expectRefusal(.quotaExceeded) { try await bert.save([data("large", 250_000)], in: own) }
            // Lowered below what is stored: nothing goes, nothing comes, by whoever writes there.
            let lowered = try await boss.setQuota(anna.name, .bytes(100_000))
            #expect(lowered.bytes > lowered.bytesLimit)
            #expect(try await anna.lookup(["large"], in: shared).results[0].record.recordName == "large")
            try await expectRefusal(.quotaExceeded) { try await anna.save([data("b", 10)], in: shared) }
            try await expectRefusal(.quotaExceeded) { try await bert.save([data("c", 10)], in: shared) }
            let zoneCode = try await Self.zone(of: anna)
            #expect(zoneCode == .quotaExceeded)
            let asset = try await AssetTests().send(
                anna, .PUT, String(repeating: "0", count: 32), in: shared,
                .bytes(ByteBuffer(bytes: AssetTests.blob([UInt8](repeating: 7, count: 1_000)))))
            #expect(asset.code == .quotaExceeded)
            #expect(try await anna.codes([Write(after: large, kind: .delete)], in: shared) == [nil])
            _ = try await anna.save([data("b", 10)], in: shared)
            // None, and the server's again; each may be said twice.
            for _ in 0..<2 { #expect(try await boss.setQuota(anna.name, .unlimited(true)).bytesLimit == 0) }
            #expect(try await limit(anna) == 0)
            _ = try await anna.save([data("d", 400_000)], in: shared)
            for _ in 0..<2 {
                let again = try await boss.setQuota(anna.name, .serverDefault(true))
                #expect(again.bytesLimit == 200_000)
                #expect(!again.hasOwnLimit_p)
            }
            try await expectRefusal(.quotaExceeded) { try await anna.save([data("e", 10)], in: shared) }
            for quota: Sealkit_V1_SetQuotaRequest.OneOf_Quota? in [
                nil, .bytes(0), .bytes(.max), .unlimited(false), .serverDefault(false),
            ] {
                try await expectRefusal(.invalidArguments) { try await boss.setQuota(anna.name, quota) }
            }
        }
    }

    @Test func aServerWithoutAQuotaHasOneForAnAccountAllTheSame() async throws {
        var limits = ServerLimits()
        (limits.storageQuota, limits.publicStorageQuota) = (0, 0)
        try await RunningServer.with(serverLimits: limits, hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let boss = try OperatorClient(server)
            #expect(try await boss.setQuota(anna.name, .bytes(1)).bytesLimit == 1)
            try await expectRefusal(.quotaExceeded) { try await anna.save([Write("a")], in: zone) }
            let zoneCode = try await Self.zone(of: anna)
            #expect(zoneCode == .quotaExceeded)
            let subscribed = try await anna.modifySubscriptions(saving: [.database()])
            #expect(subscribed.map(\.failure.errorCode) == [.quotaExceeded])
            try await boss.setQuota(anna.name, .serverDefault(true))
            _ = try await anna.save([Write("a")], in: zone)
        }
    }

    @Test func everythingIsInTheLogAndNothingOfAnybodyElse() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger, showsMetrics: true, hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let name = try await Self.name(anna)
            let boss = try OperatorClient(server)
            _ = try await boss.accounts("canary@example.net")
            _ = try await boss.usage(name)
            try await boss.setQuota(name, .bytes(123_456))
            try await boss.suspend(name, reason: "canary-reason")
            try await boss.unsuspend(name)
            let made = try await boss.call(
                Endpoints.operator.invite, .with { ($0.count, $0.lifetime) = (2, 60) })
            _ = try await boss.call(Endpoints.operator.mailTest, .with { $0.address = "canary@example.org" })
            let done = log.lines.filter { $0.contains("the operator did something") }
            #expect(done.count == 7)
            let named = done.filter { $0.hasPrefix("notice") && $0.contains("\"who\": operator") }
            #expect(named == done)
            let expected = [
                ["accounts"], ["usage", name], ["quota", name, "123456"], ["suspend", name], ["unsuspend", name],
                ["invite", "2"], ["mail-test", "true"],
            ]
            for (line, words) in zip(done, expected) {
                for word in words { #expect(line.contains(word), "\(line)") }
            }
            let secrets = made.codes.map(\.code) + ["canary"]
            let told = log.lines.filter { line in secrets.contains { line.contains($0) } }
            #expect(told == [])
            let metrics = try await ServerTests().send("GET", server.metrics + "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            for action in ["accounts", "usage", "quota", "suspend", "unsuspend", "invite", "mail-test"] {
                #expect(text.contains("sealkit_operator_actions_total{action=\"\(action)\"} 1\n"), "\(action)")
                #expect(text.contains("endpoint=\"operator/\(action)\""), "\(action)")
            }
        }
    }

    @Test func codesComeThroughTheServer() async throws {
        try await RunningServer.with(registration: .invite, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            let made = try await boss.call(
                Endpoints.operator.invite, .with { ($0.count, $0.lifetime) = (2, 60) })
            #expect(made.registration == "invite")
            #expect(made.codes.count == 2)
            for code in made.codes { _ = try await TestClient(server).create(registrationCode: code.code) }
            try await expectRefusal(.verificationFailed) {
                try await TestClient(server).create(registrationCode: made.codes[0].code)
            }
            try await expectRefusal(.invalidArguments) {
                try await boss.call(Endpoints.operator.invite, .with { $0.lifetime = 60 })
            }
        }
    }

    @Test func aTestOfMailSaysWhatCameOfIt() async throws {
        var limits = AbuseLimits()
        limits.operatorMail = .init(count: 2, window: 3_600_000_000)
        try await RunningServer.with(limits: limits, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            func test(_ address: String) async throws -> Sealkit_V1_TestMailResponse {
                try await boss.call(Endpoints.operator.mailTest, .with { $0.address = address })
            }
            for address in ["", "nobody", "+4930123456", "a@b", "a@example.org\r\nBcc: b@example.org"] {
                try await expectRefusal(.invalidArguments) { try await test(address) }
            }
            #expect(try await test("me@example.org").taken)
            let sent = try #require(server.mail.sent.first)
            #expect(sent.recipient == "me@example.org")
            #expect(sent.body.contains(server.origin))
            server.mail.fail(with: [.notSent(code: 7, status: 0, reason: "no way")])
            let failed = try await test("me@example.org")
            #expect(!failed.taken)
            #expect(failed.reason.contains("no way"))
            #expect(failed.remedy.contains("smtp.url"))
            #expect(server.mail.sent.count == 1)
            // A token in wrong hands fills no mailboxes.
            try await expectRefusal(.requestRateLimited) { try await test("you@example.org") }
        }
        try await RunningServer.with(sendsMail: false, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            try await expectRefusal(.serverRejectedRequest) {
                try await boss.call(Endpoints.operator.mailTest, .with { $0.address = "me@example.org" })
            }
        }
    }
}
